// Lots: credit that came in together, in the order it came, with what is left of it and when that ends.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { type LotRowFragment, LotsDocument } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { leftPercent, sourceOf } from './entry-words.ts';
import { OlderFoot, useOlder } from './older.tsx';

const PAGE = 50;

function LotLine({ row }: { row: LotRowFragment }) {
  const percent = leftPercent(row);
  return (
    <tr>
      <td className="soft" data-label="Came">
        <Time at={row.createdAt} />
      </td>
      <td data-label="From">
        {sourceOf(row)} <span className="sub">{row.kind === 'PAID' ? 'paid' : 'granted'}</span>
      </td>
      <td className="n" data-label="Amount">
        <Money micro={row.amountMicroUsd} />
      </td>
      <td className="n" data-label="Left">
        <Money micro={row.remainingMicroUsd} /> <span className="sub">{percent} %</span>
      </td>
      <td className="soft" data-label="Ends">
        {row.expiresAt ? <Time at={row.expiresAt} /> : 'never'}
      </td>
      <td data-label="Lot">
        <IdText id={row.id} short />
      </td>
    </tr>
  );
}

/** Lots as a table. */
export function Lots({ rows }: { rows: readonly LotRowFragment[] | undefined }) {
  return (
    <Table name="List of lots" stacks busy={rows === undefined}>
      <Columns
        of={[
          'Came',
          'From',
          { name: 'Amount', className: 'n' },
          { name: 'Left', className: 'n' },
          'Ends',
          'Lot',
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={3} columns={6} />
        ) : (
          rows.map((row) => <LotLine key={row.id} row={row} />)
        )}
      </tbody>
    </Table>
  );
}

export function LotsCard() {
  const { environment } = useOrg();
  const client = useClient();
  const [open, setOpen] = useState(true);
  const variables = { environment, open, first: PAGE };
  const [{ data, error }, again] = useQuery({
    query: LotsDocument,
    variables,
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.credits?.lots, async (after) => {
    const { data: page, error } = await client
      .query(LotsDocument, { ...variables, first: 100, after })
      .toPromise();
    return { page: page?.credits?.lots, error };
  });
  const filter = (
    <SelectField
      label="Show"
      value={open ? 'open' : 'all'}
      onChange={(event) => setOpen(event.target.value === 'open')}
    >
      <option value="open">With credit left</option>
      <option value="all">All</option>
    </SelectField>
  );
  return (
    <Card
      title="Lots"
      note="Calls use the lot that ends first; granted credit before paid, then the oldest."
      more={filter}
      flush
    >
      {error && !data && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {data && !data.credits?.lots && (
        <Empty title="Not for your role">Owners, admins and billing members see lots.</Empty>
      )}
      {rows?.length === 0 && (
        <Empty title={open ? 'No credit left' : 'No lot yet'}>Credit that comes in appears here.</Empty>
      )}
      {!(error && !data) && (data === undefined || (rows !== undefined && rows.length > 0)) && (
        <>
          <Lots rows={rows} />
          <OlderFoot shown={rows?.length ?? 0} what="lots" {...older} />
        </>
      )}
    </Card>
  );
}
