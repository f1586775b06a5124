// The mails of a dispute.
import { findBillingMailboxes } from '../../identity/index.ts';
import type { Context } from '../../kernel/index.ts';
import { sendMail } from '../../mail/index.ts';
import { findBilling } from '../../orgs/index.ts';
import { type Dispute, formatAmount, nameTopups } from '../../topups/index.ts';

type About = Pick<Dispute, 'id' | 'org_id' | 'topup_id' | 'currency' | 'amount_minor'>;

async function mailOf(context: Context, { id, org_id, topup_id, currency, amount_minor }: About) {
  const billing = await findBilling(context.db, org_id);
  if (billing === null) throw new Error(`${org_id} has gone`);
  const to = await findBillingMailboxes(context.db, org_id);
  const { name: org, slug } = billing;
  const amount = formatAmount(amount_minor, currency);
  const invoice_number = (await nameTopups(context.db, [topup_id])).get(topup_id)?.invoice_number ?? null;
  return { mail: { to, org_id, reference: id }, data: { org, slug, amount, topup_id, invoice_number } };
}

/** Asks for the mail that a payment is disputed. */
export async function mailOpened(
  context: Context,
  dispute: About & Pick<Dispute, 'respond_by'>,
): Promise<void> {
  const { mail, data } = await mailOf(context, dispute);
  const respond_by = dispute.respond_by?.toISOString() ?? null;
  await sendMail(context, { ...mail, template: 'dispute_opened', data: { ...data, respond_by } });
}

/** Asks for the mail about the end; `loss` are the credits that had been spent, in words. */
export async function mailClosed(
  context: Context,
  dispute: About,
  end: { readonly outcome: 'won' | 'lost'; readonly loss: string | null },
): Promise<void> {
  const { mail, data } = await mailOf(context, dispute);
  await sendMail(context, { ...mail, template: 'dispute_closed', data: { ...data, ...end } });
}
