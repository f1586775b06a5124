// All addresses: those of people who are not signed in (/sign-in and others), and /{org}/{live|sandbox}/{page}. Each page is a chunk of its own; what a page keeps in
// the address has a typed reader here, so that a wrong or unknown parameter is dropped and never breaks a page.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { loadSession, sessionState } from '../api/session.ts';
import { appsPage, appsRoute } from '../pages/apps/routes.ts';
import { byokPage, byokRoute } from '../pages/byok/routes.ts';
import { evalPages, evalRoutes } from '../pages/evals/routes.ts';
import { privacyPage, privacyRoute } from '../pages/privacy/routes.ts';
import { resellerPages, resellerRoutes } from '../pages/reseller/routes.ts';
import { usagePage, usageRoute } from '../pages/usage/routes.ts';
import { webhookPages, webhookRoutes } from '../pages/webhooks/routes.ts';
import { kept } from './kept.ts';
import { NotFound, PageFault } from './outside.tsx';
import { rememberPlace, startPlace } from './place.ts';
import {
  readCreditsSearch,
  readInvoicesSearch,
  readKeysSearch,
  readPoliciesSearch,
  readPolicySearch,
  readRequestsSearch,
  readSignInSearch,
} from './search.ts';
import { Shell } from './shell.tsx';
import { Unreachable } from './unreachable.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageFault,
});

/** The session, asked once when the page is opened. @throws redirect to sign-in */
async function requireSession(href: string) {
  const state = sessionState().kind === 'unknown' ? await loadSession() : sessionState();
  if (state.kind === 'signed_in') return state.session;
  if (state.kind === 'signed_out') throw redirect({ to: '/sign-in', search: { next: href } });
  return null;
}

const pages = {
  apps: appsPage,
  byok: byokPage,
  evals: evalPages.evals,
  webhooks: webhookPages.webhooks,
  privacy: privacyPage,
  usage: usagePage,
  ...resellerPages,
  'sign-in': lazyRouteComponent(
    kept(() => import('../pages/sign-in/page.tsx')),
    'SignInPage',
  ),
  home: lazyRouteComponent(
    kept(() => import('../pages/home/page.tsx')),
    'HomePage',
  ),
  requests: lazyRouteComponent(
    kept(() => import('../pages/requests/page.tsx')),
    'RequestsPage',
  ),
  request: lazyRouteComponent(
    kept(() => import('../pages/request/page.tsx')),
    'RequestPage',
  ),
  keys: lazyRouteComponent(
    kept(() => import('../pages/keys/page.tsx')),
    'KeysPage',
  ),
  credits: lazyRouteComponent(
    kept(() => import('../pages/credits/page.tsx')),
    'CreditsPage',
  ),
  budgets: lazyRouteComponent(
    kept(() => import('../pages/budgets/page.tsx')),
    'BudgetsPage',
  ),
  invoices: lazyRouteComponent(
    kept(() => import('../pages/invoices/page.tsx')),
    'InvoicesPage',
  ),
  policies: lazyRouteComponent(
    kept(() => import('../pages/policies/list-page.tsx')),
    'PoliciesPage',
  ),
  policy: lazyRouteComponent(
    kept(() => import('../pages/policies/policy-page.tsx')),
    'PolicyPage',
  ),
  members: lazyRouteComponent(
    kept(() => import('../pages/members/page.tsx')),
    'MembersPage',
  ),
  settings: lazyRouteComponent(
    kept(() => import('../pages/settings/page.tsx')),
    'SettingsPage',
  ),
  audit: lazyRouteComponent(
    kept(() => import('../pages/audit/page.tsx')),
    'AuditPage',
  ),
  tickets: lazyRouteComponent(
    kept(() => import('../pages/tickets/page.tsx')),
    'TicketsPage',
  ),
  ticket: lazyRouteComponent(
    kept(() => import('../pages/tickets/ticket-page.tsx')),
    'TicketPage',
  ),
  invitation: lazyRouteComponent(
    kept(() => import('../pages/invitation/page.tsx')),
    'InvitationPage',
  ),
  look: lazyRouteComponent(
    kept(() => import('../pages/account/look-page.tsx')),
    'LookPage',
  ),
  legal: lazyRouteComponent(
    kept(() => import('../pages/legal/page.tsx')),
    'LegalPage',
  ),
  'sign-on': lazyRouteComponent(
    kept(() => import('../pages/sign-on/page.tsx')),
    'SignOnPage',
  ),
  register: lazyRouteComponent(
    kept(() => import('../pages/account/register-page.tsx')),
    'RegisterPage',
  ),
  'request-access': lazyRouteComponent(
    kept(() => import('../pages/account/request-access-page.tsx')),
    'RequestAccessPage',
  ),
  activate: lazyRouteComponent(
    kept(() => import('../pages/account/activate-page.tsx')),
    'ActivatePage',
  ),
  'verify-email': lazyRouteComponent(
    kept(() => import('../pages/account/verify-page.tsx')),
    'VerifyEmailPage',
  ),
  'forgot-password': lazyRouteComponent(
    kept(() => import('../pages/account/forgot-page.tsx')),
    'ForgotPasswordPage',
  ),
  'reset-password': lazyRouteComponent(
    kept(() => import('../pages/account/reset-page.tsx')),
    'ResetPasswordPage',
  ),
  profile: lazyRouteComponent(
    kept(() => import('../pages/profile/page.tsx')),
    'ProfilePage',
  ),
};

/** Asks for the code of the page at `pathname`, which would otherwise wait for the session. */
export function preloadPage(pathname: string): void {
  const [, first, , page, id] = pathname.split('/');
  const single = { requests: 'request', policies: 'policy', tickets: 'ticket', webhooks: 'webhook' }[
    page ?? ''
  ];
  const name = single !== undefined && id ? single : (page ?? first ?? '');
  if (Object.hasOwn(pages, name)) void pages[name as keyof typeof pages].preload?.();
}

/** Asks for the code of all pages and of what opens over them, so that each opens at once, also when the connection has gone. */
export async function preloadAll(): Promise<void> {
  const dialogs = [
    import('../pages/sign-up/create-org.tsx'),
    import('./overlays.tsx'),
    import('./palette.tsx'),
    import('./shortcut-table.tsx'),
  ];
  await Promise.allSettled([
    ...Object.values({ ...pages, ...evalPages, ...webhookPages }).map((page) => page.preload?.()),
    ...dialogs,
  ]);
}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: readSignInSearch,
  component: pages['sign-in'],
});

/** Where the link in the mail of an invitation leads; its token stands behind the number sign. */
const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: pages.invitation,
});

const lookRoute = createRoute({ getParentRoute: () => rootRoute, path: '/look', component: pages.look });

const registerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/register',
  component: pages.register,
});

const requestAccessRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/request-access',
  component: pages['request-access'],
});
const activateRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/activate',
  component: pages.activate,
});

/** Where mails lead whose links prove an address or set a password; the token stands behind the number sign. */
const verifyEmailRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/verify-email',
  component: pages['verify-email'],
});
const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: pages['reset-password'],
});
const forgotPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgot-password',
  component: pages['forgot-password'],
});

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async () => {
    const session = await requireSession('/');
    const place = session === null ? null : startPlace(session);
    if (place !== null) throw redirect({ to: '/$org/$env/home', params: place });
  },
  component: Unreachable,
});

/** The address that a payment page leads back to: it names the top-up but not the organisation. */
const returnRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/credits',
  validateSearch: readCreditsSearch,
  beforeLoad: async ({ location, search }) => {
    const session = await requireSession(location.href);
    const place = session === null ? null : startPlace(session);
    if (place !== null)
      throw redirect({ to: '/$org/$env/credits', params: { org: place.org, env: 'live' }, search });
  },
  component: Unreachable,
});

/** The address of a policy that a Kubernetes object shows: it names the policy but not the organisation. */
const policyLinkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/policies/$name',
  beforeLoad: async ({ location, params }) => {
    const session = await requireSession(location.href);
    const place = session === null ? null : startPlace(session);
    if (place !== null)
      throw redirect({ to: '/$org/$env/policies/$name', params: { ...place, name: params.name } });
  },
  component: Unreachable,
});

export const orgRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org/$env',
  beforeLoad: async ({ params, location }) => {
    const session = await requireSession(location.href);
    if (session === null) return;
    const org = session.orgs.find(({ slug }) => slug === params.org);
    if (org === undefined || !['live', 'sandbox'].includes(params.env)) throw notFound();
    rememberPlace(params);
  },
  component: Shell,
});

const homeRoute = createRoute({ getParentRoute: () => orgRoute, path: '/home', component: pages.home });
const requestsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/requests',
  validateSearch: readRequestsSearch,
  component: pages.requests,
});
const requestRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/requests/$id',
  component: pages.request,
});
const keysRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/keys',
  validateSearch: readKeysSearch,
  component: pages.keys,
});
const creditsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/credits',
  validateSearch: readCreditsSearch,
  component: pages.credits,
});

const budgetsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/budgets',
  component: pages.budgets,
});

const invoicesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/invoices',
  validateSearch: readInvoicesSearch,
  component: pages.invoices,
});

const policiesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/policies',
  validateSearch: readPoliciesSearch,
  component: pages.policies,
});

const policyRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/policies/$name',
  validateSearch: readPolicySearch,
  component: pages.policy,
});

const membersRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/members',
  component: pages.members,
});
const settingsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/settings',
  component: pages.settings,
});
const auditRoute = createRoute({ getParentRoute: () => orgRoute, path: '/audit', component: pages.audit });

const signOnRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/sign-on',
  component: pages['sign-on'],
});
const legalRoute = createRoute({ getParentRoute: () => orgRoute, path: '/legal', component: pages.legal });

const ticketsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tickets',
  component: pages.tickets,
});

const ticketRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tickets/$id',
  component: pages.ticket,
});
const profileRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/profile',
  component: pages.profile,
});

const routeTree = rootRoute.addChildren([
  ...[signInRoute, invitationRoute, lookRoute, registerRoute, requestAccessRoute],
  ...[activateRoute, verifyEmailRoute, forgotPasswordRoute, resetPasswordRoute, indexRoute],
  ...[returnRoute, policyLinkRoute],
  orgRoute.addChildren([
    ...[homeRoute, requestsRoute, requestRoute, keysRoute, creditsRoute],
    ...[budgetsRoute, invoicesRoute, policiesRoute, policyRoute, membersRoute],
    ...[settingsRoute, auditRoute, ticketsRoute, ticketRoute, legalRoute],
    ...[signOnRoute, profileRoute],
    ...[byokRoute(orgRoute), ...evalRoutes(orgRoute)],
    ...webhookRoutes(orgRoute),
    ...[privacyRoute(orgRoute), appsRoute(orgRoute), usageRoute(orgRoute)],
    ...resellerRoutes(orgRoute),
  ]),
]);

export function createConsoleRouter() {
  return createRouter({
    routeTree,
    defaultPreload: 'intent',
    // A page that fails leaves the frame around it as it is.
    defaultErrorComponent: PageFault,
    scrollRestoration: false,
  });
}
