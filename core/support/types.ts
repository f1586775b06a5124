// Tickets, and what a request for higher limits asks for.
import type { Environment, Id } from '../kernel/index.ts';

export const ticketStatuses = ['open', 'approved', 'rejected', 'resolved', 'closed'] as const;
export type TicketStatus = (typeof ticketStatuses)[number];

/** Limits by name; null is not asked for, or no bound. */
export interface Limits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}
export const limitNames = ['rpm', 'tpm', 'concurrency'] as const;

/** What a ticket of the kind limit_increase says, as it was when it was written. */
interface LimitBody {
  readonly key_id: Id<'key'>;
  readonly requested: Limits;
  /** What held for the key. */
  readonly current: Limits;
  /** The most that was granted without a person. */
  readonly plan_max: Limits;
  readonly reason: string;
}

/** A ticket of the kind limit_increase, with what it asks for. */
export interface LimitTicket {
  readonly id: Id<'ticket'>;
  readonly org_id: Id<'org'>;
  readonly kind: 'limit_increase';
  readonly status: TicketStatus;
  readonly subject: string;
  readonly body: LimitBody;
  readonly created_by: string | null;
  readonly resolution: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly environment: Environment;
  readonly key_id: Id<'key'>;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly automatic: boolean;
}
