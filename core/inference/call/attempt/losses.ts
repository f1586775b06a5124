// What an endpoint cannot take of a request, in the words of the dialect that the caller wrote.
import type { Endpoint } from '../../../catalog/index.ts';
import type { RouteLoss } from '../../../routing/index.ts';
import type { CanonicalRequest, Warning } from '../../canonical/types.ts';
import type { CallDeps } from '../types.ts';
import { targetOf } from './lane.ts';
import { callersPath } from './places.ts';

/** Adapters know of the dialect: in the raw lane only what the endpoint itself refuses is a loss. */
export function lossesOf(
  deps: CallDeps,
  request: CanonicalRequest,
  endpoint: Endpoint,
): readonly RouteLoss[] {
  const losses = deps.adapters.get(endpoint.family)?.losses(request, targetOf(endpoint)) ?? [];
  if (request.paths === undefined || losses.length === 0) return losses;
  return losses.map((loss) => ({ ...loss, param: callersPath(request, loss.param) }));
}

/** Warnings of what is lost of `request` on `endpoint`; `losses` where they are known. */
export function lostOn(
  deps: CallDeps,
  request: CanonicalRequest,
  endpoint: Endpoint,
  losses: readonly RouteLoss[] = lossesOf(deps, request, endpoint),
): Warning[] {
  // `drop` takes hints and preferences away in silence, but never what the caller said.
  const reported = request.svc.compat === 'drop' ? losses.filter((loss) => loss.class === 'content') : losses;
  return reported.map(({ code, param, message }) => ({ code, param, message }));
}
