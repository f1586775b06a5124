// Shadows: copies of calls that are made after the caller has its answer, for another endpoint (docs/policies.md#shadows).
// A copy is a call like any other, with its own hold and row, and nobody reads it. Whatever becomes of it, the caller's
// call has ended before it begins.
import { type Log, newRequestId } from '../../../kernel/index.ts';
import type { Grant } from '../../../keys/index.ts';
import { isRefusal, type LimitRefusal, type LimitSlot } from '../../../limits/index.ts';
import type { ShadowDay } from '../../../policies/index.ts';
import type { DrawnShadow } from '../../../routing/index.ts';
import { RESTARTING } from '../attempt/outcome.ts';
import { Admitting } from '../stages/admitting.ts';
import { Call } from '../stages/call.ts';
import type { CallDeps, CallRecord, Incoming, KeptCopy, ShadowOf, Shadows, Sink } from '../types.ts';
import { type AllowanceBook, allowanceLedgers } from './allowance-ledger.ts';

/** Copies that one process keeps or has under way, and the bytes of their bodies together. */
const COPIES_MAX = 32;
const BYTES_MAX = 33_554_432;
/** Days that are known to be used up; they are forgotten all at once. */
const FULL_MAX = 10_000;

/**
 * What became of a drawn call: `crowded`: too many copies; `unanswered`: the call itself failed or was left; `day_full`;
 * `limited` by the rates of key or plan; `refused` before an attempt, as without balance; `stopped` with the process.
 */
type Outcome =
  | 'answered'
  | 'failed'
  | 'crowded'
  | 'unanswered'
  | 'day_full'
  | 'limited'
  | 'refused'
  | 'stopped'
  | 'broken';

/** What of shadows is decided over all gateways. */
interface ShadowBooks extends AllowanceBook {
  /** Counts one more copy of the day; false where there were `max` already. */
  take(shadow: ShadowDay, max: number): Promise<boolean>;
  giveBack(shadow: ShadowDay): Promise<void>;
}

interface ShadowParts {
  readonly books: ShadowBooks;
  readonly log: Log;
  /** Asks for a place under the limits of key and plan. */
  enter(grant: Grant): LimitSlot | LimitRefusal | Promise<LimitSlot | LimitRefusal>;
}

/** Where the platform pays, no limit of the key applies. */
const NO_LIMITS: LimitSlot = {
  gauges: { requests: null, tokens: null },
  weigh() {},
  spend: () => null,
  settle() {},
  leave() {},
};

/** What a client says of its own connection and of its retries; a copy has none of it. */
const OWN_HEADERS = /^(?:idempotency-key|x-stainless-.*|traceparent|tracestate|x-svc-debug)$/;

/** Reads everything, and keeps nothing. */
class Nobody implements Sink {
  readonly gone = false;
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  head(): void {}
  write(): boolean {
    return true;
  }
  end(): void {}
  destroy(): void {}
}

class Copy implements KeptCopy {
  private readonly shadows: ProcessShadows;
  private readonly deps: CallDeps;
  private readonly incoming: Incoming;
  private readonly drawn: DrawnShadow;
  private counted: ShadowDay | null = null;

  constructor(shadows: ProcessShadows, deps: CallDeps, incoming: Incoming, drawn: DrawnShadow) {
    this.shadows = shadows;
    this.deps = deps;
    this.incoming = incoming;
    this.drawn = drawn;
  }

  ended(primary: CallRecord): void {
    if (primary.status !== 'ok' || primary.endpoint === null) return this.over('unanswered');
    const of: ShadowOf = {
      of: primary.request_id,
      drawn: this.drawn,
      primary: {
        endpoint_id: primary.endpoint.id,
        cost_micro_usd: primary.cost?.total_micro_usd ?? 0,
        ttft_ms: primary.upstream_ttft_ms,
        stop: primary.stop?.reason ?? '',
      },
    };
    // After what the answer's last bytes still do in this turn.
    setImmediate(() => {
      this.make(of).catch((error: unknown) => {
        this.shadows.parts.log.warn({ request_id: of.of, error }, 'a shadow could not be made');
        this.giveBack();
        this.over('broken');
      });
    });
  }

  private async make(of: ShadowOf): Promise<void> {
    const { parts } = this.shadows;
    const refused = await this.count();
    if (refused !== null) return this.over(refused);
    const { grant } = this.incoming;
    const { bill } = this.drawn.plan;
    const place = bill === 'platform' ? NO_LIMITS : await parts.enter(grant);
    if (isRefusal(place)) {
      this.giveBack();
      return this.over('limited');
    }
    if (this.shadows.stopped) {
      place.leave();
      this.giveBack();
      return this.over('stopped');
    }
    this.start(of, place);
  }

  /** Counts the copy for its day; the outcome that it has instead of being made, or null. */
  private async count(): Promise<Outcome | null> {
    const { shadows, incoming, drawn, deps } = this;
    if (shadows.stopped) return 'stopped';
    const { max_per_day } = drawn.plan;
    if (max_per_day === null) return null;
    const counted = countedOf(incoming, drawn, deps.clock.nowMs());
    if (!(await shadows.parts.books.take(counted, max_per_day))) {
      shadows.full(counted, max_per_day);
      return 'day_full';
    }
    this.counted = counted;
    return null;
  }

  private giveBack(): void {
    const { counted } = this;
    if (counted === null) return;
    this.counted = null;
    const { books, log } = this.shadows.parts;
    books.giveBack(counted).catch((error: unknown) => log.warn({ error }, 'a shadow stays counted'));
  }

  private start(of: ShadowOf, place: LimitSlot): void {
    const { deps, incoming, drawn, shadows } = this;
    const { bill } = drawn.plan;
    const named = Object.entries(incoming.headers).filter(([name]) => !OWN_HEADERS.test(name));
    const copy: Incoming = {
      ...incoming,
      ...{ request_id: newRequestId(), headers: Object.fromEntries(named), secret: '', place, shadow: of },
    };
    let call: Call | null = null;
    const own: CallDeps = {
      ...deps,
      ...(bill === 'platform'
        ? { ledgers: allowanceLedgers(shadows.parts.books, incoming.grant.org_id, deps) }
        : {}),
      record: (record) => {
        if (call !== null) shadows.running.delete(call);
        this.recorded(record, bill);
      },
    };
    call = new Call(own, copy, new Nobody());
    shadows.running.add(call);
    void new Admitting(call, copy).begin();
  }

  private recorded(record: CallRecord, bill: DrawnShadow['plan']['bill']): void {
    // What the platform paid is in its books.
    if (bill === 'platform') record.charged_micro_usd = 0;
    if (record.status === 'rejected') this.giveBack();
    this.over(outcomeOf(record));
    this.deps.record(record);
  }

  private over(outcome: Outcome): void {
    this.shadows.over(this.incoming.body.length, outcome);
  }
}

function outcomeOf({ status, error_code }: CallRecord): Outcome {
  if (status === 'ok') return 'answered';
  if (status === 'rejected') return error_code === 'rate_limit_exceeded' ? 'limited' : 'refused';
  return error_code === RESTARTING.code ? 'stopped' : 'failed';
}

function countedOf({ grant }: Incoming, { plan, ruling }: DrawnShadow, now_ms: number): ShadowDay {
  const { org_id, environment } = grant;
  return { org_id, environment, name: ruling.policy, endpoint_id: plan.endpoint_id, at: new Date(now_ms) };
}

function dayKey({ org_id, environment, name, endpoint_id, at }: ShadowDay, max: number): string {
  return `${org_id} ${environment} ${name} ${endpoint_id} ${at.toISOString().slice(0, 10)} ${max}`;
}

class ProcessShadows implements Shadows {
  readonly parts: ShadowParts;
  readonly running = new Set<Call>();
  readonly outcomes = new Map<Outcome, number>();
  stopped = false;
  size = 0;
  private bytes = 0;
  private readonly days = new Set<string>();

  constructor(parts: ShadowParts) {
    this.parts = parts;
  }

  keep(deps: CallDeps, incoming: Incoming, drawn: DrawnShadow): KeptCopy | null {
    const { max_per_day } = drawn.plan;
    const counted = countedOf(incoming, drawn, deps.clock.nowMs());
    if (max_per_day !== null && this.days.has(dayKey(counted, max_per_day))) return this.left('day_full');
    const { length } = incoming.body;
    if (this.stopped) return this.left('stopped');
    if (this.size >= COPIES_MAX || this.bytes + length > BYTES_MAX) return this.left('crowded');
    this.size++;
    this.bytes += length;
    return new Copy(this, deps, incoming, drawn);
  }

  /** Ends the copies under way: their holds are released, and nobody waits for them. */
  stop(): void {
    this.stopped = true;
    for (const call of [...this.running]) call.shutDown();
  }

  over(bytes: number, outcome: Outcome): void {
    this.size--;
    this.bytes -= bytes;
    this.tell(outcome);
  }

  /** From now on nothing more is asked about that day. */
  full(counted: ShadowDay, max: number): void {
    if (this.days.size >= FULL_MAX) this.days.clear();
    this.days.add(dayKey(counted, max));
  }

  private left(outcome: Outcome): null {
    this.tell(outcome);
    return null;
  }

  private tell(outcome: Outcome): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}

/** The shadows of a process. */
export function createShadows(parts: ShadowParts): Shadows {
  return new ProcessShadows(parts);
}
