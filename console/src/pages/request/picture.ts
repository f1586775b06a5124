// The route of a call as a picture: a track per endpoint, its attempts as bars over one axis of time. Pure.
import type { AttemptFact, CallFacts, EndpointFact } from './explain.ts';

/**
 * What a stretch of an attempt was: `wait` for the first token, `stream` to the caller, `after` it had left, `failed`
 * without a token, `broken` once tokens had come.
 */
export type Stretch = 'wait' | 'stream' | 'after' | 'failed' | 'broken';

export interface Bar {
  /** From 1, over the whole call. */
  readonly number: number;
  readonly attempt: AttemptFact;
  /** Milliseconds from the beginning of the call at which the caller left during this attempt. */
  readonly left_ms: number | null;
  /** In their order, as shares of the axis, 0..1. */
  readonly stretches: readonly { readonly what: Stretch; readonly from: number; readonly width: number }[];
}
export interface Track {
  readonly fact: EndpointFact;
  readonly bars: readonly Bar[];
}

/** Endpoints that are told together: those of one reason, or the rest of the plan (null). */
export interface Fold {
  readonly reason: string | null;
  readonly facts: readonly EndpointFact[];
}
interface Picture {
  readonly tracks: readonly Track[];
  readonly folds: readonly Fold[];
  /** Milliseconds at the end of the axis, and its ticks; none where nothing was tried. */
  readonly end_ms: number;
  readonly ticks: readonly number[];
}

/** More endpoints than these that took no part are told together. */
const SPARE_MAX = 3;
const EXCLUDED_MAX = 6;

/** A round number of milliseconds that covers `ms`: 1, 2 or 5 × 10ⁿ, cut into 4 or 5 steps. */
export function axisEnd(ms: number): { end_ms: number; ticks: number[] } {
  const power = 10 ** Math.floor(Math.log10(Math.max(ms, 1)));
  const end = [1, 2, 4, 5, 10].map((n) => n * power).find((n) => n >= ms) ?? 10 * power;
  const parts = end / power === 1 || end / power === 5 || end / power === 10 ? 5 : 4;
  return { end_ms: end, ticks: Array.from({ length: parts + 1 }, (_, i) => (end / parts) * i) };
}

interface Scale {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly left_ms: number | null;
}

function barOf(attempt: AttemptFact, number: number, { start_ms, end_ms, left_ms }: Scale): Bar {
  const duration = attempt.duration_ms ?? attempt.ttft_ms ?? 0;
  const begin = Math.max(0, attempt.at_ms - start_ms);
  const first = begin + Math.min(attempt.ttft_ms ?? duration, duration);
  const end = begin + duration;
  const failed = !attempt.ok && !attempt.cancelled;
  // The leaving ends a cancelled attempt, a moment before it is noted.
  const noted = left_ms === null || failed || left_ms < begin ? null : left_ms;
  const left = noted !== null && noted > end && !attempt.cancelled ? null : noted && Math.min(noted, end);
  const pieces: [Stretch, number, number][] = failed
    ? [
        [attempt.ttft_ms === null ? 'failed' : 'wait', begin, first],
        ['broken', first, end],
      ]
    : [
        ['wait', begin, Math.min(first, left ?? first)],
        ['stream', first, Math.min(end, left ?? end)],
        ['after', left ?? end, end],
      ];
  const stretches = pieces
    .filter(([, from, to], i) => to > from || (i === 0 && duration === 0))
    .map(([what, from, to]) => ({ what, from: from / end_ms, width: (to - from) / end_ms }));
  return { number, attempt, left_ms: left, stretches };
}

/** Attempts at endpoints that the route does not name: an older catalog, or a plan that was not kept. */
function unnamed({ endpoints, attempts }: CallFacts): EndpointFact[] {
  const seen = new Set(endpoints.map(({ endpoint }) => endpoint));
  return attempts.flatMap(({ endpoint, provider }) => {
    if (seen.has(endpoint)) return [];
    seen.add(endpoint);
    return [{ endpoint, provider, region: null, score: null, planned_at: null, excluded_by: null }];
  });
}

/** Many endpoints that took no part: the rest of the plan first, then each reason in the order of the filters. */
function foldsOf(spare: readonly EndpointFact[], excluded: readonly EndpointFact[]): Fold[] {
  const folds: Fold[] = spare.length > 0 ? [{ reason: null, facts: spare }] : [];
  for (const reason of new Set(excluded.map(({ excluded_by }) => excluded_by))) {
    folds.push({ reason, facts: excluded.filter(({ excluded_by }) => excluded_by === reason) });
  }
  return folds;
}

/**
 * One track per endpoint: planned ones in their order, attempts elsewhere, then the excluded. Where many took no part
 * they are told together, unless `all`.
 */
export function picture(call: CallFacts, all = false): Picture {
  const { start_ms } = call;
  // Of a call that was lost with its gateway nothing is known to be drawn.
  const attempts = call.attempts.filter(({ provider }) => provider !== '');
  const left_ms = call.status === 'cancelled' ? (call.left?.ms ?? null) : null;
  const ends = attempts.map(({ at_ms, duration_ms }) => at_ms - start_ms + (duration_ms ?? 0));
  const { end_ms, ticks } = axisEnd(Math.max(1, ...ends));
  const bars = attempts.map((attempt, i) => barOf(attempt, i + 1, { start_ms, end_ms, left_ms }));
  const place = (fact: EndpointFact) => fact.planned_at ?? Number.MAX_SAFE_INTEGER;
  // Of an endpoint that has left the catalog since, its attempts still know the provider.
  const providers = new Map(attempts.map(({ endpoint, provider }) => [endpoint, provider]));
  const endpoints = call.endpoints.map((fact) =>
    fact.provider ? fact : { ...fact, provider: providers.get(fact.endpoint) ?? null },
  );
  const tracks = [
    ...endpoints.toSorted((a, b) => place(a) - place(b)),
    ...unnamed({ ...call, attempts }),
  ].map((fact) => ({
    fact,
    bars: bars.filter(({ attempt }) => attempt.endpoint === fact.endpoint),
  }));
  const idle = tracks.filter((track) => track.bars.length === 0).map(({ fact }) => fact);
  const spare = idle.filter(({ excluded_by }) => excluded_by === null);
  const excluded = idle.filter(({ excluded_by }) => excluded_by !== null);
  const folded = new Set([
    ...(all || spare.length <= SPARE_MAX ? [] : spare.slice(SPARE_MAX - 1)),
    ...(all || excluded.length <= EXCLUDED_MAX ? [] : excluded),
  ]);
  const tried = tracks.filter(({ fact }) => fact.excluded_by === null && !folded.has(fact));
  const out = tracks.filter(({ fact }) => fact.excluded_by !== null && !folded.has(fact));
  return {
    tracks: [...tried, ...out],
    folds: foldsOf(
      spare.filter((fact) => folded.has(fact)),
      excluded.filter((fact) => folded.has(fact)),
    ),
    end_ms,
    ticks: attempts.length === 0 ? [] : ticks,
  };
}
