// The credit that a customer was given, and what came back of it.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type ResaleAllocationFragment,
  ResaleAllocationsDocument,
  type ResaleCustomerFragment,
  type ResaleCustomerQuery,
} from '../../../api/gen/tools/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { OlderFoot, useOlder } from '../../credits/older.tsx';
import { holds } from '../views.ts';
import { GiveDialog, TakeBackDialog } from './credit-dialogs.tsx';

const PAGE = 20;
type Row = ResaleAllocationFragment;
export type Overview = NonNullable<ResaleCustomerQuery['reseller']>['overview'];

/** What was given and has not come back, used or not. */
const leftOf = (row: Row) => String(BigInt(row.amountMicroUsd) - BigInt(row.reclaimedMicroUsd));

const COLUMNS = [
  'Given',
  'Note',
  { name: 'Given, USD', className: 'n' },
  { name: 'Came back, USD', className: 'n' },
  { name: 'Stayed, USD', className: 'n' },
  'Ends',
  { name: 'Actions', hidden: true },
];

function Line({ row, onTake }: { row: Row; onTake: (() => void) | null }) {
  const now = useNow();
  const ended = Date.parse(row.expiresAt) <= now.getTime();
  return (
    <tr>
      <td>
        <Time at={row.createdAt} /> <span className="faint">by {row.createdBy}</span>
      </td>
      <td data-label="Note">{row.note}</td>
      <td className="n" data-label="Given, USD">
        <Money micro={row.amountMicroUsd} />
      </td>
      <td className="n" data-label="Came back, USD">
        <Money micro={row.reclaimedMicroUsd} />
      </td>
      <td className="n" data-label="Stayed, USD">
        <Money micro={leftOf(row)} />
      </td>
      <td className="soft" data-label="Ends">
        <Time at={row.expiresAt} />
      </td>
      <td className="n">
        {onTake && !ended && leftOf(row) !== '0' && (
          <Button onClick={onTake} aria-label={`Take back what is unused of ${row.note || row.id}`}>
            Take back…
          </Button>
        )}
      </td>
    </tr>
  );
}

function Total({ rows }: { rows: readonly Row[] }) {
  const sum = (of: (row: Row) => string) => String(rows.reduce((all, row) => all + BigInt(of(row)), 0n));
  return (
    <tr className="total">
      <td>Together</td>
      <td />
      <td className="n" data-label="Given, USD">
        <Money micro={sum((row) => row.amountMicroUsd)} />
      </td>
      <td className="n" data-label="Came back, USD">
        <Money micro={sum((row) => row.reclaimedMicroUsd)} />
      </td>
      <td className="n" data-label="Stayed, USD">
        <Money micro={sum(leftOf)} />
      </td>
      <td />
      <td />
    </tr>
  );
}

function useAllocations(id: string) {
  const client = useClient();
  const asked = { id, first: PAGE };
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleAllocationsDocument, variables: asked },
    requestPolicy: 'cache-and-network',
  });
  const list = useOlder(data?.reseller?.allocations, async (after) => {
    const { data: page, error } = await client
      .query(ResaleAllocationsDocument, { ...asked, after })
      .toPromise();
    return { page: page?.reseller?.allocations, error };
  });
  return { ...list, error, reread: () => again({ requestPolicy: 'network-only' }) };
}

export function CreditCard(props: {
  child: ResaleCustomerFragment;
  overview: Overview | null;
  onChanged: () => void;
}) {
  const { child, overview, onChanged } = props;
  const org = useOrg();
  const { rows, error, reread, ...older } = useAllocations(child.id);
  const [giving, setGiving] = useState(false);
  const [taking, setTaking] = useState<Row | null>(null);
  const [said, setSaid] = useState('');
  const may = holds(org, 'reseller.write');
  const done = (words: string) => {
    setGiving(false);
    setTaking(null);
    setSaid(words);
    reread();
    onChanged();
  };
  const button = may && child.status !== 'CLOSED' && (
    <Button kind="primary" onClick={() => setGiving(true)}>
      Give credit…
    </Button>
  );
  return (
    <Card title="Credit from you" note={<span role="status">{said}</span>} more={button} flush>
      {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
      {rows?.length === 0 && (
        <Empty title="Nothing was given yet">
          What you give is spent before it ends; what is unused comes back.
        </Empty>
      )}
      {(rows === undefined ? !error : rows.length > 0) && (
        <Table name="Credit that was given" stacks busy={rows === undefined}>
          <Columns of={COLUMNS} />
          <tbody>
            {rows?.map((row) => (
              <Line key={row.id} row={row} onTake={may ? () => setTaking(row) : null} />
            )) ?? <BoneRows rows={2} columns={7} />}
            {rows && !older.has_more && <Total rows={rows} />}
          </tbody>
        </Table>
      )}
      <OlderFoot shown={rows?.length ?? 0} what="allocations" {...older} />
      {giving && (
        <GiveDialog child={child} overview={overview} onClose={() => setGiving(false)} onDone={done} />
      )}
      {taking && <TakeBackDialog child={child} row={taking} onClose={() => setTaking(null)} onDone={done} />}
    </Card>
  );
}
