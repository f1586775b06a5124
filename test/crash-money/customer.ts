// What a customer does: starts a top-up, pays it or not, asks for some of it back, gives some away. Every request is repeated
// until the service answers it, as a client with patience does, and what it answered is written down.
import type { Draw } from '../crash/draw.ts';
import type { Customer, World } from './world.ts';

/** What was promised to a customer. */
export interface Promised {
  /** Top-ups that were answered, by the key of their request. */
  readonly topups: Map<string, string>;
  /** Refunds that were answered, by the key of their request. */
  readonly refunds: Map<string, string>;
  /** Gifts that were answered, by their id, and whose code was redeemed. */
  readonly gifts: Map<string, { readonly amount_micro_usd: number; redeemed: boolean }>;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** A call is taken over a minute after its process died, and whoever took it over may die as well. */
const PATIENCE_MS = 300_000;
const PAUSE_MS = 100;

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

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** A fault that a client repeats the request for. */
function passes({ status, body }: Answer): boolean {
  const { code } = (body['error'] ?? {}) as { code?: string };
  return (
    status >= 500 || status === 429 || code === 'refund_in_progress' || code === 'idempotency_in_progress'
  );
}

export class CustomerActs {
  readonly promised: Promised = { topups: new Map(), refunds: new Map(), gifts: new Map() };
  readonly #world: World;
  readonly #draw: Draw;
  #serial = 0;

  constructor(world: World, draw: Draw) {
    this.#world = world;
    this.#draw = draw;
  }

  /** The answer to a request that is repeated until it has one. @throws Error after five minutes. */
  async #ask(customer: Customer, method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const deadline = performance.now() + PATIENCE_MS;
    let last = '';
    for (let tries = this.#draw.int(0, 1); performance.now() < deadline; tries++) {
      try {
        const reply = await fetch(`${this.#world.origin((tries % 2) as 0 | 1)}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${customer.key}`,
            'content-type': 'application/json',
            ...(key === undefined ? {} : { 'idempotency-key': key }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(15_000),
        });
        const answer = { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
        if (!passes(answer)) return answer;
        last = `${answer.status} ${JSON.stringify(answer.body)}`;
      } catch (error) {
        last = String(error);
      }
      await pause(PAUSE_MS);
    }
    throw new Error(`${method} ${path} has had no answer in five minutes; the last was ${last}`);
  }

  #key(what: string): string {
    return `${what}-${++this.#serial}`;
  }

  /** One top-up from its start to whatever its payer does with it. */
  async topUp(customer: Customer): Promise<void> {
    const draw = this.#draw;
    const ending = draw.weighted(ENDINGS);
    const amount_minor = customer.rail === 'rail-a' ? draw.int(50_000, 300_000) : draw.int(500, 9_000);
    const key = this.#key('topup');
    const answer = await this.#ask(customer, 'POST', '/v1/credits/topups', { amount_minor }, key);
    if (answer.status !== 201) throw new Error(`no top-up: ${JSON.stringify(answer.body)}`);
    const { id, gateway_ref } = answer.body['topup'] as { id: string; gateway_ref: string };
    this.promised.topups.set(key, id);
    if (ending === 'leaves') return;
    if (ending === 'cancels and pays')
      await this.#ask(customer, 'POST', `/v1/credits/topups/${id}/cancel`, {});
    this.#pay(customer, gateway_ref, ending);
    if (ending === 'pays another amount' || draw.unit() < 0.3) return;
    if (!(await this.#paid(customer, id))) return;
    const next = draw.weighted({ refund: 50, dashboard: 10, gift: 30, nothing: 10 });
    if (next === 'refund') await this.#refund(customer, id, amount_minor);
    if (next === 'dashboard') this.#dashboard(customer, gateway_ref);
    if (next === 'gift') await this.#gift(customer);
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
    if (ending === 'pays twice') sim.act(ref, 'again');
  }

  /** Whether the top-up is booked within some seconds; else its callbacks were lost, and the poll will find it. */
  async #paid(customer: Customer, id: string): Promise<boolean> {
    for (let i = 0; i < 60; i++) {
      const { body } = await this.#ask(customer, 'GET', `/v1/credits/topups/${id}`);
      if (body['status'] === 'paid') return true;
      await pause(PAUSE_MS);
    }
    return false;
  }

  async #refund(customer: Customer, id: string, amount_minor: number): Promise<void> {
    const times = this.#draw.int(1, 2);
    for (let i = 0; i < times; i++) {
      const whole = this.#draw.unit() < 0.3;
      const part = Math.max(100, Math.floor((amount_minor * this.#draw.int(10, 40)) / 100));
      const key = this.#key('refund');
      const body = { reason: 'too much', ...(whole ? {} : { amount_minor: part }) };
      const answer = await this.#ask(customer, 'POST', `/v1/credits/topups/${id}/refund`, body, key);
      // Its credit may have been given away meanwhile.
      if (answer.status >= 400) return;
      this.promised.refunds.set(key, (answer.body['refund'] as { id: string }).id);
    }
  }

  /**
   * Somebody gives money back in the rail's own dashboard. Only while callbacks arrive: nobody else would say so, but for the
   * rail's settlements.
   */
  #dashboard({ rail }: Customer, ref: string): void {
    const { sim_a, sim_b } = this.#world;
    if (sim_a.webhooks.knobs.drop.length > 0) return;
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

  async #gift(customer: Customer): Promise<void> {
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
}
