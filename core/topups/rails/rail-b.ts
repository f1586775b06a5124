// Rail-b through its official client. The address is a setting, so that tests and `make up` use a simulator.
import type Stripe from 'stripe';
import { isObject, machineMs } from '../../kernel/index.ts';
import { railBBooks } from './rail-b-books.ts';
import { railBDisputes } from './rail-b-dispute.ts';
import { capturedBySession, failureOf, readEvent } from './rail-b-event.ts';
import { chargeStateOf, feeOfIntent, isIntent, railBMandates } from './rail-b-mandate.ts';
import { railBRefunds } from './rail-b-refund.ts';
import { nameIn, unreadable } from './read.ts';
import { verifyCallback } from './signature.ts';
import { type CheckoutRequest, type CheckoutState, type Rail, RailError } from './types.ts';

/** One try; with two more by the client a caller waits at most half a minute and a little. */
const TIMEOUT_MS = 10_000;
const RETRIES = 2;
/**
 * The form of the rail's answers that this code reads. A client of another release does not compile against it, so that a
 * new form is never taken up unseen.
 */
const API_VERSION = '2026-10-28.endive';
/** Statuses that say no to this very request; a wrong key or a full rail is none of them. */
const DECLINES: ReadonlySet<number> = new Set([400, 402, 404, 409]);
/** Codes with such a status that speak of the moment: the same call is under way, or another one of the same payment. */
const PASSING: ReadonlySet<string> = new Set(['idempotency_key_in_use', 'lock_timeout']);

interface RailBOptions {
  /** Null: the rail's public address. */
  readonly base_url: string | null;
  readonly key_secret: string;
  readonly webhook_secrets: readonly string[];
}

/** The official client is loaded with the first call: most processes never make one, and it is two hundred files. */
async function connect(options: RailBOptions): Promise<Stripe> {
  const { default: Stripe } = await import('stripe');
  const common = {
    apiVersion: API_VERSION,
    maxNetworkRetries: RETRIES,
    timeout: TIMEOUT_MS,
    telemetry: false,
  } as const;
  if (options.base_url === null) return new Stripe(options.key_secret, common);
  const url = new URL(options.base_url);
  const protocol = url.protocol === 'http:' ? 'http' : 'https';
  const port = url.port === '' ? { http: 80, https: 443 }[protocol] : Number(url.port);
  return new Stripe(options.key_secret, { ...common, host: url.hostname, port, protocol });
}

/** Runs a call and turns what the client throws into `RailError`; anything else is a defect and passes. */
async function asked<T>(client: Promise<Stripe>, call: (client: Stripe) => Promise<T>): Promise<T> {
  const { default: Stripe } = await import('stripe');
  try {
    return await call(await client);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const declined = DECLINES.has(error.statusCode ?? 0) && !PASSING.has(error.code ?? '');
    throw new RailError(error.message.slice(0, 500), { declined, code: error.code ?? null });
  }
}

function sessionOf(request: CheckoutRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = { topup_id: request.topup_id, org_id: request.org_id };
  return {
    mode: 'payment',
    client_reference_id: request.topup_id,
    metadata,
    payment_intent_data: { metadata },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: request.currency.toLowerCase(),
          unit_amount: request.total_minor,
          product_data: { name: request.description },
        },
      },
    ],
    // The price was quoted in one currency; the rail must not offer another.
    adaptive_pricing: { enabled: false },
    // By the machine's clock: the rail does not know ours when it is shifted for development.
    expires_at: Math.floor(machineMs() / 1_000) + request.expires_in_seconds,
    success_url: request.success_url,
    cancel_url: request.cancel_url,
    ...(request.email === null ? {} : { customer_email: request.email }),
  };
}

function feeOf({ payment_intent }: Stripe.Checkout.Session): number | null {
  return payment_intent !== null && typeof payment_intent === 'object' ? feeOfIntent(payment_intent) : null;
}

function stateOf(session: Stripe.Checkout.Session): CheckoutState {
  if (session.payment_status === 'paid') {
    const paid = capturedBySession(session as unknown as Record<string, unknown>);
    const fee_minor = feeOf(session);
    if (paid === null) throw unreadable('with a paid session without payment or amount');
    return { facts: [paid], fees: fee_minor === null ? {} : { [paid.payment_ref]: fee_minor } };
  }
  if (session.status === 'expired') return { facts: [{ kind: 'lapsed' }], fees: {} };
  const intent: unknown = session.payment_intent;
  const over = isObject(intent) && ['requires_payment_method', 'canceled'].includes(String(intent['status']));
  // A complete session without payment whose intent waits for a new method: the asynchronous payment failed.
  if (session.status === 'complete' && over) return { facts: [failureOf(intent, true)], fees: {} };
  return { facts: [], fees: {} };
}

/** An answer that is about what was asked for. @throws RailError for another one. */
function itself<T>(answer: T, gateway_ref: string): T {
  if (nameIn(answer) !== gateway_ref) throw unreadable('with another payment than was asked for');
  return answer;
}

/** Rail-b at `options.base_url`. Nothing is sent before the first call. */
export function openRailB(options: RailBOptions): Rail {
  let client: Promise<Stripe> | null = null;
  const ask = <T>(call: (client: Stripe) => Promise<T>): Promise<T> => {
    client ??= connect(options);
    return asked(client, call);
  };
  const live = /^(?:sk|rk)_live_/.test(options.key_secret);
  return {
    name: 'rail-b',
    live,
    opening: null,
    mandates: railBMandates(ask),
    books: railBBooks(ask),
    async createCheckout(request) {
      const session = await ask((client) =>
        client.checkout.sessions.create(sessionOf(request), { idempotencyKey: request.topup_id }),
      );
      const gateway_ref = nameIn(session);
      if (session.url === null)
        throw new RailError('The payment rail returned no address to pay at.', { declined: true });
      if (typeof session.url !== 'string') throw unreadable('with a session without an address');
      return { gateway_ref, checkout_url: session.url };
    },
    async readCheckout(gateway_ref) {
      if (isIntent(gateway_ref)) {
        const expand = ['latest_charge.balance_transaction'];
        const intent = await ask((client) => client.paymentIntents.retrieve(gateway_ref, { expand }));
        return chargeStateOf(itself(intent, gateway_ref));
      }
      const expand = ['payment_intent.latest_charge.balance_transaction'];
      const session = await ask((client) => client.checkout.sessions.retrieve(gateway_ref, { expand }));
      return stateOf(itself(session, gateway_ref));
    },
    async closeCheckout(gateway_ref) {
      try {
        if (isIntent(gateway_ref)) await ask((client) => client.paymentIntents.cancel(gateway_ref));
        else await ask((client) => client.checkout.sessions.expire(gateway_ref));
      } catch (error) {
        // Paid or expired meanwhile: there is nothing left to close.
        if (error instanceof RailError && error.declined) return;
        throw error;
      }
    },
    async refundPayment(payment_ref) {
      const idempotencyKey = `refund-${payment_ref}`;
      try {
        await ask((client) => client.refunds.create({ payment_intent: payment_ref }, { idempotencyKey }));
      } catch (error) {
        // The key is forgotten after a day; the rail still knows that the money went back.
        if (error instanceof RailError && error.code === 'charge_already_refunded') return;
        throw error;
      }
    },
    ...railBRefunds(ask),
    ...railBDisputes(ask),
    readCallback({ raw, signature }, machine_ms) {
      verifyCallback(raw, signature, { secrets: options.webhook_secrets, machine_ms });
      return readEvent(raw, live);
    },
  };
}
