// What a customer does: starts a top-up, pays it or not, asks for some of it back, disputes it, gives some away, lets it be
// bought by itself, changes the plan. What the service answered is written down.
import type { Draw } from '../crash/draw.ts';
import { type Answer, ask, codeOf, gateways, pause, within } from './ask.ts';
import type { Customer, World } from './world.ts';

/** What was promised to a customer. */
export interface Promised {
  /** Top-ups that were answered, by the key of their request. */
  readonly topups: Map<string, string>;
  /** Refunds that were answered, by the key of their request. */
  readonly refunds: Map<string, string>;
  /** Mandates that were answered, by the key of their request. */
  readonly mandates: Map<string, string>;
  /** Gifts that were answered, by their id, and whose code was redeemed. */
  readonly gifts: Map<string, { readonly amount_micro_usd: number; redeemed: boolean }>;
  /** Organizations that were told that they are on a larger plan. */
  readonly plans: Set<string>;
}

export function nothingPromised(): Promised {
  const [topups, refunds, mandates] = [new Map(), new Map(), new Map()];
  return { topups, refunds, mandates, gifts: new Map(), plans: new Set() };
}

/** How a payer ends. */
type Ending = 'pays' | 'fails once' | 'pays another amount' | 'pays twice' | 'leaves' | 'cancels and pays';

const ENDINGS: Readonly<Record<Ending, number>> = {
  pays: 60,
  'fails once': 10,
  'pays another amount': 5,
  'pays twice': 10,
  leaves: 5,
  'cancels and pays': 10,
};
/** What follows on a payment. */
const NEXT = { refund: 40, dashboard: 10, gift: 25, dispute: 20, nothing: 5 } as const;
/** A payment that is not booked by then has lost its callbacks, and the poll will find it. */
const BOOKED_MS = 6_000;

export class CustomerActs {
  readonly promised = nothingPromised();
  readonly #world: World;
  readonly #draw: Draw;
  #serial = 0;

  constructor(world: World, draw: Draw) {
    this.#world = world;
    this.#draw = draw;
  }

  #ask(customer: Customer, method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const more = { ...(body === undefined ? {} : { body }), ...(key === undefined ? {} : { key }) };
    return ask(gateways(this.#world, this.#draw), { method, path, token: customer.key, ...more });
  }

  #key(what: string): string {
    return `${what}-${++this.#serial}`;
  }

  /** Whether callbacks arrive: of some facts nobody else would say anything, but for the rail's settlements. */
  #isHeard(): boolean {
    return this.#world.sim_a.webhooks.knobs.drop.length === 0;
  }

  /** One top-up from its start to whatever its payer does with it. */
  async topUp(customer: Customer): Promise<void> {
    const draw = this.#draw;
    const ending = draw.weighted(ENDINGS);
    const amount_minor = customer.rail === 'rail-a' ? draw.int(50_000, 300_000) : draw.int(500, 9_000);
    const key = this.#key('topup');
    const answer = await this.#ask(customer, 'POST', '/v1/credits/topups', { amount_minor }, key);
    if (codeOf(answer) === 'org_inactive') return;
    if (answer.status !== 201) throw new Error(`no top-up: ${JSON.stringify(answer.body)}`);
    const { id, gateway_ref } = answer.body['topup'] as { id: string; gateway_ref: string };
    this.promised.topups.set(key, id);
    if (ending === 'leaves') return;
    if (ending === 'cancels and pays')
      await this.#ask(customer, 'POST', `/v1/credits/topups/${id}/cancel`, {});
    this.#pay(customer, gateway_ref, ending);
    if (ending === 'pays another amount' || draw.unit() < 0.3) return;
    const payment_ref = await this.#paid(customer, id);
    if (payment_ref === null) return;
    const next = draw.weighted(NEXT);
    if (next === 'refund') await this.#refund(customer, id, amount_minor);
    if (next === 'dashboard') this.#dashboard(customer, gateway_ref);
    if (next === 'gift') await this.gift(customer);
    if (next === 'dispute') await this.#dispute(customer, payment_ref);
  }

  #pay({ rail }: Customer, ref: string, ending: Ending): void {
    const { sim_a, sim_b } = this.#world;
    const sim = rail === 'rail-a' ? sim_a : sim_b;
    const pay = rail === 'rail-a' ? 'upi' : 'pay';
    if (ending === 'fails once') sim.act(ref, 'fail');
    if (ending === 'pays another amount') sim.turn({ amount_delta: 100 });
    // A session that was closed at the rail is not paid there any more; rail-a's orders stay open.
    const is_closed = rail === 'rail-b' && sim_b.store.session(ref).status !== 'open';
    if (!is_closed) sim.act(ref, pay);
    sim.turn({ amount_delta: 0 });
    // Of a second payment of a session only its event says something; an order names all of its payments.
    if (ending === 'pays twice' && (rail === 'rail-a' || this.#isHeard())) sim.act(ref, 'again');
  }

  /** The payment that a top-up was booked for; null where it is not booked within some seconds. */
  async #paid(customer: Customer, id: string): Promise<string | null> {
    let payment_ref: string | null = null;
    await within(BOOKED_MS, async () => {
      const { body } = await this.#ask(customer, 'GET', `/v1/credits/topups/${id}`);
      if (body['status'] === 'paid') payment_ref = body['payment_ref'] as string;
      return payment_ref !== null;
    });
    return payment_ref;
  }

  async #refund(customer: Customer, id: string, amount_minor: number): Promise<void> {
    const times = this.#draw.int(1, 2);
    for (let i = 0; i < times; i++) {
      const whole = this.#draw.unit() < 0.3;
      const part = Math.max(100, Math.floor((amount_minor * this.#draw.int(10, 40)) / 100));
      const key = this.#key('refund');
      const body = { reason: 'too much', ...(whole ? {} : { amount_minor: part }) };
      const answer = await this.#ask(customer, 'POST', `/v1/credits/topups/${id}/refund`, body, key);
      // Its credit may have been given away meanwhile, or a payment is disputed.
      if (answer.status >= 400) return;
      this.promised.refunds.set(key, (answer.body['refund'] as { id: string }).id);
    }
  }

  /** Somebody gives money back in the rail's own dashboard. */
  #dashboard({ rail }: Customer, ref: string): void {
    const { sim_a, sim_b } = this.#world;
    if (!this.#isHeard()) return;
    if (rail === 'rail-a') {
      const payment = sim_a.store
        .paymentsOf(ref)
        .find(({ captured, refund_status }) => captured && refund_status === null);
      if (payment !== undefined) sim_a.store.refund(payment.id, { amount: 10_000 }, null);
      return;
    }
    const { payment_intent } = sim_b.store.session(ref);
    if (payment_intent !== null) sim_b.store.refunding.create({ payment_intent, amount: '100' });
  }

  /** The payer asks the bank for the money back, and the bank decides; what it decides may be lost on its way. */
  async #dispute({ rail }: Customer, payment_ref: string): Promise<void> {
    if (!this.#isHeard()) return;
    const draw = this.#draw;
    const disputes = rail === 'rail-a' ? this.#world.sim_a.disputes : this.#world.sim_b.store.disputing;
    let id: string;
    try {
      ({ id } = disputes.open(payment_ref, draw.unit() < 0.4 ? { amount: draw.int(100, 400) } : {}));
    } catch {
      // Nothing is left of the payment.
      return;
    }
    await pause(draw.int(0, 2_000));
    if (draw.unit() < 0.3) disputes.move(id, 'under_review');
    await pause(draw.int(0, 2_000));
    disputes.move(id, draw.weighted({ won: 50, lost: 50 }));
  }

  /** Gives paid credit away, which may be done when it is a week old. */
  async gift(customer: Customer): Promise<void> {
    const amount_micro_usd = this.#draw.int(1_000_000, 3_000_000);
    const wanted = { amount_micro_usd, note: 'thanks' };
    const made = await this.#ask(customer, 'POST', '/v1/credits/gifts', wanted, this.#key('gift'));
    if (made.status !== 201) return;
    const gift = { amount_micro_usd, redeemed: false };
    this.promised.gifts.set(made.body['id'] as string, gift);
    const { customers } = this.#world;
    const other = customers.find(({ org_id }) => org_id !== customer.org_id) as Customer;
    const body = { code: made.body['code'] };
    const redeemed = await this.#ask(other, 'POST', '/v1/credits/redeem', body, this.#key('redeem'));
    if (redeemed.status < 300) gift.redeemed = true;
  }

  /** Registers a mandate and switches automatic top-up on; some cancel it again. */
  async mandate(customer: Customer): Promise<void> {
    const draw = this.#draw;
    const method = customer.rail === 'rail-a' ? draw.pick(['upi', 'card', 'emandate']) : 'card';
    const made = await this.#register(customer, method);
    if (made === null) return;
    this.#grantLeave(customer, made.mandate_ref);
    const read = () => this.#ask(customer, 'GET', `/v1/credits/mandates/${made.id}`);
    const isActive = async () => ((await read()).body['mandate'] as { status?: string })?.status === 'active';
    if (!(await within(BOOKED_MS, isActive))) return;
    const amount_minor = customer.rail === 'rail-a' ? 100_000 : 2_500;
    const config = { enabled: true, threshold_micro: 60_000_000, amount_minor };
    await this.#ask(customer, 'PUT', '/v1/credits/auto-topup', config);
    if (draw.unit() < 0.2) await this.#ask(customer, 'POST', `/v1/credits/mandates/${made.id}/cancel`, {});
  }

  /** One whose answer was lost with its gateway is cancelled first: nobody knows where to register it. */
  async #register(customer: Customer, method: string): Promise<{ id: string; mandate_ref: string } | null> {
    for (let i = 0; i < 3; i++) {
      const key = this.#key('mandate');
      const answer = await this.#ask(customer, 'POST', '/v1/credits/mandates', { method }, key);
      if (answer.status === 201) {
        const made = answer.body['mandate'] as { id: string; mandate_ref: string };
        this.promised.mandates.set(key, made.id);
        return made;
      }
      if (codeOf(answer) !== 'mandate_exists') return null;
      const { details } = answer.body['error'] as { details: { mandate_id: string } };
      await this.#ask(customer, 'POST', `/v1/credits/mandates/${details.mandate_id}/cancel`, {});
    }
    return null;
  }

  #grantLeave({ rail }: Customer, mandate_ref: string): void {
    const { sim_a, sim_b } = this.#world;
    const bank = this.#draw.weighted({ ok: 80, insufficient_funds: 20 });
    if (rail === 'rail-a') sim_a.store.mandates.register(sim_a.store.order(mandate_ref), bank);
    else if (sim_b.store.mandates.sessions.get(mandate_ref)?.status === 'open')
      sim_b.store.mandates.save(mandate_ref, bank);
  }

  /** Asks for a larger plan, or for the smallest from next month on. */
  async plan(customer: Customer): Promise<void> {
    const plan_id = this.#draw.weighted({ team: 80, payg: 20 });
    const answer = await this.#ask(customer, 'PUT', `/v1/orgs/${customer.org_id}/plan`, { plan_id });
    const { plan } = answer.body as { plan?: { id: string } };
    if (answer.status === 200 && plan?.id === 'team') this.promised.plans.add(customer.org_id);
  }
}
