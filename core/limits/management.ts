// The limit of management requests, all that are no inference (docs/limits.md#requests-beside-inference).
import { ServiceError } from '../kernel/index.ts';
import type { LimitRefusal, LimitSubject } from './types.ts';

/** The caller whose requests are counted together. */
export type ManagementScope = 'key' | 'session' | 'address';

/** The bucket of `id` (a key, a session, an address prefix), apart from all buckets of inference; `rpm` a minute. */
export function managementSubject(scope: ManagementScope, id: string, rpm: number): LimitSubject {
  const bucket = `m-${scope}-${id}`;
  const rates = { rpm, tpm: null, concurrency: null };
  return { org_id: bucket, plan: 'm-all', bounds: [{ scope: 'key', bucket, subject: id, rates }] };
}

const whose: Readonly<Record<ManagementScope, string>> = {
  key: 'This key',
  session: 'This session',
  address: 'Your network address',
};

/** The refusal as callers get it: 429 `rate_limit_exceeded` with the limit, whose it is, and when to come back. */
export function managementError(
  scope: ManagementScope,
  { limit_value, reset_ms }: LimitRefusal,
): ServiceError {
  const wait_s = Math.ceil(reset_ms / 1_000);
  return new ServiceError(
    'rate_limit_exceeded',
    `${whose[scope]} may make ${limit_value} requests per minute here. Try again in ${wait_s} s.`,
    { details: { limit: 'rpm', scope, limit_value, reset_ms }, retry_after_ms: reset_ms },
  );
}
