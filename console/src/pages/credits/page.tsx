// The page of credits: what is left, and how to add more.
import './credits.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  CreditsDocument,
  type CreditsQuery,
  RefillSandboxDocument,
  SandboxCreditsDocument,
} from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readCreditsSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { Money } from '../../ui/money.tsx';
import { Bone, ErrorBox, FormFault } from '../../ui/states.tsx';
import { useRestored } from '../../ui/use-restored.ts';
import { AddCreditsDialog } from './add-dialog.tsx';
import { AutoTopupCard } from './auto/auto-card.tsx';
import { TopupReturn } from './return-card.tsx';
import { TopupsCard } from './topups-card.tsx';
import { liveViews, Views } from './views.tsx';

type Balance = NonNullable<NonNullable<CreditsQuery['credits']>['balance']>;

function BalanceCard({
  label,
  balance,
  granted,
  loading,
}: {
  label: string;
  balance: Pick<Balance, 'availableMicroUsd' | 'heldMicroUsd'> | null | undefined;
  granted?: string | undefined;
  loading: boolean;
}) {
  return (
    <section className="card balance" aria-label={label}>
      <div className="soft">{label}</div>
      <div className="balance-value num">
        {loading && <Bone width={200} height={34} />}
        {!loading && (balance ? <Money micro={balance.availableMicroUsd} as="balance" /> : '–')}
      </div>
      <dl className="balance-parts num">
        <div>
          <dt>Exact</dt>
          <dd>{loading ? <Bone width={80} /> : <Money micro={balance?.availableMicroUsd} />}</dd>
        </div>
        <div>
          <dt>Held by running calls</dt>
          <dd>{loading ? <Bone width={60} /> : <Money micro={balance?.heldMicroUsd} />}</dd>
        </div>
        {granted !== undefined && (
          <div>
            <dt>Of which granted</dt>
            <dd>
              <Money micro={granted} />
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

/** The dialog over what the page has read; the currency can be chosen as long as nothing was paid. */
function AddDialog({
  data,
  ...rest
}: { data: CreditsQuery } & Omit<React.ComponentProps<typeof AddCreditsDialog>, 'is_first'>) {
  const is_first = !data.credits?.topups?.nodes.some(({ paidAt }) => paidAt);
  return <AddCreditsDialog is_first={is_first} {...rest} />;
}

/** Payments, and how they are made by themselves; who may not pay has no `action`. */
function FirstView(props: React.ComponentProps<typeof TopupsCard>) {
  return (
    <>
      {props.action && <AutoTopupCard />}
      <TopupsCard {...props} />
    </>
  );
}

function LiveCredits() {
  const { slug, role } = useOrg();
  const search = readCreditsSearch(useSearch({ from: '/$org/$env/credits' }));
  const navigate = useNavigate();
  const [{ data, error }, again] = useQuery({ query: CreditsDocument });
  const allowed = may(role, 'money');
  const params = { org: slug, env: 'live' };
  const setAdd = (open: boolean) =>
    void navigate({ to: '/$org/$env/credits', params, search: open ? { add: true } : {}, replace: true });
  const reread = useCallback(() => again({ requestPolicy: 'network-only' }), [again]);
  useRestored(reread);
  useShortcuts(allowed ? { c: () => setAdd(true) } : {});
  const button = allowed && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setAdd(true)}>
      Add credits
    </Button>
  );
  return (
    <>
      <PageHead title="Credits" actions={button}>
        <p>Before a call runs, its highest cost is held; afterwards it is charged what it used.</p>
      </PageHead>
      <div className="stack">
        {search.topup && (
          <TopupReturn
            id={search.topup}
            key={search.topup}
            outcome={search.outcome}
            may_pay={allowed}
            onChanged={reread}
            onAgain={() => setAdd(true)}
            onDismiss={() => setAdd(false)}
          />
        )}
        {error && !data ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />
          </div>
        ) : (
          <>
            <BalanceCard
              label="Available credit"
              balance={data?.credits?.balance}
              granted={data?.credits?.balance?.grantedMicroUsd}
              loading={data === undefined}
            />
            <Views
              view={search.view}
              onChanged={reread}
              first={<FirstView data={data} action={button || undefined} />}
            />
          </>
        )}
      </div>
      {search.add && allowed && data?.org && (
        <AddDialog data={data} org={data.org} onChanged={reread} onClose={() => setAdd(false)} />
      )}
    </>
  );
}

/** Refills the play balance; `onDone` when it is full. */
function useRefill(onDone: () => void) {
  const { sendOnce, busy, fault } = useSend();
  const refill = async () => {
    const done = await sendOnce(RefillSandboxDocument, {});
    if (done !== null) onDone();
  };
  return { busy, fault, refill };
}

function SandboxCredits() {
  const { slug, role } = useOrg();
  const { view = 'movements' } = readCreditsSearch(useSearch({ from: '/$org/$env/credits' }));
  const [{ data, error }, query] = useQuery({ query: SandboxCreditsDocument });
  const again = () => query({ requestPolicy: 'network-only' });
  const { busy, fault, refill } = useRefill(again);
  return (
    <>
      <PageHead
        title="Sandbox credit"
        actions={
          may(role, 'keys') && (
            <Button kind="primary" icon="refresh" busy={busy} onClick={() => void refill()}>
              Refill sandbox to $100
            </Button>
          )
        }
      >
        <p>Play money for simulated models. It can never pay for a live call.</p>
      </PageHead>
      <div className="stack">
        <FormFault fault={fault} />
        {error && !data ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={again} />
          </div>
        ) : (
          <>
            <BalanceCard
              label="Sandbox credit"
              balance={data?.credits?.balance}
              loading={data === undefined}
            />
            <Views view={liveViews.has(view) ? 'movements' : view} onChanged={again} />
          </>
        )}
        <div className="card note">
          <span className="grow soft">Top-ups and invoices exist for live credit only.</span>
          <Link className="btn" to="/$org/$env/credits" params={{ org: slug, env: 'live' }}>
            Open live credits
          </Link>
        </div>
      </div>
    </>
  );
}

export function CreditsPage() {
  const { env } = useOrg();
  return env === 'live' ? <LiveCredits /> : <SandboxCredits />;
}
