// All addresses of the console of staff: /sign-in, / (find), /orgs/{id or slug}, /queue, /reviews, /approvals, /limits, /plans, /access, /tickets, /announcements, /legal, /codes, /mails, /erasures, /operations, /prices, /rankings, /resellers, /resellers/{id or slug}.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { loadSession, sessionState } from '../api/session.ts';
import { kept } from '../app/kept.ts';
import { PageFault } from '../app/outside.tsx';
import { readSignInSearch } from '../app/search.ts';
import { NotFound, StaffFrame } from './frame.tsx';
import { readFindSearch, readKindSearch, readOrgSearch } from './search.ts';

const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageFault,
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: readSignInSearch,
  component: lazyRouteComponent(
    kept(() => import('./pages/sign-in.tsx')),
    'StaffSignInPage',
  ),
});

const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  beforeLoad: async ({ location }) => {
    const state = sessionState().kind === 'unknown' ? await loadSession() : sessionState();
    if (state.kind === 'signed_out') throw redirect({ to: '/sign-in', search: { next: location.href } });
  },
  component: StaffFrame,
});

const findRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/',
  validateSearch: readFindSearch,
  component: lazyRouteComponent(
    kept(() => import('./pages/find.tsx')),
    'FindPage',
  ),
});

const orgRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/orgs/$id',
  validateSearch: readOrgSearch,
  component: lazyRouteComponent(
    kept(() => import('./pages/org/page.tsx')),
    'StaffOrgPage',
  ),
});

const queueRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/queue',
  component: lazyRouteComponent(
    kept(() => import('./pages/queue/page.tsx')),
    'QueuePage',
  ),
});

const reviewsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/reviews',
  component: lazyRouteComponent(
    kept(() => import('./pages/reviews/page.tsx')),
    'ReviewsPage',
  ),
});

const approvalsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/approvals',
  component: lazyRouteComponent(
    kept(() => import('./pages/approvals/page.tsx')),
    'ApprovalsPage',
  ),
});

const disputesRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/disputes',
  component: lazyRouteComponent(
    kept(() => import('./pages/disputes/page.tsx')),
    'DisputesPage',
  ),
});

const limitsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/limits',
  component: lazyRouteComponent(
    kept(() => import('./pages/limits/page.tsx')),
    'LimitsPage',
  ),
});

const plansRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/plans',
  component: lazyRouteComponent(
    kept(() => import('./pages/plans/page.tsx')),
    'PlansPage',
  ),
});

const rankingsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/rankings',
  component: lazyRouteComponent(
    kept(() => import('./pages/rankings/page.tsx')),
    'RankingsPage',
  ),
});

const ticketsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/tickets',
  component: lazyRouteComponent(
    kept(() => import('./pages/tickets/page.tsx')),
    'TicketsPage',
  ),
});

const announcementsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/announcements',
  component: lazyRouteComponent(
    kept(() => import('./pages/announcements/page.tsx')),
    'AnnouncementsPage',
  ),
});

const legalRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/legal',
  component: lazyRouteComponent(
    kept(() => import('./pages/legal/page.tsx')),
    'StaffLegalPage',
  ),
});

const accessRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/access',
  component: lazyRouteComponent(
    kept(() => import('./pages/access/page.tsx')),
    'AccessPage',
  ),
});

const erasuresRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/erasures',
  component: lazyRouteComponent(
    kept(() => import('./pages/erasures/page.tsx')),
    'ErasuresPage',
  ),
});

const codesRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/codes',
  component: lazyRouteComponent(
    kept(() => import('./pages/codes/page.tsx')),
    'CodesPage',
  ),
});

const mailsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/mails',
  validateSearch: readFindSearch,
  component: lazyRouteComponent(
    kept(() => import('./pages/mails/page.tsx')),
    'MailsPage',
  ),
});

const operationsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/operations',
  validateSearch: readKindSearch,
  component: lazyRouteComponent(
    kept(() => import('./pages/operations/page.tsx')),
    'OperationsPage',
  ),
});

const pricesRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/prices',
  validateSearch: readFindSearch,
  component: lazyRouteComponent(
    kept(() => import('./pages/prices/page.tsx')),
    'PricesPage',
  ),
});

const resellersRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/resellers',
  component: lazyRouteComponent(
    kept(() => import('./pages/resellers/page.tsx')),
    'ResellersPage',
  ),
});

const resellerRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/resellers/$id',
  component: lazyRouteComponent(
    kept(() => import('./pages/resellers/reseller-page.tsx')),
    'StaffResellerPage',
  ),
});

export function createStaffRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([
      signInRoute,
      frameRoute.addChildren([
        ...[
          findRoute,
          orgRoute,
          queueRoute,
          reviewsRoute,
          approvalsRoute,
          disputesRoute,
          limitsRoute,
          plansRoute,
          rankingsRoute,
          accessRoute,
          ticketsRoute,
          announcementsRoute,
          legalRoute,
          erasuresRoute,
          codesRoute,
          mailsRoute,
          operationsRoute,
          pricesRoute,
          resellersRoute,
          resellerRoute,
        ],
      ]),
    ]),
    defaultErrorComponent: PageFault,
    scrollRestoration: false,
  });
}
