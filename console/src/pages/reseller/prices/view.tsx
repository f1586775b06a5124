// The tiers of a reseller, and what models cost customers at each.
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  ResaleDeleteTierDocument,
  type ResaleTierFragment,
  ResaleTiersDocument,
  ResaleUpdateTierDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { holds } from '../views.ts';
import { percentText } from '../words.ts';
import { PricesTable } from './table.tsx';
import { TierDialog } from './tier-dialog.tsx';

type Tier = ResaleTierFragment;
interface Acts {
  readonly onEdit: (tier: Tier) => void;
  readonly onDefault: (tier: Tier) => void;
  readonly onDelete: (tier: Tier) => void;
}

const COLUMNS = [
  'Tier',
  { name: 'Above catalog prices', className: 'n' },
  { name: 'Customers', className: 'n' },
  'New customers',
  { name: 'Actions', hidden: true },
];

function Line({ tier, acts }: { tier: Tier; acts: Acts | null }) {
  const { name, markupBps, customers, isDefault } = tier;
  return (
    <tr>
      <td>{name}</td>
      <td className="n" data-label="Above catalog prices">
        {percentText(markupBps)}
      </td>
      <td className="n" data-label="Customers">
        {countText(customers)}
      </td>
      <td data-label="New customers">
        {isDefault ? <Status tone="ok">get this tier</Status> : <span className="faint">–</span>}
      </td>
      <td className="n">
        {acts && (
          <div className="resale-acts">
            <Button onClick={() => acts.onEdit(tier)} aria-label={`Change ${name}`}>
              Change…
            </Button>
            <Button
              onClick={() => acts.onDefault(tier)}
              aria-label={isDefault ? `Make ${name} no default` : `Make ${name} the default`}
            >
              {isDefault ? 'No default' : 'Make default'}
            </Button>
            {customers === 0 && !isDefault && (
              <Button onClick={() => acts.onDelete(tier)} aria-label={`Delete ${name}`}>
                Delete
              </Button>
            )}
          </div>
        )}
      </td>
    </tr>
  );
}

function Tiers({ tiers, acts }: { tiers: readonly Tier[] | undefined; acts: Acts | null }) {
  if (tiers?.length === 0)
    return (
      <Empty title="No tier yet">
        Customers pay catalog prices, and nothing is earned. A tier says what they pay above them.
      </Empty>
    );
  return (
    <Table name="List of tiers" stacks busy={tiers === undefined}>
      <Columns of={COLUMNS} />
      <tbody>
        {tiers === undefined ? (
          <BoneRows rows={2} columns={5} />
        ) : (
          tiers.map((tier) => <Line key={tier.id} tier={tier} acts={acts} />)
        )}
      </tbody>
    </Table>
  );
}

/** The catalog as customers of a tier see it. */
function PricesCard({ tiers }: { tiers: readonly Tier[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [q, setQ] = useState('');
  const tier = tiers.find(({ id }) => id === chosen) ?? tiers.find(({ isDefault }) => isDefault) ?? tiers[0];
  return (
    <Card title="What models cost" note="US dollars per million tokens or other units." flush>
      <search className="filters resale-pad">
        <select
          className="input"
          aria-label="Prices of the tier"
          value={tier?.id ?? ''}
          onChange={(event) => setChosen(event.target.value)}
        >
          {tiers.map(({ id, name, markupBps }) => (
            <option key={id} value={id}>{`${name}, ${percentText(markupBps)}`}</option>
          ))}
          {tiers.length === 0 && <option value="">Catalog prices</option>}
        </select>
        <input
          className="input"
          aria-label="Part of a model’s id"
          placeholder="openai/gpt"
          value={q}
          maxLength={120}
          onChange={(event) => setQ(event.target.value)}
        />
      </search>
      <PricesTable bps={tier?.markupBps ?? 0} q={q.trim()} whole={q.trim() !== ''} />
    </Card>
  );
}

export function PricesView() {
  const org = useOrg();
  const may = holds(org, 'reseller.write');
  const [{ data, error }, again] = useQuery({
    query: ResaleTiersDocument,
    requestPolicy: 'cache-and-network',
  });
  const { send, fault } = useSend();
  const [editing, setEditing] = useState<Tier | 'new' | null>(null);
  const [said, setSaid] = useState('');
  const tiers = data?.reseller?.tiers ?? undefined;
  const done = (words: string) => {
    setEditing(null);
    setSaid(words);
    again({ requestPolicy: 'network-only' });
  };
  const acts: Acts = {
    onEdit: setEditing,
    onDefault: async ({ id, name, isDefault }) => {
      const made = await send(ResaleUpdateTierDocument, { id, isDefault: !isDefault });
      if (made !== null) done(isDefault ? 'New customers pay catalog prices.' : `New customers get ${name}.`);
    },
    onDelete: async ({ id, name }) => {
      if ((await send(ResaleDeleteTierDocument, { id })) !== null) done(`${name} is deleted.`);
    },
  };
  const button = may && (
    <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
      New tier
    </Button>
  );
  return (
    <>
      <FormFault fault={fault} />
      <Card title="Tiers" note={<span role="status">{said}</span>} more={button} flush>
        {error && !tiers ? (
          <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
        ) : (
          <Tiers tiers={tiers} acts={may ? acts : null} />
        )}
      </Card>
      {tiers && <PricesCard tiers={tiers} />}
      {editing && (
        <TierDialog
          tier={editing === 'new' ? null : editing}
          onClose={() => setEditing(null)}
          onDone={done}
        />
      )}
    </>
  );
}
