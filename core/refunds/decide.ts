// The states of a refund as one pure function (docs/money/refunds.md#states).
import type { RefundFact } from '../topups/index.ts';
import type { Refund } from './types.ts';

export type Decision =
  /** The rail has it: note its name there. */
  | { readonly do: 'note' }
  /** The money went back: document, event, sums of the top-up. */
  | { readonly do: 'settle' }
  /** It will not go back: the credits return. */
  | { readonly do: 'fail'; readonly code: string }
  /** The rail says what cannot be booked by itself: a person decides. */
  | { readonly do: 'ask'; readonly kind: 'refund_differs' | 'refund_failed_later' }
  /** It is another refund than ours, or ours had been given up: it counts as made at the rail. */
  | { readonly do: 'not_ours' }
  | { readonly do: 'nothing' };

export type RefundState = Pick<Refund, 'status' | 'gateway_ref' | 'total_minor' | 'currency'>;

/** What the rail's `fact` about a refund does to it. The order of facts does not matter for money. */
export function decideRefund(refund: RefundState, fact: RefundFact): Decision {
  if (refund.gateway_ref !== null && refund.gateway_ref !== fact.ref) return { do: 'not_ours' };
  if (refund.status === 'failed') return { do: fact.status === 'refunded' ? 'not_ours' : 'nothing' };
  if (refund.status === 'refunded')
    return fact.status === 'failed' ? { do: 'ask', kind: 'refund_failed_later' } : { do: 'nothing' };
  if (fact.amount_minor !== refund.total_minor || fact.currency !== refund.currency)
    return { do: 'ask', kind: 'refund_differs' };
  switch (fact.status) {
    case 'pending':
      return { do: refund.gateway_ref === null ? 'note' : 'nothing' };
    case 'refunded':
      return { do: 'settle' };
    case 'failed':
      return { do: 'fail', code: fact.failure_code ?? 'failed_at_rail' };
  }
}
