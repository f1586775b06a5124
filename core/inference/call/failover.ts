// Which endpoint is tried after one has failed (decisions 4.6 table 2, policy `failover.on`).
import type { Endpoint } from '../../catalog/index.ts';
import { nowMs } from '../../kernel/index.ts';
import { mayFollow } from '../../routing/index.ts';
import type { UpstreamFault } from '../canonical/types.ts';
import type { Admitted } from './admit.ts';
import { effectiveClass } from './outcome.ts';
import type { CallDeps } from './types.ts';

type Keys = Pick<CallDeps, 'credentials' | 'provider' | 'own_keys'>;

/** Milliseconds until the caller's own key, or else one of the pool, may be used at `endpoint` again; 0: one may now. */
export function throttleMs(deps: Keys, endpoint: Endpoint, now_ms: number): number {
  if (endpoint.own_key !== undefined) return deps.own_keys.restMs(endpoint, now_ms);
  if (endpoint.family === 'sandbox') return 0;
  return deps.credentials.throttleMs(endpoint, deps.provider, now_ms);
}

/** What a provider says of the account and not of the endpoint. */
const KEY_FAULTS: ReadonlySet<string> = new Set(['auth', 'quota']);

function isSameKey({ own_key: a }: Endpoint, { own_key: b }: Endpoint): boolean {
  return a !== undefined && a.id === b?.id;
}

/**
 * Place in the plan of the endpoint to try after the one at `at` ended with the last of `faults`; null: none may be
 * tried. `raw` is the lane of the failed attempt: a client fault in the canonical one gets one more endpoint, because
 * our translation may be at fault. An endpoint whose keys all rest is passed over where another one is left.
 */
export function nextPlace(
  deps: Keys,
  { plan, failover }: Pick<Admitted, 'plan' | 'failover'>,
  facts: { at: number; raw: boolean; faults: readonly { readonly fault: UpstreamFault }[] },
): number | null {
  const classes = facts.faults.map(({ fault }) => effectiveClass(fault));
  const last = classes.at(-1) as string;
  if (last === 'client' && (facts.raw || classes.indexOf('client') < classes.length - 1)) return null;
  const failed = plan[facts.at]?.endpoint as Endpoint;
  const now = nowMs();
  let resting: number | null = null;
  for (let next = facts.at + 1; next < plan.length; next++) {
    const endpoint = plan[next]?.endpoint as Endpoint;
    if (!mayFollow(failed, endpoint, last, failover)) continue;
    if (KEY_FAULTS.has(last) && isSameKey(failed, endpoint)) continue;
    if (throttleMs(deps, endpoint, now) === 0) return next;
    resting ??= next;
  }
  return resting;
}
