// Says fourteen and three days before that credit will end: an event for credit of any kind, a mail for credit that was paid.
import { findBillingMailboxes } from '../../identity/index.ts';
import type { Context } from '../../kernel/index.ts';
import { type EndingCredit, listEnding, writeEvent } from '../../ledger/index.ts';
import { sendMail } from '../../mail/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { formatCredits } from '../../topups/index.ts';
import { insertNotice } from './store.ts';

const DAY_MS = 86_400_000;
/** Days before the end, the nearest first: what ends within three days gets that notice alone. */
const NOTICES = [3, 14] as const;
/** A dollar or less is not worth a notice. */
const LEAST_MICRO_USD = 1_000_000;

/** One notice, in one transaction with its event and its mail; false when it was given before. */
function notify(context: Context, days: number, ending: EndingCredit): Promise<boolean> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { org_id, amount_micro, paid_micro } = ending;
    const at = context.now();
    const expires_at = ending.expires_at.toISOString();
    const day = expires_at.slice(0, 10);
    if (!(await insertNotice(db, { org_id, day, days, at }))) return false;
    await writeEvent(db, { org_id, topic: 'credits.expiring', payload: { amount_micro, expires_at }, at });
    const org = paid_micro > LEAST_MICRO_USD ? await findOrg(db, org_id) : null;
    if (org === null) return true;
    await sendMail(context, {
      template: 'credits_expiring',
      to: await findBillingMailboxes(db, org_id),
      org_id,
      reference: `${org_id}-${day}-${days}`,
      data: { org: org.name, slug: org.slug, amount: formatCredits(paid_micro), expires_at },
    });
    return true;
  });
}

/** Gives the notices that are due, each once; returns how many. A job. */
export async function notifyExpiring(context: Context): Promise<number> {
  let given = 0;
  for (const name of context.shards.names) {
    const ledger = context.shards.at(name);
    let after = context.now();
    for (const days of NOTICES) {
      const until = new Date(context.now().getTime() + days * DAY_MS);
      for (const ending of await listEnding(ledger, { after, until })) {
        if (ending.amount_micro > LEAST_MICRO_USD && (await notify(context, days, ending))) given++;
      }
      after = until;
    }
  }
  return given;
}
