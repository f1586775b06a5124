// The addresses of the reseller area: its views, and one customer.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';
import type { ResaleSearch } from './views.ts';

const area = kept(() => import('./area.ts'));
export const resellerPages = {
  reseller: lazyRouteComponent(area, 'ResellerPage'),
  customer: lazyRouteComponent(area, 'CustomerPage'),
};

/** The routes below `parent`, which is made before they are. */
export function resellerRoutes(parent: typeof orgRoute) {
  const reseller = createRoute({
    getParentRoute: () => parent,
    path: '/reseller',
    // The page reads its address itself: the reader is of no use to those who open another page first.
    validateSearch: (raw: Readonly<Record<string, unknown>>) => raw as ResaleSearch,
    component: resellerPages.reseller,
  });
  const customer = createRoute({
    getParentRoute: () => parent,
    path: '/reseller/customers/$id',
    component: resellerPages.customer,
  });
  return [reseller, customer] as const;
}
