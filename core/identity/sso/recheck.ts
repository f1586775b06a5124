// Whether proved domains still have their record. A record that is missing is mailed about; it locks nobody out, since
// a name server that was changed by mistake would then stop a whole company from signing in.
import type { Egress } from '../../egress/index.ts';
import { type Context, sha256Hex } from '../../kernel/index.ts';
import { sendMail } from '../../mail/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { findMailboxes } from '../mailboxes.ts';
import { recordOf } from './domain-name.ts';
import { type DueProof, listDueProofs, noteCheck } from './domain-store.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
const AT_ONCE = 20;
const MISSES_BEFORE_MAIL = 4;

async function recheck(context: Context, egress: Egress, { org_id, domain, token }: DueProof): Promise<void> {
  const found = await egress.lookupTxt(recordOf(domain));
  const at = context.now();
  // Without an answer nothing is known: the count stays, and the record is asked for again next week.
  const known = found.kind !== 'unavailable';
  const is_there = found.kind === 'records' && found.texts.includes(token);
  await context.transaction(async (context) => {
    const step = known && !is_there ? 1 : 0;
    const misses = await noteCheck(context.db, { org_id, domain, step, reset: is_there, at });
    if (step === 0 || misses !== MISSES_BEFORE_MAIL) return;
    const org = await findOrg(context.db, org_id);
    if (org === null) return;
    await sendMail(context, {
      template: 'sso_domain_missing',
      to: await findMailboxes(context.db, { org_id, roles: ['owner', 'admin'] }),
      org_id,
      reference: `sso-domain-${sha256Hex(`${domain} ${at.getTime()}`)}`,
      data: { org: org.name, domain, record: recordOf(domain) },
    });
  });
}

/** Looks for the records of domains that were not looked at for a week, some at a time; returns how many. A job. */
export async function recheckDomains(context: Context, egress: Egress): Promise<number> {
  const before = new Date(context.now().getTime() - WEEK_MS);
  const due = await listDueProofs(context.db, before, AT_ONCE);
  for (const proof of due) await recheck(context, egress, proof);
  return due.length;
}
