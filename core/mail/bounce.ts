// Reading a report that a mail could not be delivered (RFC 3464), and what follows from it.
import PostalMime from 'postal-mime';
import { type Db, type Id, isId, now } from '../kernel/index.ts';
import { bounceMail, noteRefused } from './store.ts';

const REPORT_BYTES_MAX = 1_048_576;
const ANSWER_MAX = 500;

/** A report as far as it concerns us. */
interface BounceReport {
  readonly mail_id: Id<'mail'>;
  /** Nothing will be delivered, as opposed to a delay. */
  readonly permanent: boolean;
  readonly answer: string;
}

/** A field of the report's part for programs; "" when it has none. */
function field(status: string, name: string): string {
  const found = new RegExp(`^${name}:[ \\t]*(.*(?:\\r?\\n[ \\t]+.*)*)`, 'im').exec(status);
  return (found?.[1] ?? '').replaceAll(/\s+/g, ' ').trim();
}

/** The id of a mail of ours that `words` name as Message-ID or as address that bounces go to; null without one. */
function mailIdIn(words: string): Id<'mail'> | null {
  const found = /\bmail_([0-9a-hjkmnp-tv-z]{26})@/i.exec(words)?.[1];
  const id = `mail_${found?.toUpperCase()}`;
  return isId('mail', id) ? id : null;
}

/** Reads a report; null for what is none, or names no mail of ours. */
export async function readBounce(message: Uint8Array): Promise<BounceReport | null> {
  if (message.length > REPORT_BYTES_MAX) return null;
  const mail = await PostalMime.parse(message, { attachmentEncoding: 'utf8', forceRfc822Attachments: true });
  const part = mail.attachments.find(({ mimeType }) => mimeType === 'message/delivery-status');
  if (part === undefined) return null;
  const status = String(part.content);
  const original = mail.attachments.filter(({ mimeType }) =>
    /^(?:message\/rfc822|text\/rfc822-headers)$/.test(mimeType),
  );
  const to = (mail.to ?? []).map(({ address }) => `${address}`).join(' ');
  const mail_id = mailIdIn(to) ?? mailIdIn(original.map(({ content }) => String(content)).join('\n'));
  if (mail_id === null) return null;
  const code = field(status, 'Status');
  const permanent = /^failed/i.test(field(status, 'Action')) && code.startsWith('5.');
  const diagnostic = field(status, 'Diagnostic-Code').replace(/^smtp;\s*/i, '');
  return { mail_id, permanent, answer: `${code} ${diagnostic}`.trim().slice(0, ANSWER_MAX) };
}

/**
 * Takes a report: the mail is marked as bounced, and its address is not tried again. Nothing follows from a report of a
 * delay, or of a mail that was not sent, so that a forged one reaches only addresses that its author was sent mail for.
 */
export function takeBounce(
  store: { transaction<T>(work: (db: Db) => Promise<T>): Promise<T> },
  { mail_id, permanent, answer }: BounceReport,
): Promise<boolean> {
  if (!permanent) return Promise.resolve(false);
  return store.transaction(async (db) => {
    const recipient_key = await bounceMail(db, { id: mail_id, answer });
    if (recipient_key === null) return false;
    await noteRefused(db, { recipient_key, mail_id, cause: 'bounced', answer, at: now() });
    return true;
  });
}
