// Which buckets the calls of a key are counted in.
import { type Environment, ServiceError } from '../kernel/index.ts';
import type { Grant, KeyRow } from '../keys/index.ts';
import type { LimitRefusal, LimitSubject, Rates } from './types.ts';

/** The bucket of an organization's plan, live and test apart. */
export function planSubject(org_id: string, environment: Environment): string {
  return `${org_id}-${environment}`;
}

/** The buckets of a stored key of an organization whose plan has `plan_rates`. */
export function subjectOfKey(
  key: Pick<KeyRow, 'org_id' | 'environment' | 'chain_no' | 'rpm' | 'tpm' | 'concurrency'>,
  plan_rates: Rates,
): LimitSubject {
  const { org_id, environment, chain_no, rpm, tpm, concurrency } = key;
  return {
    org_id,
    key: `key-${chain_no}-${environment}`,
    key_rates: { rpm, tpm, concurrency },
    plan: planSubject(org_id, environment),
    plan_rates,
  };
}

/** The buckets of `grant`: its rotation chain under the key's own limits, its organization under the plan's. */
export function subjectOf(grant: Grant): LimitSubject {
  const { org_id, environment, subject, limits } = grant;
  return {
    org_id,
    key: `key-${subject.key_no}-${environment}`,
    key_rates: limits.key,
    plan: planSubject(org_id, environment),
    plan_rates: limits.plan,
  };
}

/**
 * The same without the limit of concurrent calls: for requests that are free and short, and count as a request only.
 */
export function requestSubjectOf(grant: Grant): LimitSubject {
  const subject = subjectOf(grant);
  return {
    ...subject,
    key_rates: { ...subject.key_rates, concurrency: null },
    plan_rates: { ...subject.plan_rates, concurrency: null },
  };
}

/** The part of every limit that one of `processes` may grant by itself; at least one where the limit is not zero. */
export function shareOf(subject: LimitSubject, processes: number): LimitSubject {
  const part = (limit: number | null) =>
    limit === null || limit === 0 ? limit : Math.max(1, Math.floor(limit / processes));
  const share = ({ rpm, tpm, concurrency }: Rates): Rates => ({
    rpm: part(rpm),
    tpm: part(tpm),
    concurrency: part(concurrency),
  });
  return { ...subject, key_rates: share(subject.key_rates), plan_rates: share(subject.plan_rates) };
}

const what: Readonly<Record<LimitRefusal['limit'], (value: number) => string>> = {
  rpm: (value) => `${value} requests per minute`,
  tpm: (value) => `${value} tokens per minute`,
  concurrency: (value) => `${value} calls at once`,
};

/** The refusal as callers get it: 429 `rate_limit_exceeded` with the limit, whose it is, and when to come back. */
export function limitError({ limit, scope, limit_value, reset_ms }: LimitRefusal): ServiceError {
  const whose = scope === 'key' ? 'This key' : "The organization's plan";
  const message = `${whose} allows ${what[limit](limit_value)}. Try again in ${Math.ceil(reset_ms / 1_000)} s.`;
  return new ServiceError('rate_limit_exceeded', message, {
    details: { limit, scope, limit_value, reset_ms },
    retry_after_ms: reset_ms,
  });
}
