// Automatic top-up in words: what is set, what happens next, and why it does not. Pure.
import type { AutoTopupFactsFragment } from '../../../api/gen/graphql.ts';
import { currencyText, spendText } from '../../../ui/format/money.ts';
import type { Shape, Tone } from '../../../ui/status.tsx';

type Next = AutoTopupFactsFragment['next'];

const METHODS: Readonly<Record<string, string>> = { CARD: 'card', UPI: 'UPI', EMANDATE: 'bank account' };

/** A method of payment as people say it. */
export function methodText(method: string): string {
  return METHODS[method] ?? method.toLowerCase();
}

/** "Use a card", "Use UPI". */
export function offerText(method: string): string {
  return method === 'UPI' ? 'Use UPI' : `Use a ${methodText(method)}`;
}

/** What is set, as one sentence. */
export function ruleText({ config, mandate, currency, notifyHours }: AutoTopupFactsFragment): string {
  const amount = currencyText(config.amountMinor, currency);
  const by = mandate?.status === 'ACTIVE' ? ` by ${methodText(mandate.method)}` : '';
  const notice = notifyHours ? `, ${notifyHours} hours after a mail says so` : '';
  return `When the balance falls below ${spendText(config.thresholdMicro)}, add ${amount}${by}${notice}.`;
}

const BLOCKS: Readonly<Record<string, string>> = {
  no_active_mandate: 'No payment method may be debited.',
  mandate_paused: 'The payment method is paused.',
  dispute_open: 'A payment is disputed; it goes on when the bank has decided.',
  org_inactive: 'The organisation is not active.',
  too_soon: 'The last debit is too recent.',
  daily_limit: 'Five debits were made today.',
  amount_above_cap: 'The amount with its tax is more than the payment method allows.',
  amount_too_small: 'The amount is less than what can be bought.',
  legal_acceptance_required: 'Terms wait to be accepted: an owner accepts them under Legal.',
  price_unavailable: 'No price can be made now. Check the billing details.',
  rail_unavailable: 'Payments are not available now.',
};

const OFFS: Readonly<Record<string, string>> = {
  three_failures: 'Three debits in a row failed, so it was switched off.',
  mandate_cancelled: 'The payment method was removed, so it was switched off.',
  mandate_expired: 'The leave to debit has ended, so it was switched off.',
};

/** What happens next; `at` is said beside it where there is a time. */
export function nextText({ step, reason }: Pick<Next, 'step' | 'reason'>): string {
  switch (step) {
    case 'OFF':
      return OFFS[reason] ?? 'It is switched off.';
    case 'WATCHING':
      return 'The balance is watched.';
    case 'BLOCKED':
      return BLOCKS[reason] ?? 'Nothing is bought now.';
    case 'ANNOUNCING':
      return 'A debit is about to be announced.';
    case 'WAITING':
      return 'A debit is announced.';
    default:
      return 'A debit is being made.';
  }
}

/** Its mark: a state that needs nobody, one that waits, and one that somebody must look at. */
export function markOf({ step, reason }: Pick<Next, 'step' | 'reason'>): {
  readonly tone: Tone;
  readonly shape: Shape;
  readonly word: string;
} {
  if (step === 'WATCHING') return { tone: 'ok', shape: 'ok', word: 'on' };
  if (step === 'BLOCKED') return { tone: 'warn', shape: 'warn', word: 'blocked' };
  if (step !== 'OFF') return { tone: 'mute', shape: 'run', word: 'under way' };
  return reason === ''
    ? { tone: 'mute', shape: 'mute', word: 'off' }
    : { tone: 'bad', shape: 'bad', word: 'switched off' };
}

/** What became of the last one, where that is worth saying; null otherwise. */
export function lastText(last: AutoTopupFactsFragment['lastAttempt']): string | null {
  if (last?.status === 'FAILED') return `The last debit failed: ${last.message || last.reason}`;
  return last?.status === 'SKIPPED' ? 'The last debit was skipped.' : null;
}
