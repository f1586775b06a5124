// What payers and banks do with an order of the simulated rail-a.
import { type Payment, RailARefusal } from './objects.ts';
import type { Payer, RailAStore } from './store.ts';

type Act = (store: RailAStore, order_id: string, payer: Payer) => Payment;

const DECLINED = {
  reason: 'payment_failed',
  description: 'Your payment was declined by the bank. Try another method.',
};
const TIMED_OUT = {
  reason: 'payment_timed_out',
  description:
    'The bank did not answer in time. If money was debited it is returned or the payment completes.',
};

function payBy(method: string): Act {
  return (store, order_id, payer) => {
    if (store.order(order_id).status === 'paid') throw new RailARefusal(400, 'This order is already paid.');
    return store.capture(store.attempt(order_id, method, payer).id);
  };
}

/** The newest attempt that has not been captured. */
function openAttempt(store: RailAStore, order_id: string): Payment {
  const open = store.paymentsOf(order_id).find(({ captured }) => !captured);
  if (open === undefined) throw new RailARefusal(400, 'No payment is under way.');
  return open;
}

export const acts: Readonly<Record<string, Act>> = {
  upi: payBy('upi'),
  card: payBy('card'),
  netbanking: payBy('netbanking'),
  /** The bank says no; the order stays open. */
  fail: (store, order_id, payer) => store.fail(store.attempt(order_id, 'card', payer).id, DECLINED),
  /** A payment whose bank has not answered yet. */
  wait: (store, order_id, payer) => store.attempt(order_id, 'netbanking', payer),
  /** The rail gives the bank up; it may still say yes (`arrive`), for three days. */
  late: (store, order_id, payer) => store.fail(store.attempt(order_id, 'upi', payer).id, TIMED_OUT),
  arrive: (store, order_id) => store.capture(openAttempt(store, order_id).id),
  bounce(store, order_id) {
    const payment = openAttempt(store, order_id);
    if (payment.status !== 'failed') return store.fail(payment.id, DECLINED);
    payment.error_reason = DECLINED.reason;
    payment.error_description = DECLINED.description;
    return payment;
  },
  /** A second payment on an order that is paid, as a race at the rail can cause it. */
  again: (store, order_id, payer) => store.capture(store.attempt(order_id, 'upi', payer).id),
};
