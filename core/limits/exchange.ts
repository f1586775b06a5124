// The arguments of the scripts in `scripts.ts` and the meaning of their answers: keys, limits, gauges, refusals.
import { within } from '../kernel/index.ts';
import { gaugeOf, tighter, waitMs } from './bucket.ts';
import { CONCURRENCY_WAIT_MS } from './memory.ts';
import type { Gauge, Gauges, LimitBound, LimitName, LimitRefusal, LimitSubject } from './types.ts';

/** A Redis slower than this counts as lost, because a caller waits for it. */
const PATIENCE_MS = 250;

/** What Redis answers to `asked`. @throws Error when no answer comes in time, or the error of Redis. */
export function inTime<T>(asked: Promise<T>): Promise<T> {
  return within(PATIENCE_MS, asked, 'Redis');
}

type Ask<T> = (keys: readonly string[], args: readonly (string | number)[]) => Promise<T>;

export interface Scripts {
  /** What refused, then the levels: requests of each bound, tokens of each bound. */
  readonly enter: Ask<[string, ...string[]]>;
  readonly spend: Ask<[string, ...string[]]>;
  /** The levels as `enter` has them, then the running calls of the narrowest bound. */
  readonly look: Ask<[...string[], number]>;
  readonly beat: Ask<number>;
  readonly renew: Ask<number>;
}

/** Redis keys of one subject, one of each kind for each of its bounds; the braces keep them on one shard of a cluster. */
export interface Keys {
  readonly requests: readonly string[];
  readonly tokens: readonly string[];
  readonly running: readonly string[];
}

/** The keys of `subject` in Redis. */
export function keysOf({ org_id, bounds }: LimitSubject): Keys {
  const of = (kind: string) => bounds.map(({ bucket }) => `svc:limits:{${org_id}}:${kind}:${bucket}`);
  return { requests: of('rpm'), tokens: of('tpm'), running: of('run') };
}

/** The key under which refusals of a plan in an hour are counted. */
export function rejectedKey(plan: string, hour: number): string {
  return `svc:limits:{${plan}}:rejected:${hour}`;
}

/** The limits called `name` of all bounds as arguments of a script; empty where there is none. */
export function limitArgs({ bounds }: LimitSubject, name: LimitName): string[] {
  return bounds.map(({ rates }) => (rates[name] === null ? '' : String(rates[name])));
}

/** The gauge of the strictest bound, from the level of each; a level is empty where there is no limit. */
export function gaugeOfLevels(
  { bounds }: LimitSubject,
  name: 'rpm' | 'tpm',
  levels: readonly string[],
): Gauge | null {
  const gauge = ({ rates }: LimitBound, at: number): Gauge | null => {
    const [level = '', limit] = [levels[at], rates[name]];
    return level === '' || limit === null ? null : gaugeOf(Number(level), limit);
  };
  return bounds.map(gauge).reduce(tighter, null);
}

/** The gauges that a script's answer means: the levels of requests of all bounds, then those of tokens. */
export function gaugesOf(subject: LimitSubject, levels: readonly string[]): Gauges {
  const n = subject.bounds.length;
  return {
    requests: gaugeOfLevels(subject, 'rpm', levels),
    tokens: gaugeOfLevels(subject, 'tpm', levels.slice(n, 2 * n)),
  };
}

/**
 * The refusal that a script's answer means: `refused` is the limit and which bound it is of, counted from 1, as in `rpm:1`.
 * `levels` are those of that limit.
 */
export function refusalOf(
  { bounds }: LimitSubject,
  refused: string,
  facts: { levels: readonly string[]; units: number; gauges: Gauges },
): LimitRefusal {
  const [limit, of] = refused.split(':') as [LimitName, string];
  const at = Number(of) - 1;
  const { scope, subject, rates } = bounds[at] as LimitBound;
  const limit_value = rates[limit] as number;
  const reset_ms =
    limit === 'concurrency'
      ? CONCURRENCY_WAIT_MS
      : waitMs(Number(facts.levels[at]), limit_value, facts.units);
  return { limit, scope, subject, limit_value, reset_ms, gauges: facts.gauges };
}
