// All addresses of the console of staff: /sign-in, / (find), /orgs/{id or slug}, /queue.
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
import { readFindSearch, readOrgSearch } from './search.ts';

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

export function createStaffRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([
      signInRoute,
      frameRoute.addChildren([findRoute, orgRoute, queueRoute]),
    ]),
    defaultErrorComponent: PageFault,
    scrollRestoration: false,
  });
}
