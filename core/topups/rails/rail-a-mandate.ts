// Leave to debit at rail-a: an order whose first payment gives it, and later debits, each with its notice where the banks
// ask for one.
import { isObject, type JsonObject, machineMs } from '../../kernel/index.ts';
import type {
  Charge,
  ChargeRequest,
  MandateFact,
  MandateMethod,
  RailMandates,
  SetupRequest,
  Token,
} from './mandate-types.ts';
import { isUnanswered, type RailAClient } from './rail-a-client.ts';
import { listIn, nameIn, nameOf } from './read.ts';
import { RailError } from './types.ts';

type Ask = <T>(call: (client: RailAClient) => Promise<T>) => Promise<T>;

/** One rupee proves UPI and cards and goes back; a bank account needs no payment. */
const PROOF_MINOR = 100;
const TEN_YEARS_SECONDS = 10 * 365 * 86_400;
/** The rail asks for a number, also where the payer gave it none. */
const NO_CONTACT = '+910000000000';

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

async function findOrder(ask: Ask, receipt: string): Promise<string | null> {
  const orders = listIn(await ask(({ sdk }) => sdk.orders.all({ receipt })));
  return nameOf(orders.find((order) => order['receipt'] === receipt)?.['id']);
}

/** Makes an order, or finds the one whose answer was lost: the rail has no idempotency key for orders. */
async function orderOnce(ask: Ask, receipt: string, body: object): Promise<string> {
  try {
    const made = await ask(({ sdk }) => sdk.orders.create({ ...body, receipt } as never));
    return nameIn(made);
  } catch (error) {
    if (!(error instanceof RailError) || !isUnanswered(error)) throw error;
    const found = await findOrder(ask, receipt);
    if (found === null) throw error;
    return found;
  }
}

async function createSetup(ask: Ask, request: SetupRequest) {
  const { mandate_id, org_id, method, email, name, max_amount_minor } = request;
  const notes = { mandate_id, org_id };
  // A payer that the rail knows by his address is the same one.
  const customer = await ask(({ sdk }) =>
    sdk.customers.create({
      name: name.slice(0, 50),
      fail_existing: 0,
      notes,
      ...(email === null ? {} : { email }),
    }),
  );
  const customer_ref = nameIn(customer);
  const expire_at = Math.floor(machineMs() / 1_000) + TEN_YEARS_SECONDS;
  const setup_ref = await orderOnce(ask, mandate_id, {
    amount: method === 'emandate' ? 0 : PROOF_MINOR,
    currency: request.currency,
    customer_id: customer_ref,
    method,
    notes,
    payment_capture: true,
    token: { max_amount: max_amount_minor, expire_at, frequency: 'as_presented' },
  });
  return { setup_ref, registration_url: request.page_url, customer_ref };
}

const CHANGES: Readonly<Record<string, MandateFact['change']>> = {
  confirmed: 'confirmed',
  rejected: 'rejected',
  paused: 'paused',
  resumed: 'resumed',
  cancelled: 'cancelled',
};

const NOBODY = { mandate_id: null, setup_ref: null, ends_at: null, first_payment: null };

/** What a token says of its mandate; null where it says too little. */
function factOfToken(token: JsonObject, change: MandateFact['change'] | undefined): MandateFact | null {
  const token_ref = textOf(token['id']);
  if (change === undefined || token_ref === null) return null;
  const ends = token['expired_at'];
  const ends_at = Number.isSafeInteger(ends) ? new Date((ends as number) * 1_000) : null;
  return {
    kind: 'mandate',
    change,
    ...NOBODY,
    token_ref,
    customer_ref: textOf(token['customer_id']),
    ends_at,
  };
}

/** What an event says of a token; null when it is no such event. */
export function mandateOfToken(type: string, token: JsonObject): MandateFact | null {
  return type.startsWith('token.') ? factOfToken(token, CHANGES[type.slice('token.'.length)]) : null;
}

/** The payment, where it proved something and goes back. */
function proofOf(payment: JsonObject): string | null {
  return Number(payment['amount']) > 0 ? textOf(payment['id']) : null;
}

/** What a captured payment of a registration says: whose token it made, and that it goes back. */
export function mandateOfPayment(payment: JsonObject, mandate_id: string | null): MandateFact {
  return {
    ...{ kind: 'mandate', change: 'completed', mandate_id, setup_ref: null, ends_at: null },
    token_ref: null,
    customer_ref: null,
    first_payment: proofOf(payment),
  };
}

/** The state of a token, asked for; null where the rail refuses to say, or says too little. */
async function readToken(ask: Ask, { customer_ref, token_ref }: Token): Promise<MandateFact | null> {
  try {
    const token: unknown = await ask(({ sdk }) => sdk.customers.fetchToken(customer_ref, token_ref));
    if (!isObject(token)) return null;
    const details = isObject(token['recurring_details']) ? token['recurring_details'] : {};
    return factOfToken({ customer_id: customer_ref, ...token }, CHANGES[String(details['status'])]);
  } catch (error) {
    if (!(error instanceof RailError) || !error.declined) throw error;
    return null;
  }
}

async function readSetup(ask: Ask, setup_ref: string): Promise<MandateFact | null> {
  const payments = listIn(await ask(({ sdk }) => sdk.orders.fetchPayments(setup_ref)));
  const paid = payments.find(({ captured, token_id }) => captured === true && textOf(token_id) !== null);
  if (paid === undefined) return null;
  const [customer_id, token_id] = [paid['customer_id'] as string, paid['token_id'] as string];
  const fact = await readToken(ask, { customer_ref: customer_id, token_ref: token_id });
  return { ...mandateOfPayment(paid, null), ...fact, setup_ref, first_payment: proofOf(paid) };
}

function debitOf(request: ChargeRequest): object {
  const { topup_id, org_id } = request;
  return {
    amount: request.total_minor,
    currency: request.currency,
    notes: { topup_id, org_id },
  };
}

/** Payments of an order as what became of its debit; null where nothing was sent. */
type Read = (gateway_ref: string) => Promise<Charge | null>;

/**
 * The number that the payer gave the rail when the debits were allowed. It is asked for and not kept: the rail writes to it
 * about the debit, and nobody else needs it.
 */
async function contactOf(ask: Ask, setup_ref: string | null): Promise<string> {
  if (setup_ref === null) return NO_CONTACT;
  const payments = listIn(await ask(({ sdk }) => sdk.orders.fetchPayments(setup_ref)));
  const allowed = payments.find(({ captured, token_id }) => captured === true && textOf(token_id) !== null);
  return textOf(allowed?.['contact']) ?? NO_CONTACT;
}

async function charge(ask: Ask, request: ChargeRequest, read: Read): Promise<Charge> {
  const { gateway_ref, customer_ref, token_ref } = request;
  if (gateway_ref === null) throw new Error(`${request.topup_id} has no order`);
  const contact = await contactOf(ask, request.setup_ref);
  try {
    await ask(({ sdk }) =>
      sdk.payments.createRecurringPayment({
        ...debitOf(request),
        email: request.email ?? 'void@razorpay.com',
        contact,
        order_id: gateway_ref,
        customer_id: customer_ref,
        token: token_ref,
        recurring: '1',
        description: request.description,
      } as never),
    );
  } catch (error) {
    if (!(error instanceof RailError) || !error.declined) throw error;
    // Where another worker has asked meanwhile, the rail refuses a second debit: the first one counts.
    const other = await read(gateway_ref);
    if (other === null) throw error;
    return other;
  }
  return (await read(gateway_ref)) ?? { gateway_ref, facts: [] };
}

const notified = (method: MandateMethod) => method !== 'emandate';

/** The calls about mandates; `stateOf` reads the payments of an order as facts. */
export function railAMandates(
  ask: Ask,
  stateOf: (gateway_ref: string, payments: readonly JsonObject[]) => { readonly facts: Charge['facts'] },
): RailMandates {
  const read: Read = async (gateway_ref) => {
    const payments = listIn(await ask(({ sdk }) => sdk.orders.fetchPayments(gateway_ref)));
    return payments.length === 0 ? null : { gateway_ref, facts: stateOf(gateway_ref, payments).facts };
  };
  return {
    methods: ['upi', 'card', 'emandate'],
    createSetup: (request) => createSetup(ask, request),
    readSetup: (setup_ref) => readSetup(ask, setup_ref),
    // The rail has no call that closes an order. Our page opens it no more, but one that is open already can be paid.
    closes_setups: false,
    closeSetup: async () => {},
    readToken: (token) => readToken(ask, token),
    async cancelToken({ customer_ref, token_ref }) {
      try {
        await ask(({ sdk }) => sdk.customers.deleteToken(customer_ref, token_ref));
      } catch (error) {
        // It is gone already.
        if (!(error instanceof RailError) || !error.declined) throw error;
      }
    },
    givesNotice: notified,
    async announce(request, earliest) {
      const { topup_id, token_ref, method } = request;
      const payment_after = Math.floor(earliest.getTime() / 1_000);
      const notice = notified(method) ? { notification: { token_id: token_ref, payment_after } } : {};
      // Whoever asked before may have died with the answer: a second order would be a second notice to the payer.
      const made = await findOrder(ask, topup_id);
      return made ?? orderOnce(ask, topup_id, { ...debitOf(request), payment_capture: true, ...notice });
    },
    charge: (request) => charge(ask, request, read),
    findCharge: ({ gateway_ref }) => (gateway_ref === null ? Promise.resolve(null) : read(gateway_ref)),
  };
}
