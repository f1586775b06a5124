// Tickets, and what a request for higher limits asks for.
import type { Environment, Id } from '../kernel/index.ts';

export const ticketStatuses = ['open', 'approved', 'rejected', 'resolved', 'closed'] as const;
export type TicketStatus = (typeof ticketStatuses)[number];

export const ticketKinds = ['limit_increase', 'invoice_correction', 'refund', 'close_org', 'other'] as const;
export type TicketKind = (typeof ticketKinds)[number];

/** Who writes: the organization, its reseller, or staff. */
export const ticketAuthors = ['customer', 'reseller', 'staff'] as const;
/** Whose turn it is while a ticket is open. */
export const ticketSides = ['staff', 'customer'] as const;

/** A ticket of any kind. */
export interface Ticket {
  readonly id: Id<'ticket'>;
  readonly org_id: Id<'org'>;
  readonly kind: TicketKind;
  readonly status: TicketStatus;
  readonly subject: string;
  /** Members by kind; a ticket that was written as text has `text`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly waiting_for: (typeof ticketSides)[number];
  readonly created_by: string | null;
  readonly resolution: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface TicketMessage {
  readonly ticket_message_id: number;
  readonly author: (typeof ticketAuthors)[number];
  readonly author_id: string | null;
  readonly author_name: string;
  readonly text: string;
  readonly created_at: Date;
}

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

export const announcementSeverities = ['info', 'warning', 'critical'] as const;
/** To whom: everybody, organizations of certain plans or countries, resellers, or certain organizations. */
export const announcementAudiences = ['all', 'plans', 'countries', 'resellers', 'orgs'] as const;

export interface Announcement {
  readonly id: Id<'announcement'>;
  readonly title: string;
  readonly body: string;
  readonly severity: (typeof announcementSeverities)[number];
  readonly audience: (typeof announcementAudiences)[number];
  readonly audience_values: readonly string[];
  readonly starts_at: Date;
  readonly ends_at: Date | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}
