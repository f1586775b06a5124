// Whose buckets a key's calls are counted in.
import { ServiceError } from '../kernel/index.ts';
import type { KeyGrant } from '../keys/index.ts';
import type { LimitRefusal, LimitSubject } from './types.ts';

/** The buckets of `grant`: its rotation chain under the key's own limits, its organisation under the plan's (P7.1, P7.6). */
export function subjectOf(grant: KeyGrant): LimitSubject {
  const { org_id, environment, subject, limits } = grant;
  return {
    org_id,
    key: `key-${subject.key_no}-${environment}`,
    key_rates: limits.key,
    plan: `${org_id}-${environment}`,
    plan_rates: limits.plan,
  };
}

const what: Readonly<Record<LimitRefusal['limit'], (value: number) => string>> = {
  rpm: (value) => `${value} requests per minute`,
  tpm: (value) => `${value} tokens per minute`,
  concurrency: (value) => `${value} calls at once`,
};

/** The refusal as callers get it: 429 `rate_limit_exceeded` with the limit, whose it is, and when to come back (4.6). */
export function limitError({ limit, scope, limit_value, reset_ms }: LimitRefusal): ServiceError {
  const whose = scope === 'key' ? 'This key' : "The organization's plan";
  const message = `${whose} allows ${what[limit](limit_value)}. Try again in ${Math.ceil(reset_ms / 1_000)} s.`;
  return new ServiceError('rate_limit_exceeded', message, {
    details: { limit, scope, limit_value, reset_ms },
    retry_after_ms: reset_ms,
  });
}
