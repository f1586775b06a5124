// Rail-a through its official client. An order is made there; a page of ours opens the rail's checkout for it.
import { equalBytes, hmacSha256, type JsonObject } from '../../kernel/index.ts';
import type { TopupFact } from '../types.ts';
import { railABooks } from './rail-a-books.ts';
import {
  askRailA,
  connectRailA,
  isUnanswered,
  type RailAAccount,
  type RailAClient,
} from './rail-a-client.ts';
import { railADisputes } from './rail-a-dispute.ts';
import { capturedPayment, failedAttempt, readRailA, verifyRailA } from './rail-a-event.ts';
import { railAMandates } from './rail-a-mandate.ts';
import { railARefunds } from './rail-a-refund.ts';
import { listIn, nameIn, nameOf, unreadable } from './read.ts';
import {
  type CheckoutOpening,
  type CheckoutRequest,
  type CheckoutState,
  type Rail,
  RailError,
} from './types.ts';

const PUBLIC_API = 'https://api.razorpay.com';
const PUBLIC_SCRIPT = 'https://checkout.razorpay.com/v1/checkout.js';
/** The checkout loads from several hosts of the rail. */
const PUBLIC_SOURCES = ['https://*.razorpay.com'];

interface RailAOptions extends RailAAccount {
  readonly webhook_secrets: readonly string[];
}

type Ask = <T>(call: (client: RailAClient) => Promise<T>) => Promise<T>;

/** The order that was made for a top-up; null when there is none. */
async function findOrder(ask: Ask, receipt: string): Promise<string | null> {
  const orders = listIn(await ask(({ sdk }) => sdk.orders.all({ receipt })));
  return nameOf(orders.find((order) => order['receipt'] === receipt)?.['id']);
}

/**
 * Makes the order of a top-up. The rail has no idempotency key for orders: when its answer is lost, the order is looked
 * for by its receipt before anybody may make another.
 */
async function createOrder(ask: Ask, request: CheckoutRequest): Promise<string> {
  const { topup_id, org_id } = request;
  try {
    const order = await ask(({ sdk }) =>
      sdk.orders.create({
        amount: request.total_minor,
        currency: request.currency,
        receipt: topup_id,
        notes: { topup_id, org_id },
        payment_capture: true,
      }),
    );
    return nameIn(order);
  } catch (error) {
    if (!(error instanceof RailError) || !isUnanswered(error)) throw error;
    const found = await findOrder(ask, topup_id);
    if (found === null) throw error;
    return found;
  }
}

/**
 * Payments of an order as facts, oldest first, and the fees of those that were captured.
 * @throws RailError where one is of another order, or was captured and cannot be read.
 */
export function stateOf(gateway_ref: string, payments: readonly JsonObject[]): CheckoutState {
  if (payments.some(({ order_id }) => order_id !== gateway_ref))
    throw unreadable('with a payment of another order');
  const facts: TopupFact[] = [];
  const fees: Record<string, number> = {};
  // The rail lists the newest first; its times are whole seconds.
  const oldest_first = payments
    .toReversed()
    .sort((a, b) => Number(a['created_at']) - Number(b['created_at']));
  for (const payment of oldest_first) {
    // A refunded payment was captured before; whether it was booked is known here by its id.
    const is_captured = payment['captured'] === true;
    const fact = is_captured ? capturedPayment(payment) : null;
    if (is_captured && fact === null) throw unreadable('with a captured payment without name or amount');
    if (fact !== null) {
      facts.push(fact);
      if (Number.isSafeInteger(payment['fee'])) fees[fact.payment_ref] = payment['fee'] as number;
    } else if (payment['status'] === 'failed') facts.push(failedAttempt(payment));
  }
  return { facts, fees };
}

/** Gives a payment back under a key, once however often it is asked. */
async function refundOnce(ask: Ask, payment_ref: string): Promise<void> {
  const path = `/v1/payments/${encodeURIComponent(payment_ref)}/refund`;
  try {
    await ask((client) => client.post(path, {}, { 'X-Refund-Idempotency': `refund-${payment_ref}` }));
  } catch (error) {
    // Its key is forgotten some day; the rail still knows that the money went back.
    if (error instanceof RailError && error.declined && /fully refunded/.test(error.message)) return;
    throw error;
  }
}

function openingOf(options: RailAOptions): CheckoutOpening {
  const { base_url, key_id, key_secret } = options;
  const origin = base_url ?? PUBLIC_API;
  return {
    key_id,
    script_url: base_url === null ? PUBLIC_SCRIPT : `${base_url}/v1/checkout.js`,
    form_url: `${origin}/v1/checkout/embedded`,
    sources: base_url === null ? PUBLIC_SOURCES : [new URL(base_url).origin],
    isPaid(gateway_ref, fields) {
      const { razorpay_order_id, razorpay_payment_id, razorpay_signature } = fields;
      if (razorpay_order_id !== gateway_ref || !/^[0-9a-f]{64}$/.test(razorpay_signature ?? '')) return false;
      const expected = hmacSha256(key_secret, `${gateway_ref}|${razorpay_payment_id}`);
      return equalBytes(Buffer.from(razorpay_signature as string, 'hex'), expected);
    },
  };
}

/** Rail-a at `options.base_url`. Nothing is sent before the first call. */
export function openRailA(options: RailAOptions): Rail {
  let client: Promise<RailAClient> | null = null;
  const ask: Ask = (call) => {
    client ??= connectRailA(options);
    return askRailA(client, call);
  };
  return {
    name: 'rail-a',
    live: options.key_id.startsWith('rzp_live_'),
    opening: openingOf(options),
    mandates: railAMandates(ask, stateOf),
    books: railABooks(ask),
    async createCheckout(request) {
      return { gateway_ref: await createOrder(ask, request), checkout_url: request.pay_url };
    },
    async readCheckout(gateway_ref) {
      return stateOf(gateway_ref, listIn(await ask(({ sdk }) => sdk.orders.fetchPayments(gateway_ref))));
    },
    // The rail has no call that closes an order. Our page opens it no more, and a payment on it is booked.
    closeCheckout: async () => {},
    refundPayment: (payment_ref) => refundOnce(ask, payment_ref),
    ...railARefunds(ask),
    ...railADisputes(ask),
    readCallback(callback) {
      verifyRailA(callback.raw, callback.signature, options.webhook_secrets);
      return readRailA(callback);
    },
  };
}
