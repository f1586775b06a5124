// Decides which endpoint is tried after one has failed (docs/outcomes.md#faults-of-a-provider).
import type { Endpoint } from '../../../catalog/index.ts';
import { mayFollow } from '../../../routing/index.ts';
import type { UpstreamFault } from '../../canonical/types.ts';
import type { CallDeps } from '../types.ts';
import { effectiveClass, isOfRequest } from './outcome.ts';
import type { AttemptTerms, Planned } from './terms.ts';

type Keys = Pick<CallDeps, 'credentials' | 'provider' | 'own_keys' | 'clock'>;

/**
 * Milliseconds until the caller's own key, or otherwise one of the pool, can be used at `endpoint` again; 0: one can
 * be used now.
 */
export function throttleMs(deps: Keys, endpoint: Endpoint, now_ms: number): number {
  if (endpoint.own_key !== undefined) return deps.own_keys.restMs(endpoint, now_ms);
  if (endpoint.wire.in_process) return 0;
  return deps.credentials.throttleMs(endpoint, deps.provider, now_ms);
}

/** Faults that concern the account, not the endpoint. */
const KEY_FAULTS: ReadonlySet<string> = new Set(['auth', 'quota']);

/** Faults that another key of the same pool may not have. */
const OTHER_KEY_HELPS: ReadonlySet<string> = new Set([...KEY_FAULTS, 'rate_limit']);

function isSameKey({ own_key: a }: Endpoint, { own_key: b }: Endpoint): boolean {
  return a !== undefined && a.id === b?.id;
}

/**
 * Index in the plan of the endpoint to try after the one at `at` ended with the last of `faults`; null: none may be
 * tried. `raw` is the lane of the failed attempt: a client fault in the canonical lane permits one more endpoint,
 * because our translation may be at fault. An endpoint whose keys are all resting is skipped when another one is
 * left.
 */
export function nextPlace(
  deps: Keys,
  { plan, failover }: Pick<AttemptTerms, 'plan' | 'failover'>,
  facts: { at: number; raw: boolean; faults: readonly { readonly fault: UpstreamFault }[] },
): number | null {
  const classes = facts.faults.map(({ fault }) => effectiveClass(fault));
  const last = classes.at(-1) as string;
  if (last === 'client' && (facts.raw || classes.indexOf('client') < classes.length - 1)) return null;
  const failed = plan[facts.at]?.endpoint;
  if (failed === undefined) return null;
  return placeAfter(deps, plan, facts.at, (endpoint) => {
    if (!mayFollow(failed, endpoint, last, failover)) return false;
    return !KEY_FAULTS.has(last) || !isSameKey(failed, endpoint);
  });
}

/**
 * The first index after `at` whose endpoint `may` be tried; one whose keys are all resting only if there is no other.
 */
function placeAfter(
  deps: Keys,
  plan: AttemptTerms['plan'],
  at: number,
  may: (endpoint: Endpoint) => boolean,
): number | null {
  const now = deps.clock.nowMs();
  let resting: number | null = null;
  for (const [next, { endpoint }] of plan.entries()) {
    if (next <= at || !may(endpoint)) continue;
    if (throttleMs(deps, endpoint, now) === 0) return next;
    resting ??= next;
  }
  return resting;
}

/** How and where an attempt failed. */
export interface Fault {
  readonly fault: UpstreamFault;
  readonly endpoint: Endpoint;
}

/** The attempts of one call: its position in the plan, what has failed, and what may be tried next. */
export class Tries {
  /** The faults of the attempts so far, in order. */
  readonly faults: Fault[] = [];
  private readonly terms: Pick<AttemptTerms, 'plan' | 'failover' | 'max_attempts'>;
  /** Index in the plan of the current attempt. */
  private at = 0;
  private retried_unsent = false;
  private retried_key = false;

  constructor(terms: Pick<AttemptTerms, 'plan' | 'failover' | 'max_attempts'>) {
    this.terms = terms;
  }

  /** What the current attempt goes to. */
  get planned(): Planned {
    const planned = this.terms.plan[this.at];
    if (planned === undefined) throw new Error('a plan without an endpoint to try');
    return planned;
  }

  /**
   * Records `last` and moves to what is tried next; false: nothing may be. `attempt` says whether the provider may
   * have received the request and whether its lane was raw. Two retries do not count as attempts, once each, because
   * no provider has done any work yet: a request that could not be sent is sent again, and one that was refused for
   * its pool key is sent with another key.
   */
  next(
    deps: Keys,
    last: Fault,
    attempt: { readonly sent: boolean; readonly raw: boolean; readonly made: number },
  ): boolean {
    this.faults.push(last);
    if (last.fault.class === 'network' && !attempt.sent && !this.retried_unsent) {
      this.retried_unsent = true;
      return true;
    }
    // Another key comes last, when no other endpoint is left to try.
    const left = attempt.made < this.terms.max_attempts && !this.retried_key;
    const { at, faults } = this;
    const next = left ? nextPlace(deps, this.terms, { at, raw: attempt.raw, faults }) : null;
    return this.goTo(next ?? this.placeForAnotherKey(deps, last.fault));
  }

  /** Moves to the next endpoint that `takes` the request without what could not be fetched; false: there is none. */
  pass(deps: Keys, made: number, takes: (endpoint: Endpoint) => boolean): boolean {
    const { plan, max_attempts } = this.terms;
    return this.goTo(made < max_attempts ? placeAfter(deps, plan, this.at, takes) : null);
  }

  private goTo(place: number | null): boolean {
    if (place === null) return false;
    this.at = place;
    this.retried_unsent = false;
    return true;
  }

  /**
   * Index of the endpoint that refused a pool key, if it has another key that is not resting. The refused key is
   * resting by now.
   */
  private placeForAnotherKey(deps: Keys, last: UpstreamFault): number | null {
    if (this.retried_key || isOfRequest(last)) return null;
    const refused = this.faults.findLast(({ fault, endpoint }) => {
      if (!OTHER_KEY_HELPS.has(effectiveClass(fault)) || endpoint.own_key !== undefined) return false;
      return (
        !endpoint.wire.in_process && deps.credentials.isRested(deps.provider(endpoint), deps.clock.nowMs())
      );
    });
    const place = this.terms.plan.findIndex(({ endpoint }) => endpoint === refused?.endpoint);
    if (place < 0) return null;
    this.retried_key = true;
    return place;
  }
}
