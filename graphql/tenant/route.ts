// The stored route of a call, arranged by endpoint for display.
import type { Route as StoredRoute } from '@svc/core/routing/index.ts';

export interface RouteTry {
  readonly outcome: string;
  readonly http_status: number;
  readonly ms: number;
}

export interface RouteEndpoint {
  readonly endpoint: string;
  /** Position in the plan, from 1; null when excluded. */
  readonly planned_at: number | null;
  readonly score: number | null;
  readonly excluded_by: string | null;
  readonly tries: readonly RouteTry[];
}

export interface Route extends Omit<StoredRoute, 'plan' | 'excluded' | 'attempts'> {
  /** Planned endpoints in plan order, then excluded ones in the order of the filters. */
  readonly endpoints: readonly RouteEndpoint[];
}

/** `route` arranged by endpoint, each with its attempts. */
export function byEndpoint(route: StoredRoute): Route {
  const tries = new Map<string, RouteTry[]>();
  for (const { endpoint_id, ...attempt } of route.attempts ?? []) {
    tries.set(endpoint_id, [...(tries.get(endpoint_id) ?? []), attempt]);
  }
  const planned = route.plan.map(({ endpoint_id, score }, at) => ({
    endpoint: endpoint_id,
    planned_at: at + 1,
    score,
    excluded_by: null,
    tries: tries.get(endpoint_id) ?? [],
  }));
  const excluded = route.excluded.map(({ endpoint_id, reason }) => ({
    endpoint: endpoint_id,
    planned_at: null,
    score: null,
    excluded_by: reason,
    tries: [],
  }));
  return { ...route, endpoints: [...planned, ...excluded] };
}
