// The address of apps.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';

export const appsPage = lazyRouteComponent(
  kept(() => import('./page.tsx')),
  'AppsPage',
);

/** The route below `parent`, which is made before it is. */
export function appsRoute(parent: typeof orgRoute) {
  return createRoute({ getParentRoute: () => parent, path: '/apps', component: appsPage });
}
