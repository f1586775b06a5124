// The address of usage.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';
import { readUsageSearch } from './wanted.ts';

export const usagePage = lazyRouteComponent(
  kept(() => import('./page.tsx')),
  'UsagePage',
);

/** The route below `parent`, which is made before it is. */
export function usageRoute(parent: typeof orgRoute) {
  return createRoute({
    getParentRoute: () => parent,
    path: '/usage',
    validateSearch: readUsageSearch,
    component: usagePage,
  });
}
