// The address of the page about privacy.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';

export const privacyPage = lazyRouteComponent(
  kept(() => import('./page.tsx')),
  'PrivacyPage',
);

/** The route below `parent`, which is made before it is. */
export function privacyRoute(parent: typeof orgRoute) {
  return createRoute({ getParentRoute: () => parent, path: '/privacy', component: privacyPage });
}
