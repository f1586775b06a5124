// What a program passes to its listeners.
import type { Pool } from '@svc/core/db/index.ts';
import type { Log, Services } from '@svc/core/kernel/index.ts';
import type { LimitStore } from '@svc/core/limits/index.ts';
import type { Check } from './health.ts';
import type { Metrics } from './metrics.ts';

export interface ManagementRate {
  readonly limits: LimitStore;
  /** Requests per minute of one key or session; 0: no limit. */
  readonly management_rpm: number;
  /** Requests per minute of one token of a directory; 0: no limit. */
  readonly scim_rpm: number;
  /** Requests per minute of one address on public routes; 0: no limit. */
  readonly public_rpm: number;
}

export interface HttpParts {
  readonly pool: Pool;
  readonly log: Log;
  /** What operations may use, and what identifies callers. */
  readonly services: Services;
  /** Absent: nothing is limited. */
  readonly rate?: ManagementRate;
  /** Public address, as shown in the OpenAPI document. An https address adds HSTS headers. */
  readonly base_url: string;
  readonly metrics?: Metrics;
  /** Checked by /readyz in addition to the database. */
  readonly checks?: readonly Check[];
  /** True once the process is stopping; /readyz then answers 503. */
  readonly draining?: () => boolean;
}
