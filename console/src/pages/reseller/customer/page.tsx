// One customer of a reseller: what it is, pays, has and uses, and what can be done for it.
import '../reseller.css';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { ResaleCustomerDocument, type ResaleCustomerQuery } from '../../../api/gen/tools/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { Money } from '../../../ui/money.tsx';
import { Bone, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Barred } from '../page.tsx';
import { TicketsCard } from '../tickets.tsx';
import { Tile } from '../tile.tsx';
import { holds } from '../views.ts';
import { customerTones, tierText } from '../words.ts';
import { NameDialog, StatusDialog } from './change-dialogs.tsx';
import { CreditCard } from './credit-card.tsx';
import { EarnedCard, FactsCard } from './facts-cards.tsx';
import { TierOfDialog } from './tier-dialog.tsx';
import { UsageCard } from './usage-card.tsx';

type Reseller = NonNullable<ResaleCustomerQuery['reseller']>;
type Child = NonNullable<Reseller['child']>;
type Opened = 'tier' | 'status' | 'name' | null;

function Tiles({ child, reseller }: { child: Child; reseller: Reseller }) {
  return (
    <div className="resale-tiles">
      <Tile
        label="Credit left"
        value={<Money micro={child.availableMicroUsd} as="balance" />}
        foot={
          child.heldMicroUsd === '0' ? (
            'No call holds any of it.'
          ) : (
            <span>
              <Money micro={child.heldMicroUsd} as="spend" /> more is held by calls that run
            </span>
          )
        }
      />
      <Tile
        label="Used in 30 days"
        value={<Money micro={child.usage30dMicro} as="spend" />}
        foot="What its calls cost it."
      />
      <Tile
        label="Earned this month"
        value={<Money micro={earnedNow(reseller)} as="spend" />}
        foot="So far, in UTC; your markup in what was paid."
      />
      <Tile
        label="Pays"
        value={<span className="resale-tier">{tierText(reseller.tiers ?? [], child.tierId)}</span>}
        foot={child.tierId ? 'Above catalog prices.' : 'Nothing is earned of catalog prices.'}
      />
    </div>
  );
}

/** What the month that runs has earned of the customer. */
function earnedNow({ accruals }: Reseller): string {
  const month = new Date().toISOString().slice(0, 7);
  return accruals?.nodes.find((row) => row.month === month)?.accruedMicro ?? '0';
}

function Actions({ child, open }: { child: Child; open: (opened: Opened) => void }) {
  const suspended = child.status === 'SUSPENDED';
  return (
    <>
      <Button onClick={() => open('tier')}>Change tier…</Button>
      <Button onClick={() => open('name')}>Rename…</Button>
      <Button kind={suspended ? 'primary' : 'default'} onClick={() => open('status')}>
        {suspended ? 'Let it go on…' : 'Suspend…'}
      </Button>
    </>
  );
}

function Dialogs(props: {
  opened: Opened;
  child: Child;
  reseller: Reseller;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { opened, child, reseller, onClose, onDone } = props;
  const closing = { child, onClose, onDone };
  if (opened === 'tier') return <TierOfDialog {...closing} tiers={reseller.tiers ?? []} />;
  if (opened === 'status') return <StatusDialog {...closing} />;
  return opened === 'name' ? <NameDialog {...closing} /> : null;
}

function Shown({ child, reseller, reread }: { child: Child; reseller: Reseller; reread: () => void }) {
  const org = useOrg();
  return (
    <>
      <Tiles child={child} reseller={reseller} />
      <CreditCard child={child} overview={reseller.overview ?? null} onChanged={reread} />
      <UsageCard id={child.id} />
      <EarnedCard rows={reseller.accruals?.nodes ?? []} />
      {holds(org, 'reseller.support') && <TicketsCard child={child.id} />}
      <FactsCard child={child} />
    </>
  );
}

function Customer({ id }: { id: string }) {
  const org = useOrg();
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleCustomerDocument, variables: { id, accrualsOf: id } },
    requestPolicy: 'cache-and-network',
  });
  const [opened, setOpened] = useState<Opened>(null);
  const [said, setSaid] = useState('');
  const reread = () => again({ requestPolicy: 'network-only' });
  const reseller = data?.reseller ?? undefined;
  const child = reseller?.child ?? undefined;
  const may = holds(org, 'reseller.write') && child !== undefined && child.status !== 'CLOSED';
  const done = (words: string) => {
    setOpened(null);
    setSaid(words);
    reread();
  };
  return (
    <>
      <PageHead title={child?.name ?? 'Customer'} actions={may && <Actions child={child} open={setOpened} />}>
        <p>
          <Link
            className="link"
            to="/$org/$env/reseller"
            params={{ org: org.slug, env: org.env }}
            search={{ view: 'customers' }}
          >
            All customers
          </Link>{' '}
          {child && <Status tone={customerTones[child.status]}>{child.status.toLowerCase()}</Status>}{' '}
          <span role="status">{said}</span>
        </p>
      </PageHead>
      <div className="stack">
        {error && !child && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {!error && data === undefined && <Bone width={260} />}
        {!error && data !== undefined && child === undefined && (
          <Card>
            <Empty title="No such customer">It is not one of yours, or the address is wrong.</Empty>
          </Card>
        )}
        {reseller && child && <Shown child={child} reseller={reseller} reread={reread} />}
      </div>
      {reseller && child && (
        <Dialogs {...{ opened, child, reseller }} onClose={() => setOpened(null)} onDone={done} />
      )}
    </>
  );
}

export function CustomerPage() {
  const org = useOrg();
  const { id } = useParams({ from: '/$org/$env/reseller/customers/$id' });
  if (org.env === 'live' && holds(org, 'reseller.read')) return <Customer key={id} id={id} />;
  return (
    <>
      <PageHead title="Customer" />
      <Card>
        <Barred org={org} />
      </Card>
    </>
  );
}
