// A dispute of a payment in words: what happened, what it means for the credits, what to do. Pure.
import type { TopupRowFragment } from '../../api/gen/graphql.ts';
import { currencyText, spendText } from '../../ui/format/money.ts';
import { dayText } from '../../ui/format/time.ts';

export type Dispute = Omit<NonNullable<TopupRowFragment['dispute']>, '__typename'>;

const dayOf = (time: string) => dayText(time.slice(0, 10));

interface Words {
  readonly happened: string;
  readonly means: string;
  /** Null: nothing. */
  readonly todo: string | null;
}

function ofOpen(dispute: Dispute): Words {
  const { amountMinor, currency, creditsMicro, openedAt, reason, respondBy } = dispute;
  const until = respondBy ? ` before ${dayOf(respondBy)}` : '';
  const why = reason === '' ? '' : `, as “${reason.replaceAll('_', ' ')}”`;
  return {
    happened: `On ${dayOf(openedAt)} the payer asked the bank to take ${currencyText(amountMinor, currency)} back${why}.`,
    means: `Up to ${spendText(creditsMicro)} of credit, as far as it was unused, is held until the bank decides. Calls go on with the rest; refunds, gifts and automatic top-up wait.`,
    todo: `If one of you asked by mistake, have the bank withdraw it: nothing else is as quick. If not, write to support${until} with what shows who paid.`,
  };
}

function ofLost(dispute: Dispute): Words {
  const { amountMinor, currency, creditsMicro, writtenOffMicro, closedAt, liftedAt, paidAt } = dispute;
  const amount = currencyText(amountMinor, currency);
  const spent = BigInt(writtenOffMicro ?? '0');
  const when = closedAt ? `On ${dayOf(closedAt)} the bank` : 'The bank';
  const happened = `${when} decided for the payer: ${amount} went back.`;
  const taken = `The ${spendText(creditsMicro)} of credit that it bought is gone.`;
  if (spent === 0n) return { happened, means: `${taken} Nothing of it had been spent.`, todo: null };
  const owed = `${taken} ${spendText(`${spent}`)} of it had been spent and is owed.`;
  if (paidAt) return { happened, means: `${owed} It was paid on ${dayOf(paidAt)}.`, todo: null };
  const state = liftedAt
    ? 'Calls are allowed again; refunds and gifts wait until it is paid.'
    : 'Calls, refunds and gifts are refused until it is paid.';
  return { happened, means: `${owed} ${state}`, todo: 'Write to support and agree how it is paid.' };
}

/** What a dispute says to the customer. */
export function wordsOfDispute(dispute: Dispute): Words {
  if (dispute.status === 'open') return ofOpen(dispute);
  if (dispute.status === 'lost') return ofLost(dispute);
  const when = dispute.closedAt ? `On ${dayOf(dispute.closedAt)} the bank` : 'The bank';
  return {
    happened: `${when} decided for the payment: ${currencyText(dispute.amountMinor, dispute.currency)} stays.`,
    means: 'Credit that was held is yours again, where it was before.',
    todo: null,
  };
}
