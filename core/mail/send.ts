// Asking for a mail: a row in the caller's transaction. It is sent after the commit, and never if there is none.
import Value from 'typebox/value';
import { type Db, type Id, newId, openColumn, type RootKeyRing, sealColumn } from '../kernel/index.ts';
import { emailKey } from './address.ts';
import { insertMail } from './store.ts';
import { type DataOf, findTemplate, type TemplateName } from './templates/all.ts';
import type { AttachmentRef } from './types.ts';

const HOUR_MS = 3_600_000;
/** Part of the names of files and of rows; ids and words joined by hyphens. */
const REFERENCE = /^[A-Za-z0-9_-]{1,200}$/;

/** The path that a mail leads to and that carries a token, and the key it is sealed under until the mail has gone. */
interface SecretLink {
  /** A path of the console, or an address. */
  readonly to: string;
  /** `loadRootKey` of the key ring file. */
  readonly root_key: RootKeyRing;
}

interface NewMail<T extends TemplateName> {
  readonly template: T;
  /** Each address gets a mail of its own, so that none sees the others. What is no address is left out. */
  readonly to: readonly string[];
  /** Whom it is about; null: a person alone. */
  readonly org_id: Id<'org'> | null;
  /** What the mail is about. Of one template, reference and address there is one mail, however often it is asked for. */
  readonly reference: string;
  readonly data: DataOf<T>;
  /** For templates with a secret link, and only for these. */
  readonly link?: SecretLink;
  readonly attachments?: readonly AttachmentRef[];
}

/** The link of a mail as stored: sealed under the key ring, bound to its row. */
function sealLink({ to, root_key }: SecretLink, mail_id: Id<'mail'>): Buffer {
  return sealColumn(root_key, 'mail.sealed', [mail_id], Buffer.from(to));
}

/** What `sealLink` sealed. @throws Error when key, mail or bytes differ. */
export function openLink(root_key: RootKeyRing, mail_id: Id<'mail'>, sealed: Uint8Array): string {
  return openColumn(root_key, 'mail.sealed', [mail_id], sealed).toString();
}

/** @throws Error (a defect) when data, reference or link are not what the template asks for. */
function checkMail<T extends TemplateName>(mail: NewMail<T>): void {
  const { template: name, reference, data, link } = mail;
  const template = findTemplate(name);
  if (template === null) throw new Error(`no template ${name}`);
  if (!REFERENCE.test(reference)) throw new Error(`not a reference of a mail: ${reference}`);
  if (!Value.Check(template.data, data)) throw new Error(`data of a mail ${name} are not what it asks for`);
  if ((template.secret === true) !== (link !== undefined))
    throw new Error(`mail ${name} and its link do not fit`);
}

/**
 * Asks for a mail in the transaction of `context` and returns to how many addresses it will go: 0 when all of them were
 * asked for before, or none is an address. Whether and when it has gone is in the table.
 * @throws Error (a defect) when data, reference or link are not what the template asks for.
 */
export async function sendMail<T extends TemplateName>(
  context: { readonly db: Db; now(): Date },
  mail: NewMail<T>,
): Promise<number> {
  checkMail(mail);
  const { template: name, to, org_id, reference, data, link, attachments = [] } = mail;
  const at = context.now();
  const lives_ms = (findTemplate(name)?.lives_hours ?? 0) * HOUR_MS;
  const recipients = new Map<string, string>();
  for (const address of to) {
    const key = emailKey(address);
    if (key !== null && !recipients.has(key)) recipients.set(key, address);
  }
  let asked = 0;
  for (const [recipient_key, recipient] of recipients) {
    const id = newId('mail');
    const sealed = link === undefined ? null : sealLink(link, id);
    const expires_at = new Date(at.getTime() + lives_ms);
    const row = {
      id,
      org_id,
      template: name,
      reference,
      recipient,
      recipient_key,
      data,
      sealed,
      attachments,
      at,
      expires_at,
    };
    if (await insertMail(context.db, row)) asked++;
  }
  return asked;
}
