// What a request loses on an endpoint, with the member names of the caller's dialect.
import type { Endpoint } from '../../../catalog/index.ts';
import type { RouteLoss } from '../../../routing/index.ts';
import type { CanonicalRequest, Warning } from '../../canonical/types.ts';
import type { CallDeps } from '../types.ts';
import { targetOf } from './lane.ts';
import { callersPath } from './places.ts';

/**
 * The losses of `request` on `endpoint`. In the raw lane only what the endpoint itself does not support is a loss.
 */
export function lossesOf(
  deps: CallDeps,
  request: CanonicalRequest,
  endpoint: Endpoint,
): readonly RouteLoss[] {
  const losses = deps.adapters.get(endpoint.family)?.losses(request, targetOf(endpoint)) ?? [];
  if (request.paths === undefined || losses.length === 0) return losses;
  return losses.map((loss) => ({ ...loss, param: callersPath(request, loss.param) }));
}

/** Warnings for what `request` loses on `endpoint`; `losses` when they are already known. */
export function lostOn(
  deps: CallDeps,
  request: CanonicalRequest,
  endpoint: Endpoint,
  losses: readonly RouteLoss[] = lossesOf(deps, request, endpoint),
): Warning[] {
  // `drop` silently drops hints and behaviour, but never content.
  const reported = request.svc.compat === 'drop' ? losses.filter((loss) => loss.class === 'content') : losses;
  return reported.map(({ code, param, message }) => ({ code, param, message }));
}
