// The arguments of the scripts in `scripts.ts` and the meaning of their answers: keys, limits, gauges, refusals.
import { within } from '../kernel/index.ts';
import { gaugeOf, tighter, waitMs } from './bucket.ts';
import { CONCURRENCY_WAIT_MS } from './memory.ts';
import type { Gauges, LimitName, LimitRefusal, LimitScope, LimitSubject } from './types.ts';

/** A Redis slower than this counts as lost, because a caller waits for it. */
const PATIENCE_MS = 250;

/** What Redis answers to `asked`. @throws Error when no answer comes in time, or the error of Redis. */
export function inTime<T>(asked: Promise<T>): Promise<T> {
  return within(PATIENCE_MS, asked, 'Redis');
}

export interface Scripts {
  svcEnter(...args: (string | number)[]): Promise<[string, string, string, string, string]>;
  svcSpend(...args: (string | number)[]): Promise<[string, string, string]>;
  svcLook(...args: (string | number)[]): Promise<[string, string, string, string, number]>;
  svcBeat(...args: (string | number)[]): Promise<number>;
  svcRenew(...args: (string | number)[]): Promise<number>;
}

/** Redis keys of one subject; the braces keep them on one shard of a cluster. */
export interface Keys {
  readonly requests: readonly [string, string];
  readonly tokens: readonly [string, string];
  readonly running: readonly [string, string];
}

/** The keys of `subject` in Redis. */
export function keysOf({ org_id, key, plan }: LimitSubject): Keys {
  const of = (kind: string): [string, string] => [
    `svc:limits:{${org_id}}:${kind}:${key}`,
    `svc:limits:{${org_id}}:${kind}:${plan}`,
  ];
  return { requests: of('rpm'), tokens: of('tpm'), running: of('run') };
}

/** The key under which refusals of a plan in an hour are counted. */
export function rejectedKey(plan: string, hour: number): string {
  return `svc:limits:{${plan}}:rejected:${hour}`;
}

/** Limits as arguments of a script; empty where there is none. */
export function limitArgs(limits: readonly (number | null)[]): string[] {
  return limits.map((limit) => (limit === null ? '' : String(limit)));
}

/**
 * The gauges that a script's answer means. `levels`: requests of key and plan, tokens of key and plan; empty where
 * there is no limit.
 */
export function gaugesOf({ key_rates, plan_rates }: LimitSubject, levels: readonly string[]): Gauges {
  const gauge = (level: string | undefined, limit: number | null) =>
    level === undefined || level === '' || limit === null ? null : gaugeOf(Number(level), limit);
  return {
    requests: tighter(gauge(levels[0], key_rates.rpm), gauge(levels[1], plan_rates.rpm)),
    tokens: tighter(gauge(levels[2], key_rates.tpm), gauge(levels[3], plan_rates.tpm)),
  };
}

/** The refusal that a script's answer means: `refused` is limit and scope, as in `rpm:key`. */
export function refusalOf(
  subject: LimitSubject,
  refused: string,
  facts: { levels: readonly string[]; units: number; gauges: Gauges },
): LimitRefusal {
  const [limit, scope] = refused.split(':') as [LimitName, LimitScope];
  const rates = scope === 'key' ? subject.key_rates : subject.plan_rates;
  const limit_value = rates[limit] as number;
  const at = (limit === 'tpm' ? 2 : 0) + (scope === 'key' ? 0 : 1);
  const reset_ms =
    limit === 'concurrency'
      ? CONCURRENCY_WAIT_MS
      : waitMs(Number(facts.levels[at]), limit_value, facts.units);
  return { limit, scope, limit_value, reset_ms, gauges: facts.gauges };
}
