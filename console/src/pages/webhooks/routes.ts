// The addresses of webhooks: endpoints, one endpoint.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';
import { readWebhookSearch } from '../../app/search.ts';

export const webhookPages = {
  webhooks: lazyRouteComponent(
    kept(() => import('./page.tsx')),
    'WebhooksPage',
  ),
  webhook: lazyRouteComponent(
    kept(() => import('./endpoint-page.tsx')),
    'WebhookPage',
  ),
};

/** The routes below `parent`, which is made before they are. */
export function webhookRoutes(parent: typeof orgRoute) {
  const webhooks = createRoute({
    getParentRoute: () => parent,
    path: '/webhooks',
    component: webhookPages.webhooks,
  });
  const webhook = createRoute({
    getParentRoute: () => parent,
    path: '/webhooks/$id',
    validateSearch: readWebhookSearch,
    component: webhookPages.webhook,
  });
  return [webhooks, webhook] as const;
}
