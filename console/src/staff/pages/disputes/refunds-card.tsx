// Refunds that are pending or have failed.
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { type StaffRefundRowFragment, StaffRefundsDocument } from '../../../api/gen/staff/graphql.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Card } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { currencyText } from '../../../ui/format/money.ts';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';

/** Where a refund stands, in words. */
function whereText({ status, atRail, failureCode }: StaffRefundRowFragment): string {
  if (status === 'FAILED') return `failed: ${failureCode.replaceAll('_', ' ')}`;
  return atRail ? 'pending at the rail' : 'not at the rail yet';
}

function Line({ row }: { row: StaffRefundRowFragment }) {
  return (
    <tr>
      <td className="soft" data-label="Asked">
        <Time at={row.createdAt} />
      </td>
      <td data-label="Where it stands">{whereText(row)}</td>
      <td className="n" data-label="Total">
        {currencyText(row.totalMinor, row.currency)}
      </td>
      <td className="n" data-label="Credits">
        <Money micro={row.creditsMicro} />
      </td>
      <td className="soft" data-label="Rail">
        {row.gateway}
      </td>
      <td data-label="Organization">
        <To className="link" href={`/orgs/${row.orgId}`}>
          {row.orgName}
        </To>
      </td>
      <td data-label="Of, and refund">
        {row.invoiceNumber ?? '–'} <IdText id={row.id} short />
      </td>
    </tr>
  );
}

export function RefundsCard() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({ query: StaffRefundsDocument });
  const { rows, ...older } = useOlder(data?.refunds, async (after) => {
    const { data: page, error } = await client.query(StaffRefundsDocument, { after }).toPromise();
    return { page: page?.refunds, error };
  });
  return (
    <Card title="Refunds that have not gone back" flush>
      {error && !data?.refunds && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {rows?.length === 0 && <Empty title="No refund waits">All that was asked for has gone back.</Empty>}
      {!error && (rows === undefined || rows.length > 0) && (
        <>
          <Table name="Refunds that are pending or have failed" stacks busy={rows === undefined}>
            <Columns
              of={[
                'Asked',
                'Where it stands',
                { name: 'Total', className: 'n' },
                { name: 'Credits', className: 'n' },
                'Rail',
                'Organization',
                'Of, and refund',
              ]}
            />
            <tbody>
              {rows === undefined ? (
                <BoneRows rows={2} columns={7} />
              ) : (
                rows.map((row) => <Line key={row.id} row={row} />)
              )}
            </tbody>
          </Table>
          <OlderFoot shown={rows?.length ?? 0} what="refunds" {...older} />
        </>
      )}
    </Card>
  );
}
