// Looking for the records of senders, when a person asks and every day; and whose customers an organization is one of.
import type { Egress } from '../../egress/index.ts';
import { findMailboxes } from '../../identity/index.ts';
import type { Context, Db, Id, RootKeyRing } from '../../kernel/index.ts';
import {
  afterLook,
  dkimRecord,
  type Found,
  findMailFrom,
  isNamePublished,
  isTextPublished,
  listDueSenders,
  lockSender,
  type MailSender,
  noteLook,
  noteNoAnswer,
  returnRecord,
  sendMail,
} from '../../mail/index.ts';
import { findOrg } from '../../orgs/index.ts';

const DAY_MS = 24 * 3_600_000;
/** Looks of one run of the job. */
const AT_ONCE = 20;

/** Which records of a sender are published; null where no name server answered for one of them. */
export async function lookFor(egress: Egress, sender: MailSender): Promise<Found | null> {
  const [dkim, returns] = [dkimRecord(sender), returnRecord(sender)];
  const [texts, names] = await Promise.all([egress.lookupTxt(dkim.host), egress.lookupCname(returns.host)]);
  if (texts.kind === 'unavailable' || names.kind === 'unavailable') return null;
  return {
    dkim_found: texts.kind === 'records' && isTextPublished(dkim.value, texts.texts),
    return_found: names.kind === 'records' && isNamePublished(returns.value, names.texts),
  };
}

/**
 * Notes what was found of the records of `sender`, in the open transaction; null where it has another key or host meanwhile, of
 * which nothing is known.
 */
export async function noteFound(
  context: Context,
  sender: MailSender,
  { found, is_daily }: { found: Found; is_daily: boolean },
): Promise<Pick<MailSender, 'status' | 'misses'> | null> {
  const { org_id } = sender;
  const now = await lockSender(context.db, org_id);
  if (now === null || now.public_key !== sender.public_key) return null;
  const after = afterLook(now, found, is_daily);
  await noteLook(context.db, { org_id, ...after, ...found, at: context.now() });
  return after;
}

/** Tells people of a reseller that its records are gone, once for each time that they go. */
async function tell(context: Context, { org_id, domain }: MailSender): Promise<void> {
  const org = await findOrg(context.db, org_id);
  if (org === null) return;
  await sendMail(context, {
    template: 'mail_sender_failed',
    to: await findMailboxes(context.db, { org_id, roles: ['owner', 'admin'] }),
    ...{ org_id, reference: `${org_id}-${context.now().getTime()}`, data: { org: org.name, domain } },
  });
}

/** Looks for the records of senders that were not looked at for a day, some at a time; returns how many. A job. */
export async function recheckSenders(context: Context, egress: Egress): Promise<number> {
  const before = new Date(context.now().getTime() - DAY_MS);
  const due = await listDueSenders(context.db, { before, limit: AT_ONCE });
  for (const sender of due) {
    const found = await lookFor(egress, sender);
    await context.transaction(async (context) => {
      // Without an answer nothing is known: what it was it stays.
      if (found === null) return noteNoAnswer(context.db, { ...sender, at: context.now() });
      const after = await noteFound(context, sender, { found, is_daily: true });
      if (after?.status === 'failed' && sender.status === 'verified') await tell(context, sender);
    });
  }
  return due.length;
}

/** Whom mails of the organization `org_id` come from: the sender of its reseller; null: the service's own address. */
export async function mailFromOf(db: Db, root_key: RootKeyRing, org_id: Id<'org'>) {
  const parent = (await findOrg(db, org_id))?.parent_org_id ?? null;
  return parent === null ? null : findMailFrom(db, root_key, parent);
}
