// Mails as the table keeps them.
import type { Id } from '../kernel/index.ts';

export type MailStatus = 'queued' | 'sending' | 'sent' | 'bounced' | 'failed' | 'dropped';

/** A file that goes with a mail, by reference: it is made when the mail is sent. */
export interface AttachmentRef {
  readonly kind: 'invoice_pdf';
  readonly id: string;
}

export interface Attachment {
  readonly filename: string;
  readonly content_type: string;
  readonly content: Uint8Array;
}

/** A mail that is to be sent now. */
export interface DueMail {
  readonly id: Id<'mail'>;
  readonly org_id: Id<'org'> | null;
  readonly template: string;
  readonly reference: string;
  readonly recipient: string;
  readonly recipient_key: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly sealed: Buffer | null;
  readonly attachments: readonly AttachmentRef[];
  readonly attempts: number;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** Mails that wait, without those that only wait for the day's limit of their address. */
export interface MailBacklog {
  readonly waiting: number;
  readonly oldest_at: Date | null;
}
