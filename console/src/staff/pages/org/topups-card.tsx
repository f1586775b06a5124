// Top-ups of an organization with their states, as the rail and we see them.
import { useClient } from 'urql';
import {
  StaffOlderTopupsDocument,
  type StaffOrgMoneyQuery,
  type StaffTopupRowFragment,
} from '../../../api/gen/staff/graphql.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { markOf } from '../../../pages/credits/topup-words.ts';
import { StaffDocumentLink } from '../../../pages/invoices/document-link.tsx';
import { Card } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { currencyText } from '../../../ui/format/money.ts';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, Empty } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { NotYours } from './not-yours.tsx';

type Org = StaffOrgMoneyQuery['staffOrg'];

function Line({ row }: { row: StaffTopupRowFragment }) {
  const { tone, shape, word } = markOf(row);
  return (
    <tr>
      <td className="soft" data-label="Started">
        <Time at={row.createdAt} />
      </td>
      <td data-label="Status">
        <Status tone={tone} shape={shape}>
          {word}
        </Status>
        {row.disputed && <span className="sub"> disputed</span>}
        {row.failureCode !== '' && <div className="sub mono">{row.failureCode}</div>}
      </td>
      <td className="n" data-label="Total">
        {currencyText(row.totalMinor, row.currency)}
        {row.refundedMinor !== '0' && (
          <div className="sub">{currencyText(row.refundedMinor, row.currency)} given back</div>
        )}
      </td>
      <td className="n" data-label="Credits">
        {row.status === 'PAID' ? <Money micro={row.creditsMicro} /> : '–'}
      </td>
      <td className="soft" data-label="Rail">
        {row.gateway} {row.method}
      </td>
      <td data-label="Payment">
        {row.paymentRef ? <IdText id={row.paymentRef} short /> : <span className="faint">–</span>}
      </td>
      <td data-label="Invoice">
        {row.invoiceId && row.invoiceNumber ? (
          <StaffDocumentLink row={{ id: row.invoiceId, number: row.invoiceNumber }} />
        ) : (
          <span className="faint">–</span>
        )}
      </td>
    </tr>
  );
}

export function TopupsCard({ id, org }: { id: string; org: Org | undefined }) {
  const client = useClient();
  const { rows, ...older } = useOlder(org?.topups, async (after) => {
    const { data, error } = await client.query(StaffOlderTopupsDocument, { id, after }).toPromise();
    return { page: data?.staffOrg?.topups, error };
  });
  return (
    <Card title="Top-ups" note="Live money; a sandbox has none." flush>
      {org && !org.topups && <NotYours what="Top-ups" />}
      {rows?.length === 0 && <Empty title="No top-up yet">Nothing was paid or started.</Empty>}
      {(org === undefined || (rows !== undefined && rows.length > 0)) && (
        <>
          <Table name="Top-ups of the organization" stacks busy={rows === undefined}>
            <Columns
              of={[
                'Started',
                'Status',
                { name: 'Total', className: 'n' },
                { name: 'Credits', className: 'n' },
                'Rail',
                'Payment',
                'Invoice',
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
          <OlderFoot shown={rows?.length ?? 0} what="top-ups" {...older} />
        </>
      )}
    </Card>
  );
}
