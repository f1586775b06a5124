// Mails about automatic top-up.
import { findBillingMailboxes, findMailboxes } from '../identity/index.ts';
import type { Context, Id } from '../kernel/index.ts';
import { sendMail } from '../mail/index.ts';
import { findBilling } from '../orgs/index.ts';
import { formatAmount, formatCredits, type Topup } from '../topups/index.ts';
import { skipUrl } from './skip-link.ts';
import type { Attempt, AutoTopup, Mandate } from './types.ts';

const METHODS: Readonly<Record<Mandate['method'], string>> = {
  card: 'card',
  upi: 'UPI',
  emandate: 'bank account (e-mandate)',
};

const REASONS = {
  three_failures: 'Three debits in a row failed.',
  mandate_cancelled: 'The payment method was removed.',
  mandate_expired: 'The leave to debit the payment method has ended.',
} as const;

/** The billing address and the owners. */
async function payers(context: Context, org_id: Id<'org'>): Promise<string[]> {
  const { db } = context;
  const owners = await findMailboxes(db, { org_id, roles: ['owner'] });
  return [...(await findBillingMailboxes(db, org_id)), ...owners];
}

async function namesOf(context: Context, org_id: Id<'org'>): Promise<{ org: string; slug: string }> {
  const billing = await findBilling(context.db, org_id);
  if (billing === null) throw new Error(`there is no organization ${org_id}`);
  return { org: billing.name, slug: billing.slug };
}

/** Template of the notice; its reference is the top-up. */
export const NOTICE = 'debit_notice';

/** Mails the notice before a debit, with the link that skips it; to how many addresses. */
export async function mailNotice(
  context: Context,
  args: { attempt: Attempt; topup: Topup; mandate: Mandate; auto: AutoTopup; earliest: Date },
): Promise<number> {
  const { topup, mandate, auto, earliest } = args;
  const { org_id, id: topup_id } = topup;
  return sendMail(context, {
    ...{ template: NOTICE, org_id, to: await payers(context, org_id), reference: topup_id },
    data: {
      ...(await namesOf(context, org_id)),
      total: formatAmount(topup.total_minor, topup.currency),
      method: METHODS[mandate.method],
      earliest_at: earliest.toISOString(),
      threshold: formatCredits(auto.threshold_micro),
      topup_id,
    },
    link: { to: skipUrl(context, topup_id), root_key: context.services.root_key },
  });
}

/** A debit that failed, and how many in a row. */
export async function mailFailed(
  context: Context,
  topup: Topup,
  consecutive_failures: number,
): Promise<void> {
  const { org_id, id: topup_id } = topup;
  await sendMail(context, {
    ...{ template: 'topup_failed', org_id, to: await payers(context, org_id), reference: topup_id },
    data: {
      ...(await namesOf(context, org_id)),
      total: formatAmount(topup.total_minor, topup.currency),
      reason: topup.failure_message ?? 'The payment failed.',
      consecutive_failures,
      topup_id,
    },
  });
}

/** Automatic top-up was switched off by the service. */
export async function mailDisabled(
  context: Context,
  mandate: Mandate,
  reason: keyof typeof REASONS,
): Promise<void> {
  const { org_id, id } = mandate;
  const reference = `${id}-${context.now().getTime()}`;
  await sendMail(context, {
    ...{ template: 'auto_topup_disabled', org_id, to: await payers(context, org_id), reference },
    data: { ...(await namesOf(context, org_id)), reason: REASONS[reason] },
  });
}
