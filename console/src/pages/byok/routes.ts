// The address of provider keys.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';

export const byokPage = lazyRouteComponent(
  kept(() => import('./page.tsx')),
  'ProviderKeysPage',
);

/** The route below `parent`, which is made before it is. */
export function byokRoute(parent: typeof orgRoute) {
  return createRoute({ getParentRoute: () => parent, path: '/byok', component: byokPage });
}
