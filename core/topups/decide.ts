// The states of a top-up as one pure function (docs/money/topups.md#states): from its state and a fact to what
// must be done.
import type { Captured, Topup, TopupFact, TopupStatus } from './types.ts';

export type Decision =
  /** Book credit, document and event: a payment is always booked, whatever the state before. */
  | { readonly do: 'book'; readonly payment: Captured }
  /** The amount or currency is not what was asked: a person decides. */
  | { readonly do: 'review'; readonly payment: Captured }
  /** A further payment for a top-up that is paid or in review: it is refunded in full. */
  | { readonly do: 'refund_second'; readonly payment: Captured }
  /** This very payment was booked, or waits in review, already. */
  | { readonly do: 'replay' }
  | { readonly do: 'fail'; readonly code: string; readonly message: string; readonly tell: boolean }
  /** Keeps the reason; the payer may try again. */
  | { readonly do: 'note_failure'; readonly code: string; readonly message: string }
  | { readonly do: 'expire' }
  | { readonly do: 'nothing' };

export type TopupState = Pick<
  Topup,
  'status' | 'payment_ref' | 'total_minor' | 'currency' | 'source' | 'gateway_ref'
>;

function decideCaptured(topup: TopupState, payment: Captured): Decision {
  if (topup.payment_ref === payment.payment_ref) return { do: 'replay' };
  const settled: readonly TopupStatus[] = ['paid', 'review'];
  if (settled.includes(topup.status)) return { do: 'refund_second', payment };
  const as_asked = payment.amount_minor === topup.total_minor && payment.currency === topup.currency;
  return { do: as_asked ? 'book' : 'review', payment };
}

/**
 * What `fact` does to a top-up in this state. The order of facts does not matter for money: a captured payment always
 * wins.
 */
export function decideTopup(topup: TopupState, fact: TopupFact): Decision {
  if (fact.kind === 'captured') return decideCaptured(topup, fact);
  if (topup.status !== 'pending') return { do: 'nothing' };
  switch (fact.kind) {
    case 'failed': {
      const { code, message } = fact;
      const over = fact.last || topup.source === 'auto';
      return over ? { do: 'fail', code, message, tell: true } : { do: 'note_failure', code, message };
    }
    case 'unreachable':
      // A callback that named the order first proves that the rail was reached.
      if (topup.gateway_ref !== null) return { do: 'nothing' };
      return { do: 'fail', code: 'rail_unavailable', message: fact.message, tell: false };
    case 'lapsed':
    case 'cancelled':
      return { do: 'expire' };
  }
}
