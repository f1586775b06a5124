// Which endpoint is tried after one has failed (docs/outcomes.md#faults-of-a-provider).
import type { Endpoint } from '../../../catalog/index.ts';
import { mayFollow } from '../../../routing/index.ts';
import type { UpstreamFault } from '../../canonical/types.ts';
import type { CallDeps } from '../types.ts';
import { effectiveClass, isOfRequest } from './outcome.ts';
import type { AttemptTerms, Planned } from './terms.ts';

type Keys = Pick<CallDeps, 'credentials' | 'provider' | 'own_keys' | 'clock'>;

/** Milliseconds until the caller's own key, or else one of the pool, may be used at `endpoint` again; 0: one may now. */
export function throttleMs(deps: Keys, endpoint: Endpoint, now_ms: number): number {
  if (endpoint.own_key !== undefined) return deps.own_keys.restMs(endpoint, now_ms);
  if (endpoint.wire.in_process) return 0;
  return deps.credentials.throttleMs(endpoint, deps.provider, now_ms);
}

/** What a provider says of the account and not of the endpoint. */
const KEY_FAULTS: ReadonlySet<string> = new Set(['auth', 'quota']);

/** Faults that another key of the same pool may not meet. */
const OTHER_KEY_HELPS: ReadonlySet<string> = new Set([...KEY_FAULTS, 'rate_limit']);

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

/** The first place behind `at` whose endpoint `may` be tried, one whose keys all rest where there is no other. */
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

/** What an attempt ended with, and where. */
export interface Fault {
  readonly fault: UpstreamFault;
  readonly endpoint: Endpoint;
}

/** The tries of one call: where it is in its plan, what has failed, and what may be tried again. */
export class Tries {
  /** What the attempts so far ended with, in their order. */
  readonly faults: Fault[] = [];
  private readonly terms: Pick<AttemptTerms, 'plan' | 'failover' | 'max_attempts'>;
  /** Place in the plan of the present attempt. */
  private at = 0;
  private retried_unsent = false;
  private retried_key = false;

  constructor(terms: Pick<AttemptTerms, 'plan' | 'failover' | 'max_attempts'>) {
    this.terms = terms;
  }

  /** What the present attempt goes to. */
  get planned(): Planned {
    const planned = this.terms.plan[this.at];
    if (planned === undefined) throw new Error('a plan without an endpoint to try');
    return planned;
  }

  /**
   * Notes `last` and goes to what is tried after it; false: nothing may be. Of `attempt`: whether the provider may have
   * seen it, and whether its lane was the raw one. Once each beyond all other attempts, because no provider has done
   * anything yet: what could not be sent is sent again, and what a key of the pool was refused comes with another key.
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
    // Another key comes last: behind it there is nothing that was not tried.
    const left = attempt.made < this.terms.max_attempts && !this.retried_key;
    const { at, faults } = this;
    const next = left ? nextPlace(deps, this.terms, { at, raw: attempt.raw, faults }) : null;
    return this.goTo(next ?? this.placeForAnotherKey(deps, last.fault));
  }

  /** Goes to the next endpoint that `takes` the request without what could not be had; false: there is none. */
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

  /** Place of the endpoint that refused a key of the pool, if another one is rested: by now the refused key rests. */
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
