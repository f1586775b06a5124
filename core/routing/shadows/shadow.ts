// Which calls are copied for a shadow (docs/policies.md#shadows), and what of their policy holds for the copy. A hash of
// the request id decides, another one than for canaries and experiments, so that neither says who is copied.
import { sha256 } from '../../kernel/index.ts';
import { type Ruling, SHARES, type ShadowPlan, shadowOf } from '../../policies/index.ts';
import type { RoutePreferences } from '../types.ts';

/** A call that was drawn to be copied. */
export interface DrawnShadow {
  readonly plan: ShadowPlan;
  /** What the policy asks of the call itself. */
  readonly call: Ruling;
  /** What the policy says of the copy. */
  readonly ruling: Ruling;
}

function bucketOf({ policy, version, rule }: Ruling, request_id: string): number {
  return sha256(`shadow\n${policy}\n${version}\n${rule}\n${request_id}`).readUInt32BE(0) % SHARES;
}

/** Everything that protects, and of the rest only that the one endpoint is tried once. */
function ofCopy(ruling: Ruling, { endpoint_id, bill }: ShadowPlan): Ruling {
  const { canary: _c, shadow: _s, experiment: _e, fallback_models: _f, prefer: _p, ...kept } = ruling.actions;
  return {
    ...ruling,
    barred_fallbacks: [],
    actions: {
      ...kept,
      ...{ only: [...kept.only, [endpoint_id]], lock: new Set() },
      ...{ fallbacks: false, max_attempts: 1 },
      affinity: 'off',
      ...(bill === 'platform' ? { byok: 'never' as const } : {}),
    },
  };
}

/** The copy that `ruling` asks of the call `request_id`; null where it asks for none. */
export function drawShadow(ruling: Ruling | null, request_id: string): DrawnShadow | null {
  if (ruling?.actions.shadow === undefined) return null;
  const plan = shadowOf(ruling.actions.shadow);
  if (bucketOf(ruling, request_id) >= plan.share) return null;
  return { plan, call: ruling, ruling: ofCopy(ruling, plan) };
}

/** What of the preferences of a call holds for its copy: what protects, and how long the caller lets an attempt take. */
export function preferencesOfCopy(own: RoutePreferences, { plan }: DrawnShadow): RoutePreferences {
  const { require, data_policy, providers, endpoints, byok, timeouts } = own;
  const filters = (lists: RoutePreferences['providers']) => {
    const { order: _, ...rest } = lists ?? {};
    return rest;
  };
  return {
    ...{ providers: filters(providers), endpoints: filters(endpoints) },
    ...(require === undefined ? {} : { require }),
    ...(data_policy === undefined ? {} : { data_policy }),
    ...(byok === undefined || plan.bill === 'platform' ? {} : { byok }),
    ...(timeouts === undefined ? {} : { timeouts }),
    affinity: 'off',
  };
}
