// One organization: its money on one page, and the grant.
import '../../../pages/credits/credits.css';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type Environment,
  StaffOrgLedgerDocument,
  type StaffOrgLedgerQuery,
  StaffOrgMoneyDocument,
  type StaffOrgMoneyQuery,
} from '../../../api/gen/staff/graphql.ts';
import { useShortcuts } from '../../../app/shortcuts.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { Money } from '../../../ui/money.tsx';
import { Bone, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { readOrgSearch } from '../../search.ts';
import { OrgStatus } from '../../words.tsx';
import { Items } from '../items.tsx';
import { BudgetsCard } from './budgets-card.tsx';
import { CloseButton } from './close-dialog.tsx';
import { DocumentsCard } from './documents-card.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { ActsCard, LotsCard, MovementsCard } from './ledger-cards.tsx';
import { LookButton } from './look-dialog.tsx';
import { NotYours } from './not-yours.tsx';
import { PlanCard } from './plan-card.tsx';
import { ShadowCard } from './shadow-card.tsx';
import { TopupsCard } from './topups-card.tsx';

type Org = NonNullable<StaffOrgMoneyQuery['staffOrg']>;

function Facts({ org }: { org: Org }) {
  return (
    <p className="org-facts">
      <OrgStatus status={org.status} /> {org.kind.toLowerCase()} · plan {org.planId} · {org.billingCountry},{' '}
      {org.billingCurrency} · made <Time at={org.createdAt} /> · <IdText id={org.id} /> ·{' '}
      <To className="link" href={`/mails?q=${org.slug}`}>
        mails
      </To>
    </p>
  );
}

function Balance({ balance, label }: { balance: Org['balance'] | undefined; label: string }) {
  if (balance === null) {
    return (
      <Card>
        <NotYours what="Balances" />
      </Card>
    );
  }
  return (
    <section className="card balance" aria-label={label}>
      <div className="soft">{label}</div>
      <div className="balance-value num">
        {balance ? (
          <Money micro={balance.availableMicroUsd} as="balance" />
        ) : (
          <Bone width={200} height={34} />
        )}
      </div>
      <dl className="balance-parts num">
        <div>
          <dt>Exact</dt>
          <dd>{balance ? <Money micro={balance.availableMicroUsd} /> : <Bone width={80} />}</dd>
        </div>
        <div>
          <dt>Held by running calls</dt>
          <dd>{balance ? <Money micro={balance.heldMicroUsd} /> : <Bone width={60} />}</dd>
        </div>
        <div>
          <dt>Of which granted</dt>
          <dd>{balance ? <Money micro={balance.grantedMicroUsd} /> : <Bone width={60} />}</dd>
        </div>
      </dl>
    </section>
  );
}

/** The book that the page shows, and the way to the other one. */
function BookChoice({ slug, sandbox }: { slug: string; sandbox: boolean }) {
  const at = (is_it: boolean) => (is_it ? 'page' : undefined);
  return (
    <nav className="views" aria-label="Books">
      <To href={`/orgs/${slug}`} aria-current={at(!sandbox)}>
        Live
      </To>
      <To href={`/orgs/${slug}?env=sandbox`} aria-current={at(sandbox)}>
        Sandbox
      </To>
    </nav>
  );
}

function NoSuchOrg() {
  return (
    <div className="card">
      <Empty
        page
        title="No such organization"
        actions={
          <To className="btn" href="/">
            Go to Find
          </To>
        }
      >
        Organizations are opened by id or by their whole slug.
      </Empty>
    </div>
  );
}

function Cards(props: {
  id: string;
  environment: Environment;
  org: Org | undefined;
  ledger: StaffOrgLedgerQuery['staffOrg'] | undefined;
  onChanged: () => void;
}) {
  const { id, environment, org, ledger, onChanged } = props;
  return (
    <>
      <PlanCard org={org} onChanged={onChanged} />
      <TopupsCard id={id} org={org} />
      <DocumentsCard id={id} org={org} />
      <BudgetsCard org={org} onChanged={onChanged} />
      <ShadowCard org={org} onChanged={onChanged} />
      <LotsCard id={id} environment={environment} org={ledger} />
      <MovementsCard id={id} environment={environment} org={ledger} />
      <ActsCard id={id} org={ledger} />
    </>
  );
}

/** The queries of the page; the second is of what stands below. */
function useOrgMoney(id: string, sandbox: boolean) {
  const environment = sandbox ? 'TEST' : 'LIVE';
  const variables = { id, environment } as const;
  const [money, readMoney] = useQuery({ query: StaffOrgMoneyDocument, variables });
  const [ledger, readLedger] = useQuery({ query: StaffOrgLedgerDocument, variables });
  const reread = () => {
    readMoney({ requestPolicy: 'network-only' });
    readLedger({ requestPolicy: 'network-only' });
  };
  return { environment, money, ledger, reread } as const;
}

/** A heading is never empty, also while the name is read. */
function NameToCome() {
  return (
    <>
      <span className="visually-hidden">Organization</span>
      <Bone width={200} height={20} />
    </>
  );
}

/** `onGrant` is null for those of staff who may not. */
function Acts(props: { org: Org | null | undefined; onChanged: () => void; onGrant: (() => void) | null }) {
  const { org, onChanged, onGrant } = props;
  if (!org) return null;
  return (
    <>
      <CloseButton org={org} onChanged={onChanged} />
      <LookButton org={org} />
      {onGrant && (
        <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={onGrant}>
          Grant credit…
        </Button>
      )}
    </>
  );
}

export function StaffOrgPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const sandbox = readOrgSearch(useSearch({ strict: false })).env === 'sandbox';
  const { environment, money, ledger, reread } = useOrgMoney(id, sandbox);
  const [granting, setGranting] = useState(false);
  const [said, setSaid] = useState<string | null>(null);
  const may_grant = useMay('finance');
  const org = money.data?.staffOrg;
  useShortcuts(may_grant && org ? { c: () => setGranting(true) } : {});
  if (org === null) return <NoSuchOrg />;
  if (money.error && !org) return <ErrorBox fault={faultOfQuery(money.error)} onRetry={reread} />;
  const items = money.data?.staffItems?.nodes ?? [];
  const acts = <Acts org={org} onChanged={reread} onGrant={may_grant ? () => setGranting(true) : null} />;
  return (
    <>
      <PageHead title={org?.name ?? <NameToCome />} actions={acts}>
        {org ? <Facts org={org} /> : <p />}
      </PageHead>
      <div className="stack">
        <BookChoice slug={id} sandbox={sandbox} />
        <div role="status">{said && <div className="card note">{said}</div>}</div>
        <Balance
          balance={org === undefined ? undefined : (org.balance ?? null)}
          label={sandbox ? 'Sandbox credit' : 'Available credit'}
        />
        {items.length > 0 && (
          <Card title="Needs a person" flush>
            <Items items={items} linked={false} onChanged={reread} />
          </Card>
        )}
        <Cards
          id={id}
          environment={environment}
          org={org}
          ledger={ledger.data?.staffOrg}
          onChanged={reread}
        />
      </div>
      {granting && org && (
        <GrantDialog
          id={org.id}
          name={org.name}
          environment={environment}
          onClose={() => setGranting(false)}
          onDone={(text) => {
            setGranting(false);
            setSaid(text);
            reread();
          }}
        />
      )}
    </>
  );
}
