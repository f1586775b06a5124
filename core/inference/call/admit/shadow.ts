// Copies of calls for shadows (docs/policies.md#shadows): which calls are copied, and what a copy asks.
import type { Catalog } from '../../../catalog/index.ts';
import { ServiceError } from '../../../kernel/index.ts';
import { protectsAsMuch, type Ruling } from '../../../policies/index.ts';
import { type DrawnShadow, drawShadow, preferencesOfCopy } from '../../../routing/index.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';
import type { Incoming, ShadowOf } from '../types.ts';
import type { Account } from './own-key.ts';

/** Tag of a copy's row: the call that was copied. */
const TAG = 'shadow_of';

/**
 * The copy that `ruling` asks of a call. Not copied are copies, calls of a run, which has a budget of its own, and
 * requests that do something where they are sent: tools that the provider runs, and what names the caller's account.
 */
export function shadowOf(
  incoming: Incoming,
  ruling: Ruling,
  request: CanonicalRequest,
  account: Account | null,
): DrawnShadow | null {
  if (ruling.actions.shadow === undefined) return null;
  if (incoming.shadow !== undefined || incoming.cost_cap_micro_usd != null || account !== null) return null;
  if (request.tools?.some(({ kind }) => kind === 'server') === true) return null;
  return drawShadow(ruling, incoming.request_id);
}

/** `request`, or where it is a copy what a copy asks: the model of the shadow's endpoint, under what protects the call. */
export function copied(
  request: CanonicalRequest,
  { shadow }: Pick<Incoming, 'shadow'>,
  catalog: Catalog,
): CanonicalRequest {
  if (shadow === undefined) return request;
  const { of, drawn } = shadow;
  const { svc } = request;
  // An endpoint that has left the catalog has no model: the copy is refused as any call of an unknown one.
  const model = catalog.endpoints.get(drawn.plan.endpoint_id)?.model_id ?? drawn.plan.endpoint_id;
  return {
    ...request,
    model,
    svc: { ...svc, route: preferencesOfCopy(svc.route, drawn), metadata: { ...svc.metadata, [TAG]: of } },
  };
}

/**
 * What rules a copy: what its call's policy says of copies. `ruled` is what would rule a call of the copy's own model now.
 * @throws ServiceError policy_denied where that asks for more, so that a copy slips past no rule about its model.
 */
export function rulingOfCopy({ drawn }: ShadowOf, ruled: Ruling | null): Ruling {
  if (ruled === null) return drawn.ruling;
  if (ruled.deny === null && protectsAsMuch(drawn.call.actions, ruled.actions)) return drawn.ruling;
  throw new ServiceError('policy_denied', 'The routing policy asks more of the model of its shadow.');
}
