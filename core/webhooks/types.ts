// Rows of webhooks as the store gives them.
import type { Id } from '../kernel/index.ts';
import type { AttemptResult } from './schedule.ts';

export const webhookStatuses = ['active', 'disabled'] as const;
export const disabledReasons = ['manual', 'gone', 'failing', 'org_closed'] as const;
export const deliveryStatuses = ['queued', 'delivering', 'delivered', 'failed', 'dropped'] as const;

export interface WebhookRow {
  readonly id: Id<'webhook'>;
  readonly org_id: Id<'org'>;
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly status: (typeof webhookStatuses)[number];
  readonly disabled_reason: (typeof disabledReasons)[number] | null;
  readonly failing_since: Date | null;
  readonly failed_attempts: number;
  readonly secret_hint: string;
  readonly previous_secret_expires_at: Date | null;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_delivery_at: Date | null;
}

/** One attempt in `attempt_log`. */
export interface LoggedAttempt extends Pick<AttemptResult, 'code' | 'latency_ms' | 'error'> {
  readonly at: string;
}

export interface DeliveryRow {
  readonly id: number;
  readonly webhook_id: Id<'webhook'>;
  readonly org_id: Id<'org'>;
  readonly event: string;
  readonly event_id: Id<'event'>;
  /** The bytes sent, `data` among them. */
  readonly body: string;
  readonly redelivery: number;
  readonly status: (typeof deliveryStatuses)[number];
  readonly attempts: number;
  readonly response_code: number | null;
  readonly latency_ms: number | null;
  readonly attempt_log: readonly LoggedAttempt[];
  readonly created_at: Date;
  readonly delivered_at: Date | null;
}

/** A delivery that this process holds the lease of, with all that an attempt needs. */
export interface Claimed {
  readonly id: number;
  readonly lease: string;
  readonly webhook_id: Id<'webhook'>;
  readonly org_id: Id<'org'>;
  /** Whether the endpoint is active. */
  readonly is_active: boolean;
  readonly url: string;
  readonly event_id: Id<'event'>;
  readonly body: string;
  readonly attempts: number;
  readonly attempts_max: number;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_expires_at: Date | null;
}
