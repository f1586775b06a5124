// Resellers: who is one, how its customers stand, what it earns; and the act that makes an organization one.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  SetOrgKindDocument,
  type StaffResellerRowFragment,
  StaffResellersDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { PageHead } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { Money } from '../../../ui/money.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { OrgStatus } from '../../words.tsx';
import { DecideDialog } from '../decide-dialog.tsx';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 30;
type Row = StaffResellerRowFragment;

function MakeDialog({ onClose, onDone }: { onClose: () => void; onDone: (said: string) => void }) {
  const mutate = useMutate();
  const [slug, setSlug] = useState('');
  return (
    <DecideDialog
      title="Make a reseller"
      note="The organization gets the area Reseller in its console, and may make customers. Once it has customers it stays one; a customer never becomes one."
      words={{ label: 'Reason', hint: 'For the audit log, like the number of the contract.', needed: true }}
      verb="Make it a reseller"
      send={(_form, reason) => mutate(SetOrgKindDocument, { id: slug.trim(), kind: 'RESELLER', reason })}
      onClose={onClose}
      onDone={() => onDone(`${slug.trim()} is a reseller.`)}
    >
      <TextField
        label="Organization"
        hint="Its id or its whole slug."
        value={slug}
        maxLength={254}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setSlug(event.target.value)}
      />
    </DecideDialog>
  );
}

const COLUMNS = [
  ...['Reseller', 'Status'],
  { name: 'Customers', className: 'n' },
  { name: 'Suspended', className: 'n' },
  { name: 'Tiers', className: 'n' },
  { name: 'Balance, USD', className: 'n' },
  { name: 'This month, USD', className: 'n' },
  { name: 'Credited in a year, USD', className: 'n' },
  'Made',
];

function Line({ row }: { row: Row }) {
  return (
    <tr>
      <td>
        <To className="link" href={`/resellers/${row.slug}`}>
          {row.name}
        </To>{' '}
        <span className="faint">{row.slug}</span>
      </td>
      <td data-label="Status">
        <OrgStatus status={row.status} />
      </td>
      <td className="n" data-label="Customers">
        {countText(row.customers)}
      </td>
      <td className="n" data-label="Suspended">
        {countText(row.suspended)}
      </td>
      <td className="n" data-label="Tiers">
        {countText(row.tiers)}
      </td>
      <td className="n" data-label="Balance, USD">
        <Money micro={row.availableMicroUsd} as="balance" />
      </td>
      <td className="n" data-label="This month, USD">
        <Money micro={row.earnedMicro} as="spend" />
      </td>
      <td className="n" data-label="Credited in a year, USD">
        <Money micro={row.creditedMicro} as="spend" />
      </td>
      <td className="soft" data-label="Made">
        <Time at={row.createdAt} />
      </td>
    </tr>
  );
}

function List({ made }: { made: number }) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    ...{ query: StaffResellersDocument, variables: { first: PAGE } },
    requestPolicy: made === 0 ? 'cache-and-network' : 'network-only',
  });
  const { rows, ...older } = useOlder(data?.staffResellers, async (after) => {
    const asked = { first: PAGE, after };
    const { data: page, error } = await client.query(StaffResellersDocument, asked).toPromise();
    return { page: page?.staffResellers, error };
  });
  return (
    <WaitingCard
      {...{ title: 'All resellers', what: 'resellers', order: 'newest', rows, older, error }}
      onRetry={() => again({ requestPolicy: 'network-only' })}
      empty={['No reseller yet', 'An organization becomes one by an act of staff.']}
    >
      {(rows) => (
        <Table name="Resellers" stacks>
          <Columns of={COLUMNS} />
          <tbody>
            {rows.map((row) => (
              <Line key={row.id} row={row} />
            ))}
          </tbody>
        </Table>
      )}
    </WaitingCard>
  );
}

export function ResellersPage() {
  const may = useMay('finance', 'support');
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState(0);
  const [said, setSaid] = useState('');
  const button = may && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      Make a reseller…
    </Button>
  );
  return (
    <>
      <PageHead title="Resellers" actions={button}>
        <p role="status">
          {said || 'Organizations with customers of their own, and what they earn of these.'}
        </p>
      </PageHead>
      <List key={made} made={made} />
      {making && (
        <MakeDialog
          onClose={() => setMaking(false)}
          onDone={(words) => {
            setMaking(false);
            setSaid(words);
            setMade(made + 1);
          }}
        />
      )}
    </>
  );
}
