// Cards that are kept at rail-b, and payments with them while their holder is away.
import type Stripe from 'stripe';
import { isObject, type JsonObject, machineMs } from '../../kernel/index.ts';
import type {
  Charge,
  ChargeRequest,
  MandateFact,
  RailMandates,
  SetupRequest,
  Token,
} from './mandate-types.ts';
import { capturedIntent, failureOf } from './rail-b-event.ts';
import { unreadable } from './read.ts';
import { type CheckoutState, RailError } from './types.ts';

type Ask = <T>(call: (client: Stripe) => Promise<T>) => Promise<T>;
/** A payment that waits for a person, who is not there, is over. */
const OVER: ReadonlySet<string> = new Set(['requires_payment_method', 'requires_action', 'canceled']);

/** Whether a name is that of a payment, and not of a checkout. */
export function isIntent(gateway_ref: string): boolean {
  return gateway_ref.startsWith('pi_');
}

/** What the rail took of a payment, where its balance is expanded and in the same currency. */
export function feeOfIntent({ latest_charge, currency }: Stripe.PaymentIntent): number | null {
  const charge = latest_charge !== null && typeof latest_charge === 'object' ? latest_charge : null;
  const balance = charge?.balance_transaction ?? null;
  // A fee in another currency is not comparable with the amounts of the top-up.
  if (balance === null || typeof balance !== 'object' || balance.currency !== currency) return null;
  return balance.fee;
}

/** What became of a payment without a checkout. */
export function chargeStateOf(intent: Stripe.PaymentIntent): CheckoutState {
  const object = intent as unknown as JsonObject;
  if (OVER.has(intent.status)) return { facts: [failureOf(object, true)], fees: {} };
  if (intent.status !== 'succeeded') return { facts: [], fees: {} };
  const paid = capturedIntent(object);
  if (paid === null) throw unreadable('with a payment without name or amount');
  const fee_minor = feeOfIntent(intent);
  return { facts: [paid], fees: fee_minor === null ? {} : { [paid.payment_ref]: fee_minor } };
}

function setupOf(request: SetupRequest): Stripe.Checkout.SessionCreateParams {
  const { mandate_id, org_id, email } = request;
  const metadata = { mandate_id, org_id };
  return {
    mode: 'setup',
    currency: request.currency.toLowerCase(),
    client_reference_id: mandate_id,
    metadata,
    setup_intent_data: { metadata },
    customer_creation: 'always',
    expires_at: Math.floor(machineMs() / 1_000) + request.expires_in_seconds,
    success_url: request.success_url,
    cancel_url: request.cancel_url,
    ...(email === null ? {} : { customer_email: email }),
  };
}

function idOf(value: unknown): string | null {
  const id = isObject(value) ? value['id'] : value;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** What became of a registration; null where it is open, or says too little. */
function factOf(session: Stripe.Checkout.Session): MandateFact | null {
  const about = {
    kind: 'mandate',
    mandate_id: session.client_reference_id,
    setup_ref: session.id,
    ends_at: null,
    first_payment: null,
  } as const;
  if (session.status === 'expired')
    return { ...about, change: 'lapsed', token_ref: null, customer_ref: null };
  const intent: unknown = session.setup_intent;
  if (session.status !== 'complete' || !isObject(intent)) return null;
  const [token_ref, customer_ref] = [idOf(intent['payment_method']), idOf(session.customer)];
  if (token_ref === null || customer_ref === null) return null;
  return { ...about, change: 'confirmed', token_ref, customer_ref };
}

async function findCharge(ask: Ask, request: ChargeRequest): Promise<Charge | null> {
  const { customer_ref: customer, topup_id } = request;
  const found = await ask(async (client) => {
    for await (const intent of client.paymentIntents.list({ customer, limit: 100 })) {
      if (intent.metadata['topup_id'] === topup_id) return intent;
    }
    return null;
  });
  return found === null ? null : { gateway_ref: found.id, facts: chargeStateOf(found).facts };
}

async function charge(ask: Ask, request: ChargeRequest): Promise<Charge> {
  const { topup_id, org_id, mandate_id, customer_ref, token_ref } = request;
  try {
    const intent = await ask((client) =>
      client.paymentIntents.create(
        {
          amount: request.total_minor,
          currency: request.currency.toLowerCase(),
          customer: customer_ref,
          payment_method: token_ref,
          description: request.description,
          metadata: { topup_id, org_id, mandate_id },
          off_session: true,
          confirm: true,
        },
        { idempotencyKey: topup_id },
      ),
    );
    return { gateway_ref: intent.id, facts: chargeStateOf(intent).facts };
  } catch (error) {
    if (!(error instanceof RailError) || !error.declined) throw error;
    // A refusal of the bank leaves a payment that says why; one of the rail leaves none.
    const refused = await findCharge(ask, request);
    if (refused === null) throw error;
    return refused;
  }
}

async function passingOver(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    // It is over or gone already.
    if (!(error instanceof RailError) || !error.declined) throw error;
  }
}

/** The calls about mandates. */
export function railBMandates(ask: Ask): RailMandates {
  return {
    methods: ['card'],
    async createSetup(request) {
      const session = await ask((client) =>
        client.checkout.sessions.create(setupOf(request), { idempotencyKey: request.mandate_id }),
      );
      if (session.url === null)
        throw new RailError('The payment rail returned no address to register at.', { declined: true });
      return { setup_ref: session.id, registration_url: session.url, customer_ref: null };
    },
    async readSetup(setup_ref) {
      const expand = ['setup_intent'];
      return factOf(await ask((client) => client.checkout.sessions.retrieve(setup_ref, { expand })));
    },
    closes_setups: true,
    closeSetup: (setup_ref) => passingOver(() => ask((client) => client.checkout.sessions.expire(setup_ref))),
    // A card that its payer took away is refused, and nothing is lost but the answer.
    readToken: async () => null,
    cancelToken: ({ token_ref }: Token) =>
      passingOver(() => ask((client) => client.paymentMethods.detach(token_ref))),
    givesNotice: () => false,
    announce: async () => null,
    charge: (request) => charge(ask, request),
    findCharge: (request) => findCharge(ask, request),
  };
}
