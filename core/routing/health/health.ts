// What a process has seen of each endpoint: circuits, latency, throughput, success. In memory and of this process
// alone: a stale figure of another process would be worse than a fresh one of one's own.

import { type Circuit, Circuits, type Viewer } from './circuit.ts';

const BUCKET_MS = 5_000;
const BUCKETS = 60;
const SAMPLES = 128;
const WINDOW_MS = BUCKET_MS * BUCKETS;
/** So many answers without usage within an hour flag an endpoint. */
const UNMETERED_MAX = 3;
const UNMETERED_WITHIN_MS = 3_600_000;
/** An endpoint whose provider did not know its model stands as one that always fails for so long. */
const MISSING_MS = 600_000;
/** Fewer tokens than this measure framing, not speed. */
const TOKENS_MIN = 16;

/** Faults that are due to the request, not to the endpoint. */
const callersFaults: ReadonlySet<string> = new Set([
  'client',
  'content_filter',
  'context_length',
  'too_large',
]);

/** An endpoint rests no longer than this, whatever it asks for: one odd answer must not take it from everybody. */
const REST_MAX_MS = 60_000;

/** Faults that may lie in how the caller's API is carried, and say nothing of other APIs. */
const shapeFaults: ReadonlySet<string> = new Set(['protocol']);

/** All that the choice asks of one endpoint, in one look; valid until the next. */
export interface Figures {
  readonly circuit: Circuit;
  /** Until a probe may pass; 0 where the circuit is not open. */
  readonly circuit_ms: number;
  /** Until it takes calls again, as it asked; 0: it does. */
  readonly rest_ms: number;
  readonly success: number | null;
  readonly ttft_ms: number | null;
  readonly tokens_per_s: number | null;
}

/** What the choice reads; null where nothing was seen in the last five minutes. */
export interface HealthView {
  /** null: nothing was ever seen of it. */
  figures(endpoint_id: string, now_ms: number): Figures | null;
  /** `half_open`: one probe may pass; while it is under way the circuit reads `open`. */
  circuit(endpoint_id: string, now_ms: number): Circuit;
}

interface Success {
  /** null for whole answers, which have no first token. */
  readonly ttft_ms: number | null;
  readonly duration_ms: number;
  readonly output_tokens: number;
}

export interface Health {
  /** As the calls of `viewer` see it. */
  seenBy(viewer: Viewer): HealthView;
  succeeded(endpoint_id: string, viewer: Viewer, facts: Success, now_ms: number): void;
  /** An attempt failed with a fault of class `fault_class`; the caller's own faults count for nothing, but end a probe. */
  failed(endpoint_id: string, viewer: Viewer, fault_class: string, now_ms: number): void;
  /** The endpoint asked to be left alone for `ms` (`retry-after` of an overloaded one): at most a minute. */
  rest(endpoint_id: string, ms: number, now_ms: number): void;
  /**
   * A complete answer had no usage that can be believed. True when this one flags the endpoint: the third within an
   * hour, once for as long as the flag stands.
   */
  unmetered(endpoint_id: string, now_ms: number): boolean;
  /** Ids of the endpoints whose last three answers without usage came within an hour, the first not an hour ago. */
  flagged(now_ms: number): string[];
  /**
   * The provider does not know the endpoint's model: until it answers again, or for ten minutes, it stands behind all
   * others. True once for as long as that goes on, and again after ten minutes: somebody should hear of it.
   */
  missing(endpoint_id: string, now_ms: number): boolean;
  /** Ids of the endpoints whose provider did not know their model, the last time not ten minutes ago. */
  withoutModel(now_ms: number): string[];
  /** Endpoints with an open or half-open circuit, and for whom it is open: everybody, or so many organizations. */
  open(): { readonly endpoint_id: string; readonly everybody: boolean; readonly orgs: number }[];
  /** Ids of the endpoints that asked to be left alone for now. */
  resting(now_ms: number): string[];
  /** Takes the probe of a half-open circuit; given back when its result comes, or after 15 s. */
  probe(endpoint_id: string, viewer: Viewer, now_ms: number): void;
}

const NO_VALUES = new Float64Array(0);

/** The latest samples of one figure; percentiles are worked out at most once a second, and only where they changed. */
class Samples {
  private readonly times: number[] = [];
  private readonly samples: number[] = [];
  private next = 0;
  private sorted: Float64Array = NO_VALUES;
  private sorted_at = Number.NEGATIVE_INFINITY;
  private changed = false;
  /** When the oldest of `sorted` leaves the window. */
  private stale_at = Number.POSITIVE_INFINITY;

  add(value: number, now_ms: number): void {
    this.times[this.next] = now_ms;
    this.samples[this.next] = value;
    this.next = (this.next + 1) % SAMPLES;
    this.changed = true;
  }

  /** When `values` may next change without a new sample, or with the latest ones. */
  get holds_until(): number {
    return this.changed ? this.sorted_at + 1_000 : this.stale_at;
  }

  /** Values of the window, ascending. */
  values(now_ms: number): Float64Array {
    if (!this.changed && now_ms < this.stale_at) return this.sorted;
    if (Math.abs(now_ms - this.sorted_at) < 1_000) return this.sorted;
    let oldest = Number.POSITIVE_INFINITY;
    const young = this.samples.filter((_, i) => {
      const at = this.times[i] as number;
      if (at <= now_ms - WINDOW_MS) return false;
      if (at < oldest) oldest = at;
      return true;
    });
    this.sorted = Float64Array.from(young).sort();
    this.sorted_at = now_ms;
    this.stale_at = oldest + WINDOW_MS;
    this.changed = false;
    return this.sorted;
  }
}

function quantile(values: Float64Array, share: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] as number;
}

function median(values: Float64Array | undefined): number | null {
  return values === undefined || values.length === 0 ? null : quantile(values, 0.5);
}

class EndpointHealth {
  readonly ttft = new Samples();
  readonly speed = new Samples();
  private readonly ok = new Float64Array(BUCKETS);
  private readonly bad = new Float64Array(BUCKETS);
  /** Number of the bucket that each place holds; an older number is an empty bucket. */
  private readonly stamp = new Float64Array(BUCKETS).fill(-1);
  /** Times of the last answers without usage, oldest first. */
  private readonly missing: number[] = [];
  readonly circuits = new Circuits();
  private rest_until = 0;
  private missing_until = 0;
  private missing_reported_until = 0;
  /** Share of successes as of the bucket `share_of`. */
  private share: number | null = null;
  private share_of = -1;
  /** `seen` holds from here until there: to work all of it out anew would be most of a decision. */
  private seen_from = 0;
  private seen_until = 0;
  /** What `figures` gives out: one object, so that a decision over many endpoints makes none. */
  private readonly seen = {
    circuit: 'closed' as Circuit,
    circuit_ms: 0,
    rest_ms: 0,
    success: null as number | null,
    ttft_ms: null as number | null,
    tokens_per_s: null as number | null,
  };

  private place(now_ms: number): number {
    const bucket = Math.floor(now_ms / BUCKET_MS);
    const at = bucket % BUCKETS;
    if (this.stamp[at] !== bucket) {
      this.stamp[at] = bucket;
      this.ok[at] = 0;
      this.bad[at] = 0;
    }
    return at;
  }

  counts(now_ms: number, buckets: number): { ok: number; bad: number } {
    const last = Math.floor(now_ms / BUCKET_MS);
    let ok = 0;
    let bad = 0;
    for (let bucket = last - buckets + 1; bucket <= last; bucket++) {
      const at = ((bucket % BUCKETS) + BUCKETS) % BUCKETS;
      if (this.stamp[at] !== bucket) continue;
      ok += this.ok[at] as number;
      bad += this.bad[at] as number;
    }
    return { ok, bad };
  }

  success(now_ms: number): number | null {
    if (now_ms < this.missing_until) return 0;
    const bucket = Math.floor(now_ms / BUCKET_MS);
    if (this.share_of !== bucket) {
      const { ok, bad } = this.counts(now_ms, BUCKETS);
      this.share = ok + bad === 0 ? null : ok / (ok + bad);
      this.share_of = bucket;
    }
    return this.share;
  }

  figures(viewer: Viewer, now_ms: number): Figures {
    const { seen, circuits } = this;
    if (now_ms < this.seen_until && now_ms >= this.seen_from) return seen;
    seen.circuit = circuits.state(viewer, now_ms);
    seen.circuit_ms = seen.circuit === 'open' ? circuits.closedFor(viewer, now_ms) : 0;
    seen.rest_ms = Math.max(0, this.rest_until - now_ms);
    seen.success = this.success(now_ms);
    seen.ttft_ms = median(this.ttft.values(now_ms));
    seen.tokens_per_s = median(this.speed.values(now_ms));
    const moving = !circuits.isCalm || seen.rest_ms > 0 || now_ms < this.missing_until;
    const bucket_end = (this.share_of + 1) * BUCKET_MS;
    this.seen_from = now_ms;
    this.seen_until = moving ? 0 : Math.min(bucket_end, this.ttft.holds_until, this.speed.holds_until);
    return seen;
  }

  rest(ms: number, now_ms: number): void {
    if (!(ms > 0)) return;
    this.seen_until = 0;
    this.rest_until = Math.max(this.rest_until, now_ms + Math.min(ms, REST_MAX_MS));
  }

  rests(now_ms: number): boolean {
    return now_ms < this.rest_until;
  }

  succeeded(viewer: Viewer, now_ms: number): void {
    this.ok[this.place(now_ms)]! += 1;
    this.share_of = -1;
    this.seen_until = 0;
    this.circuits.succeeded(viewer, now_ms);
    this.missing_until = 0;
  }

  failed(viewer: Viewer, fault_class: string, now_ms: number): void {
    this.bad[this.place(now_ms)]! += 1;
    this.share_of = -1;
    this.seen_until = 0;
    this.circuits.failed(viewer, now_ms, { shape: shapeFaults.has(fault_class) });
  }

  modelMissing(now_ms: number): boolean {
    this.seen_until = 0;
    this.missing_until = now_ms + MISSING_MS;
    if (now_ms < this.missing_reported_until) return false;
    this.missing_reported_until = now_ms + MISSING_MS;
    return true;
  }

  hasNoModel(now_ms: number): boolean {
    return now_ms < this.missing_until;
  }

  unmetered(now_ms: number): boolean {
    const before = this.flagged(now_ms);
    this.missing.push(now_ms);
    if (this.missing.length > UNMETERED_MAX) this.missing.shift();
    return !before && this.flagged(now_ms);
  }

  flagged(now_ms: number): boolean {
    const [first] = this.missing;
    const enough = this.missing.length === UNMETERED_MAX;
    return enough && first !== undefined && now_ms - first < UNMETERED_WITHIN_MS;
  }
}

/** For whom the circuit of an endpoint is open or half open. */
export type OpenFor = 'nobody' | 'some organizations' | 'everybody';

/**
 * The health of all endpoints as this process sees it; what is open for whom: `Circuits`. `changed` hears when a circuit
 * opens, widens, narrows and closes.
 */
export function createHealth(changed?: (endpoint_id: string, open_for: OpenFor) => void): Health {
  const endpoints = new Map<string, EndpointHealth>();
  /** Endpoints whose circuit `changed` heard of last as open. */
  const reported = new Map<string, OpenFor>();
  const report = (id: string, { circuits }: EndpointHealth) => {
    const { everybody, orgs } = circuits.openFor();
    const some = orgs > 0 ? 'some organizations' : 'nobody';
    const open_for = everybody ? 'everybody' : some;
    if (open_for === (reported.get(id) ?? 'nobody')) return;
    if (open_for === 'nobody') reported.delete(id);
    else reported.set(id, open_for);
    changed?.(id, open_for);
  };
  const of = (id: string): EndpointHealth => {
    let found = endpoints.get(id);
    if (found === undefined) {
      found = new EndpointHealth();
      endpoints.set(id, found);
    }
    return found;
  };
  return {
    seenBy: (viewer) => ({
      circuit: (id, now_ms) => endpoints.get(id)?.circuits.state(viewer, now_ms) ?? 'closed',
      figures: (id, now_ms) => endpoints.get(id)?.figures(viewer, now_ms) ?? null,
    }),
    succeeded(id, viewer, facts, now_ms) {
      const endpoint = of(id);
      endpoint.succeeded(viewer, now_ms);
      if (reported.has(id)) report(id, endpoint);
      if (facts.ttft_ms !== null) endpoint.ttft.add(facts.ttft_ms, now_ms);
      const writing_ms = facts.duration_ms - (facts.ttft_ms ?? 0);
      if (facts.output_tokens >= TOKENS_MIN && writing_ms > 0) {
        endpoint.speed.add((facts.output_tokens * 1000) / writing_ms, now_ms);
      }
    },
    failed(id, viewer, fault_class, now_ms) {
      if (callersFaults.has(fault_class)) endpoints.get(id)?.circuits.refused(viewer);
      else {
        const endpoint = of(id);
        endpoint.failed(viewer, fault_class, now_ms);
        if (!endpoint.circuits.isCalm || reported.has(id)) report(id, endpoint);
      }
    },
    rest: (id, ms, now_ms) => of(id).rest(ms, now_ms),
    unmetered: (id, now_ms) => of(id).unmetered(now_ms),
    flagged: (now_ms) => [...endpoints].filter(([, health]) => health.flagged(now_ms)).map(([id]) => id),
    missing: (id, now_ms) => of(id).modelMissing(now_ms),
    withoutModel: (now_ms) =>
      [...endpoints].filter(([, health]) => health.hasNoModel(now_ms)).map(([id]) => id),
    open: () =>
      [...endpoints].flatMap(([endpoint_id, { circuits }]) =>
        circuits.isCalm ? [] : [{ endpoint_id, ...circuits.openFor() }],
      ),
    resting: (now_ms) => [...endpoints].filter(([, health]) => health.rests(now_ms)).map(([id]) => id),
    probe: (id, viewer, now_ms) => of(id).circuits.probe(viewer, now_ms),
  };
}
