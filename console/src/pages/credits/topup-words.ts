// A top-up in words: its state, and what to do. Pure.
import type { RefundTopupMutation, TopupRowFragment } from '../../api/gen/graphql.ts';
import { balanceText, currencyText, spendText } from '../../ui/format/money.ts';
import type { Shape, Tone } from '../../ui/status.tsx';

/** A refund as it stands right after it was asked for. */
export type MadeRefund = Extract<
  RefundTopupMutation['refundTopup'],
  { __typename: 'RefundTopupPayload' }
>['refund'];

/** How one came to the page of a top-up: from the checkout, having paid or not, or from the list. */
export type Outcome = 'done' | 'back' | undefined;

/** A pending top-up whose last payment was declined: nothing is on its way. */
const isDeclined = ({ status, failureMessage }: Pick<TopupRowFragment, 'status' | 'failureMessage'>) =>
  status === 'PENDING' && failureMessage !== '';

const marks: Record<
  TopupRowFragment['status'],
  { readonly tone: Tone; readonly shape: Shape; readonly word: string }
> = {
  PENDING: { tone: 'mute', shape: 'half', word: 'pending' },
  PAID: { tone: 'ok', shape: 'ok', word: 'paid' },
  FAILED: { tone: 'bad', shape: 'bad', word: 'failed' },
  EXPIRED: { tone: 'mute', shape: 'mute', word: 'not paid' },
  REVIEW: { tone: 'warn', shape: 'warn', word: 'in review' },
};

export function markOf(
  row: Pick<TopupRowFragment, 'status' | 'failureMessage' | 'disputed' | 'refundedMinor' | 'totalMinor'> & {
    readonly dispute?: { readonly status: string } | null;
  },
): (typeof marks)['PAID'] {
  if (row.dispute?.status === 'lost') return { tone: 'bad', shape: 'bad', word: 'lost in a dispute' };
  if (row.disputed) return { tone: 'warn', shape: 'warn', word: 'disputed' };
  if (row.status === 'PAID' && row.refundedMinor !== '0') {
    const word = row.refundedMinor === row.totalMinor ? 'refunded' : 'partly refunded';
    return { tone: 'mute', shape: 'mute', word };
  }
  return isDeclined(row) ? { tone: 'bad', shape: 'bad', word: 'declined' } : marks[row.status];
}

function ofPending(row: TopupRowFragment, total: string, outcome: Outcome): string {
  if (isDeclined(row)) {
    return `The payment of ${total} was declined: ${row.failureMessage} Nothing was charged.`;
  }
  if (outcome === 'back') return `You came back without paying ${total}. Nothing was charged.`;
  const wait = 'A card takes a few seconds, a bank transfer up to a few days';
  return outcome === 'done'
    ? `Waiting for ${total} to be booked. ${wait}; you may leave, it is booked all the same.`
    : `${total} has not arrived. ${wait}.`;
}

/** What happened to a payment after it was booked. */
function sinceOf({ disputed, dispute, refundedMinor, currency }: TopupRowFragment): string {
  if (dispute?.status === 'lost') return ' The bank took it back.';
  if (disputed) return ' The payer disputes it with the bank: its unused credit waits for the decision.';
  return refundedMinor === '0' ? '' : ` ${currencyText(refundedMinor, currency)} of it went back.`;
}

/** What becomes of a refund that was just asked for. */
export function refundSentence({ status, currency, totalMinor, taxMinor, creditsMicro }: MadeRefund): string {
  const tax = taxMinor === '0' ? '' : ` (${currencyText(taxMinor, currency)} of it tax)`;
  const total = `${currencyText(totalMinor, currency)}${tax}`;
  const credit = `${spendText(creditsMicro)} of credit`;
  switch (status) {
    case 'REFUNDED':
      return `${total} is on its way to where it came from; ${credit} was taken. The credit note is with the invoices.`;
    case 'PENDING':
      return `${total} goes back as soon as the rail has taken it; ${credit} was taken. A mail says when.`;
    default:
      return `The rail declined the refund of ${total}. ${credit} is yours again.`;
  }
}

/** What became of a top-up, and what that means. */
export function sentenceOf(row: TopupRowFragment, outcome: Outcome): string {
  const total = currencyText(row.totalMinor, row.currency);
  switch (row.status) {
    case 'PAID':
      // Rounded down, as its quote and the balance are.
      return `${balanceText(row.creditsMicro)} of credit added for ${total}.${sinceOf(row)}`;
    case 'PENDING':
      return ofPending(row, total, outcome);
    case 'REVIEW':
      return `The payment of ${total} has arrived and is looked at by a person. Nothing is lost.`;
    case 'EXPIRED':
      return `The checkout for ${total} was not paid and is closed. Nothing was charged.`;
    default:
      return `The payment of ${total} failed. ${row.failureMessage || 'Nothing was charged.'}`;
  }
}

/** What can be done with a top-up by who may pay. */
export function choicesOf(
  row: TopupRowFragment,
  outcome: Outcome,
): {
  /** Where to go on paying. */
  readonly resume: string | null;
  readonly cancel: boolean;
  /** Begin anew. */
  readonly again: boolean;
  /** Ask for money back. */
  readonly refund: boolean;
} {
  const open = row.status === 'PENDING';
  // Who has just paid waits: the same checkout would only say that it is done.
  const resumable = open && (outcome !== 'done' || isDeclined(row));
  return {
    resume: resumable ? (row.checkoutUrl ?? null) : null,
    cancel: open && outcome !== 'done',
    again: row.status === 'FAILED' || row.status === 'EXPIRED',
    refund: row.status === 'PAID' && !row.disputed && row.refundedMinor !== row.totalMinor,
  };
}
