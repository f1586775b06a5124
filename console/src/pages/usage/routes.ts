// The address of usage.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';
import type { UsageSearch } from './wanted.ts';

export const usagePage = lazyRouteComponent(
  kept(() => import('./page.tsx')),
  'UsagePage',
);

/** The route below `parent`, which is made before it is. */
export function usageRoute(parent: typeof orgRoute) {
  return createRoute({
    getParentRoute: () => parent,
    path: '/usage',
    // The page reads its address itself: the reader is of no use to those who open another page first.
    validateSearch: (raw: Readonly<Record<string, unknown>>) => raw as UsageSearch,
    component: usagePage,
  });
}
