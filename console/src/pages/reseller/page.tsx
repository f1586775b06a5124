// The area of a reseller: what its customers are, pay and ask, one view at a time; each only with its grant.
import './reseller.css';
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { type OrgPlace, useOrg } from '../../app/org.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Empty } from '../../ui/states.tsx';
import { AnnouncementsView } from './campaigns/announcements.tsx';
import { InvitesView } from './campaigns/invites.tsx';
import { CustomersView } from './customers/view.tsx';
import { EarningsView } from './earnings.tsx';
import { InvoicingView } from './invoicing/view.tsx';
import { OverviewView } from './overview.tsx';
import { PricesView } from './prices/view.tsx';
import { StorefrontView } from './storefront/view.tsx';
import { TeamView } from './team.tsx';
import { TicketsCard } from './tickets.tsx';
import { type ResaleSearch, readResaleSearch, type View, viewNames, viewsOf } from './views.ts';

/** The choice of views; on a phone it is wider than the screen, so what is chosen comes into sight. */
function Choice({ shown, view }: { shown: readonly View[]; view: View }) {
  const { slug, env } = useOrg();
  const nav = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page marks what is chosen after `view` has changed
  useEffect(() => {
    const chosen = nav.current?.querySelector('[aria-current="page"]');
    chosen?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [view]);
  return (
    <nav className="views" aria-label="Views of the reseller area" ref={nav}>
      {shown.map((each) => (
        <Link
          key={each}
          to="/$org/$env/reseller"
          params={{ org: slug, env }}
          search={{ view: each }}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={view === each ? 'page' : undefined}
        >
          {viewNames[each]}
        </Link>
      ))}
    </nav>
  );
}

function Chosen({ view, search }: { view: View; search: ResaleSearch }): ReactNode {
  switch (view) {
    case 'overview':
      return <OverviewView />;
    case 'customers':
      return <CustomersView search={search} />;
    case 'prices':
      return <PricesView />;
    case 'storefront':
      return <StorefrontView />;
    case 'earnings':
      return <EarningsView month={search.month} />;
    case 'invoices':
      return <InvoicingView />;
    case 'tickets':
      return <TicketsCard />;
    case 'announcements':
      return <AnnouncementsView />;
    case 'invites':
      return <InvitesView />;
    case 'team':
      return <TeamView />;
  }
}

/** Why there is nothing to see; null where there is. */
export function Barred({ org }: { org: OrgPlace }) {
  if (org.env === 'sandbox')
    return (
      <Empty
        title="Customers are of live credit"
        actions={
          <Link className="btn" to="/$org/$env/reseller" params={{ org: org.slug, env: 'live' }} search={{}}>
            Go to live
          </Link>
        }
      >
        There is nothing of a reseller in the sandbox.
      </Empty>
    );
  if (org.grants === undefined)
    return <Empty title="This organisation is no reseller">It has no customers of its own.</Empty>;
  return (
    <Empty title="Nothing here for you yet">
      An owner or admin says on the view Team what you may do for customers.
    </Empty>
  );
}

export function ResellerPage() {
  const org = useOrg();
  const search = readResaleSearch(useSearch({ strict: false }));
  const shown = org.env === 'live' ? viewsOf(org) : [];
  const view = shown.find((each) => each === search.view) ?? shown[0];
  return (
    <>
      <PageHead title="Reseller">
        <p>Your customers: what they pay, what you give them, and what you earn.</p>
      </PageHead>
      <div className="stack">
        {view === undefined ? (
          <Card>
            <Barred org={org} />
          </Card>
        ) : (
          <>
            <Choice shown={shown} view={view} />
            <Chosen view={view} search={search} />
          </>
        )}
      </div>
    </>
  );
}
