// Whether proved domains still have their record. One that is gone for three days is no address of the storefront any more:
// whoever has the domain then could otherwise not be told from the reseller.
import type { Egress } from '../../egress/index.ts';
import { findMailboxes, writeAudit } from '../../identity/index.ts';
import { type Context, sha256Hex } from '../../kernel/index.ts';
import { sendMail } from '../../mail/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { recordOf } from '../host-name.ts';
import { KEPT_MS, targetOf } from './domains.ts';
import {
  type DueProof,
  deleteProof,
  insertPast,
  listDueProofs,
  lockDomain,
  noteCheck,
  purgePast,
} from './store.ts';

const DAY_MS = 24 * 3_600_000;
const AT_ONCE = 20;
const MISSES_MAX = 3;

/** Ends a proof whose record is gone; the claim stays, so that the reseller can prove it again. */
async function lose(context: Context, { org_id, domain, token }: DueProof): Promise<void> {
  await insertPast(context.db, { org_id, domain, token, was_proved: true, at: context.now() });
  await deleteProof(context.db, { org_id, domain });
  await writeAudit(context, {
    ...{ action: 'reseller.domains.lost', org_id, target: targetOf(domain) },
    ...{ before: { verified: true }, after: { verified: false } },
    actor: { type: 'system', id: null, display: 'recheck' },
  });
}

async function recheck(context: Context, egress: Egress, proof: DueProof): Promise<void> {
  const { org_id, domain, token } = proof;
  const found = await egress.askDns('TXT', recordOf(domain));
  const is_there = found.kind === 'records' && found.values.includes(token);
  // Without an answer nothing is known: the count stays, and the record is asked for again tomorrow.
  const step = found.kind === 'failed' || is_there ? 0 : 1;
  await context.transaction(async (context) => {
    await lockDomain(context.db, domain);
    const at = context.now();
    const misses = await noteCheck(context.db, { org_id, domain, step, reset: is_there, at });
    if (step === 0 || misses === null) return;
    const is_lost = misses >= MISSES_MAX;
    if (is_lost) await lose(context, proof);
    // Once when it is missing, and once when it is lost.
    if (misses !== 1 && !is_lost) return;
    const org = await findOrg(context.db, org_id);
    if (org === null) return;
    await sendMail(context, {
      ...{ template: 'storefront_domain_missing', org_id },
      to: await findMailboxes(context.db, { org_id, roles: ['owner', 'admin'] }),
      reference: `storefront-domain-${sha256Hex(`${domain} ${at.getTime()}`)}`,
      data: { org: org.name, domain, record: recordOf(domain), is_lost },
    });
  });
}

/** Looks for the records of domains that were not looked at for a day, some at a time; returns how many. A job. */
export async function recheckStorefronts(context: Context, egress: Egress): Promise<number> {
  const at = context.now().getTime();
  await purgePast(context.db, new Date(at - 3 * KEPT_MS));
  const due = await listDueProofs(context.db, new Date(at - DAY_MS), AT_ONCE);
  for (const proof of due) await recheck(context, egress, proof);
  return due.length;
}
