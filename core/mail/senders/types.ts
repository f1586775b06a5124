// Senders of resellers, and whom a mail comes from.
import type { Id } from '../../kernel/index.ts';

export const senderStates = ['pending', 'verified', 'failed'] as const;

export interface MailSender {
  /** The reseller. */
  readonly org_id: Id<'org'>;
  readonly domain: string;
  readonly from_local: string;
  /** Base64 of the DER of the public half. */
  readonly public_key: string;
  /** Sealed. */
  readonly private_key: Buffer;
  readonly return_host: string;
  readonly status: (typeof senderStates)[number];
  readonly dkim_found: boolean;
  readonly return_found: boolean;
  readonly misses: number;
  readonly checked_at: Date | null;
  readonly created_at: Date;
}

/** What was found published. */
export type Found = Pick<MailSender, 'dkim_found' | 'return_found'>;

/** Whom a mail comes from, and the key that signs it. */
export interface MailFrom {
  readonly address: string;
  readonly domain: string;
  /** PEM. */
  readonly private_key: string;
}
