// The customers of a reseller: found by name, tier and status; a new one is made here.
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type OrganizationStatus,
  type ResaleCustomerFragment,
  ResaleCustomersDocument,
  type ResaleTierFragment,
} from '../../../api/gen/tools/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { useShortcuts } from '../../../app/shortcuts.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { OlderFoot, useOlder } from '../../credits/older.tsx';
import { Choice } from '../../requests/filters.tsx';
import { type CustomerStatus, customerStatuses, holds, type ResaleSearch } from '../views.ts';
import { customerTones, tierText } from '../words.ts';
import { CreateCustomerDialog } from './create-dialog.tsx';

const PAGE = 50;
type Tiers = readonly ResaleTierFragment[];
type Change = { readonly [K in 'q' | 'tier' | 'status']?: string | undefined };

function Filters({
  search,
  tiers,
  ask,
}: {
  search: ResaleSearch;
  tiers: Tiers;
  ask: (change: Change) => void;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    ask({ q: String(new FormData(event.currentTarget).get('q') ?? '').trim() });
  };
  return (
    <search className="filters">
      <form onSubmit={submit}>
        <input
          key={search.q ?? ''}
          className="input"
          name="q"
          aria-label="Name, slug or id of a customer"
          placeholder="Find a customer"
          defaultValue={search.q ?? ''}
          autoComplete="off"
          maxLength={120}
        />
      </form>
      <Choice name="Tier" all="Every tier" value={search.tier} onChange={(tier) => ask({ tier })}>
        {tiers.map(({ id, name }) => ({ value: id, name }))}
      </Choice>
      <Choice name="Status" all="Every status" value={search.status} onChange={(status) => ask({ status })}>
        {customerStatuses.map((status) => ({ value: status, name: status }))}
      </Choice>
      {(search.q ?? search.tier ?? search.status) !== undefined && (
        <Button icon="x" onClick={() => ask({ q: undefined, tier: undefined, status: undefined })}>
          Show all
        </Button>
      )}
    </search>
  );
}

function Line({ row, tiers }: { row: ResaleCustomerFragment; tiers: Tiers }) {
  const { slug, env } = useOrg();
  return (
    <tr>
      <td>
        <Link className="link" to="/$org/$env/reseller/customers/$id" params={{ org: slug, env, id: row.id }}>
          {row.name}
        </Link>{' '}
        <span className="faint">{row.slug}</span>
      </td>
      <td data-label="Status">
        <Status tone={customerTones[row.status]}>{row.status.toLowerCase()}</Status>
      </td>
      <td data-label="Pays">{tierText(tiers, row.tierId)}</td>
      <td className="n" data-label="Credit left, USD">
        <Money micro={row.availableMicroUsd} as="balance" />
      </td>
      <td className="n" data-label="Used in 30 days, USD">
        <Money micro={row.usage30dMicro} as="spend" />
      </td>
      <td className="soft" data-label="Customer">
        <Time at={row.createdAt} />
      </td>
    </tr>
  );
}

const COLUMNS = [
  'Customer',
  'Status',
  'Pays',
  { name: 'Credit left, USD', className: 'n' },
  { name: 'Used in 30 days, USD', className: 'n' },
  'Since',
];

const STATUSES: Readonly<Record<CustomerStatus, OrganizationStatus>> = {
  ...{ active: 'ACTIVE', suspended: 'SUSPENDED', closed: 'CLOSED' },
};

/** The rows that the address asks for, a page at a time. */
function useCustomers({ q, tier, status }: ResaleSearch) {
  const client = useClient();
  const asked = {
    first: PAGE,
    ...(q === undefined ? {} : { q }),
    ...(tier === undefined ? {} : { tierId: tier }),
    ...(status === undefined ? {} : { status: STATUSES[status] }),
  };
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleCustomersDocument, variables: asked },
    requestPolicy: 'cache-and-network',
  });
  const list = useOlder(data?.reseller?.children, async (after) => {
    const { data: page, error } = await client
      .query(ResaleCustomersDocument, { ...asked, after })
      .toPromise();
    return { page: page?.reseller?.children, error };
  });
  const retry = () => again({ requestPolicy: 'network-only' });
  return { ...list, tiers: data?.reseller?.tiers ?? undefined, error, retry };
}

function Nobody({ narrowed }: { narrowed: boolean }) {
  if (narrowed) return <Empty title="No customer like this">Change what is asked for, or show all.</Empty>;
  return (
    <Empty title="No customer yet">Make one here, or give an invite code to who shall become one.</Empty>
  );
}

export function CustomersView({ search }: { search: ResaleSearch }) {
  const org = useOrg();
  const navigate = useNavigate();
  const { rows, tiers, error, retry, ...older } = useCustomers(search);
  const known = tiers ?? [];
  const [creating, setCreating] = useState(false);
  const may = holds(org, 'reseller.write');
  useShortcuts(may ? { c: () => setCreating(true) } : {});
  const params = { org: org.slug, env: org.env };
  const ask = (change: Change) => {
    const next = Object.entries({ ...search, ...change }).filter(([, value]) => value);
    void navigate({
      ...{ to: '/$org/$env/reseller', params, replace: true },
      search: { ...Object.fromEntries(next), view: 'customers' } as ResaleSearch,
    });
  };
  const narrowed = (search.q ?? search.tier ?? search.status) !== undefined;
  const button = may && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setCreating(true)}>
      New customer
    </Button>
  );
  return (
    <>
      <Filters search={search} tiers={known} ask={ask} />
      <Card title="Customers" more={button} flush>
        {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={retry} />}
        {rows?.length === 0 && <Nobody narrowed={narrowed} />}
        {(rows === undefined ? !error : rows.length > 0) && (
          <Table name="List of customers" stacks busy={rows === undefined}>
            <Columns of={COLUMNS} />
            <tbody>
              {rows === undefined ? (
                <BoneRows rows={4} columns={6} />
              ) : (
                rows.map((row) => <Line key={row.id} row={row} tiers={known} />)
              )}
            </tbody>
          </Table>
        )}
        <OlderFoot shown={rows?.length ?? 0} what="customers" {...older} />
      </Card>
      {/* Which tier is the default is chosen from what there is, so it must have come. */}
      {creating && tiers && (
        <CreateCustomerDialog
          tiers={tiers}
          onClose={() => setCreating(false)}
          onDone={(id) =>
            void navigate({ to: '/$org/$env/reseller/customers/$id', params: { ...params, id } })
          }
        />
      )}
    </>
  );
}
