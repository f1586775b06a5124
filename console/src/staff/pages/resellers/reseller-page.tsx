// One reseller: its customers with what they pay and have, and what it earned month by month.
import { useParams } from '@tanstack/react-router';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  StaffCustomersDocument,
  type StaffCustomersQuery,
  StaffResellerOrgDocument,
  type StaffResellerOrgQuery,
} from '../../../api/gen/staff/graphql.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { countText, shareText } from '../../../ui/format/numbers.ts';
import { Money } from '../../../ui/money.tsx';
import { Bone, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { OrgStatus } from '../../words.tsx';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 30;
type Org = NonNullable<StaffResellerOrgQuery['staffOrg']>;
type Page = NonNullable<NonNullable<StaffCustomersQuery['staffOrg']>['customers']>;
type Customer = Page['nodes'][number];

const COLUMNS = [...['Customer', 'Status', 'Pays'], { name: 'Balance, USD', className: 'n' }, 'Since'];

function Line({ row }: { row: Customer }) {
  const pays =
    row.tierName === null ? 'catalog prices' : `${row.tierName}, ${shareText(row.markupBps / 10_000)}`;
  return (
    <tr>
      <td>
        <To className="link" href={`/orgs/${row.slug}`}>
          {row.name}
        </To>{' '}
        <span className="faint">{row.slug}</span>
      </td>
      <td data-label="Status">
        <OrgStatus status={row.status} />{' '}
        {row.status === 'SUSPENDED' && row.suspendedByParent && (
          <span className="faint">by the reseller</span>
        )}
      </td>
      <td data-label="Pays">{pays}</td>
      <td className="n" data-label="Balance, USD">
        <Money micro={row.availableMicroUsd} as="balance" />
      </td>
      <td className="soft" data-label="Since">
        <Time at={row.createdAt} />
      </td>
    </tr>
  );
}

function CustomersCard({ id }: { id: string }) {
  const client = useClient();
  const asked = { id, first: PAGE };
  const [{ data, error }, again] = useQuery({ query: StaffCustomersDocument, variables: asked });
  const { rows, ...older } = useOlder(data?.staffOrg?.customers, async (after) => {
    const { data: page, error } = await client.query(StaffCustomersDocument, { ...asked, after }).toPromise();
    return { page: page?.staffOrg?.customers, error };
  });
  return (
    <WaitingCard
      {...{ title: 'Customers', what: 'customers', order: 'newest', rows, older, error }}
      onRetry={() => again({ requestPolicy: 'network-only' })}
      empty={['No customer yet', 'The reseller makes its customers itself, or invites them by code.']}
    >
      {(rows) => (
        <Table name="Customers of the reseller" stacks>
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

const MONTHS = [
  'Month',
  { name: 'Customers', className: 'n' },
  { name: 'Calls cost, USD', className: 'n' },
  { name: 'Markup, USD', className: 'n' },
  { name: 'Written off, USD', className: 'n' },
  { name: 'Earned, USD', className: 'n' },
];

function MonthsCard({ months }: { months: NonNullable<Org['earned']> }) {
  return (
    <Card title="What it earned" note="This month and the twelve before, in UTC. Credited on the 3rd." flush>
      {months.length === 0 ? (
        <Empty title="Nothing yet">No call of a customer was settled.</Empty>
      ) : (
        <Table name="Earned by month" stacks>
          <Columns of={MONTHS} />
          <tbody>
            {months.map((row) => (
              <tr key={row.month}>
                <td>
                  {row.month} {row.isOpen && <span className="faint">so far</span>}
                </td>
                <td className="n" data-label="Customers">
                  {countText(row.customers)}
                </td>
                <td className="n" data-label="Calls cost, USD">
                  <Money micro={row.usageMicro} />
                </td>
                <td className="n" data-label="Markup, USD">
                  <Money micro={row.markupMicro} />
                </td>
                <td className="n" data-label="Written off, USD">
                  <Money micro={row.writtenOffMicro} />
                </td>
                <td className="n" data-label="Earned, USD">
                  <Money micro={row.accruedMicro} />
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

export function StaffResellerPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const [{ data, error }, again] = useQuery({ query: StaffResellerOrgDocument, variables: { id } });
  const org = data?.staffOrg;
  return (
    <>
      <PageHead title={org?.name ?? 'Reseller'}>
        <p>
          <To className="link" href="/resellers">
            All resellers
          </To>{' '}
          {org && <OrgStatus status={org.status} />}{' '}
          {org && (
            <To className="link" href={`/orgs/${org.slug}`}>
              Its money and what staff did
            </To>
          )}
        </p>
      </PageHead>
      <div className="stack">
        {error && !org && (
          <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
        )}
        {!error && data === undefined && <Bone width={260} />}
        {data && org?.kind !== 'RESELLER' && (
          <Card>
            <Empty title="No such reseller">Resellers are opened by id or by their whole slug.</Empty>
          </Card>
        )}
        {org?.kind === 'RESELLER' && (
          <>
            {org.earned && <MonthsCard months={org.earned} />}
            <CustomersCard id={org.id} />
          </>
        )}
      </div>
    </>
  );
}
