// Cards that are kept at the rail that debits them, and its debits, while their holder is away.
import { type Rail, RailError } from '@svc/core/topups/index.ts';
import type { Loop } from '../engine/loop.ts';
import type { Order } from './rails.ts';

type RailMandates = NonNullable<Rail['mandates']>;
type ChargeRequest = Parameters<RailMandates['charge']>[0];
type Charge = Awaited<ReturnType<RailMandates['charge']>>;
type Ask = <T>(what: string, work: () => T) => Promise<T>;

/** A rail forgets under which key it was asked after so long. */
const KEPT_MS = 86_400_000;
const UNDER_WAY_MS = 3_000;
const FATES = { ok: 70, under_way: 12, no_money: 12, refused: 6 };
const NO_MONEY = {
  kind: 'failed',
  last: true,
  code: 'card_declined',
  message: 'simulated: no money',
} as const;

const refOf = (topup_id: string) => `pi_${topup_id.slice(4)}`;

/** The debits of a run. They are orders of the rail, so that whatever is asked of a payment is asked of theirs. */
export class Debits {
  readonly #loop: Loop;
  readonly #orders: Map<string, Order>;
  readonly #asked_ms = new Map<string, number>();
  readonly #refused = new Map<string, RailError>();
  /** Called for each payment that the rail takes. */
  taken: (order: Order) => void = () => {};

  constructor(loop: Loop, orders: Map<string, Order>) {
    this.#loop = loop;
    this.#orders = orders;
  }

  /** The part of the rail about cards that are kept. */
  mandates(ask: Ask): RailMandates {
    return {
      methods: ['card'],
      closes_setups: true,
      createSetup: ({ mandate_id }) =>
        ask('createSetup', () => ({
          setup_ref: `cs_test_${mandate_id.slice(4)}`,
          registration_url: 'https://rail-b.sim/setup',
          customer_ref: null,
        })),
      readSetup: (setup_ref) =>
        ask('readSetup', () => ({
          ...{ kind: 'mandate', change: 'confirmed', mandate_id: null, setup_ref, first_payment: null },
          ...{ token_ref: 'pm_simulated', customer_ref: 'cus_simulated', ends_at: null },
        })),
      closeSetup: () => ask('closeSetup', () => {}),
      readToken: () => ask('readToken', () => null),
      cancelToken: () => ask('cancelToken', () => {}),
      givesNotice: () => false,
      announce: () => ask('announce', () => null),
      charge: (request) => ask('charge', () => this.#charge(request)),
      findCharge: ({ topup_id }) => ask('findCharge', () => this.#find(topup_id)),
    };
  }

  /** As under an idempotency key, for a day: the same top-up is one debit. @throws RailError where the rail refuses it. */
  #charge(request: ChargeRequest): Charge {
    const { topup_id } = request;
    const { draw, now_ms } = this.#loop;
    const refused = this.#refused.get(topup_id);
    if (refused !== undefined) throw refused;
    const known = this.#find(topup_id);
    if (known !== null && now_ms - (this.#asked_ms.get(topup_id) ?? 0) < KEPT_MS) return known;
    this.#asked_ms.set(topup_id, now_ms);
    const fate = draw.weighted(FATES);
    if (fate === 'refused') {
      const code = 'authentication_required';
      const refusal = new RailError('simulated: refused', { declined: true, code });
      this.#refused.set(topup_id, refusal);
      throw refusal;
    }
    const order = this.#orderOf(request, fate === 'no_money' ? NO_MONEY : null);
    const take = () => this.#take(order);
    if (fate === 'ok') take();
    if (fate === 'under_way')
      this.#loop.later('rail takes a debit', draw.unit() * UNDER_WAY_MS, take, this.#loop.world);
    return this.#find(topup_id) as Charge;
  }

  /** The order of a debit, made where there is none. */
  #orderOf({ topup_id, total_minor, currency }: ChargeRequest, failure: Order['failure']): Order {
    const ref = refOf(topup_id);
    const order: Order = this.#orders.get(ref) ?? {
      ...{ rail: 'rail-b', ref, topup_id, total_minor, currency, is_debit: true, failure },
      ...{ payments: [], refunded: new Set(), reported: new Set(), closed: false },
    };
    this.#orders.set(ref, order);
    return order;
  }

  #take(order: Order): void {
    // A second one has a name of its own, so that it is seen.
    order.payments.push(order.payments.length === 0 ? order.ref : `${order.ref}_${order.payments.length}`);
    this.#loop.as(this.#loop.world, () => this.taken(order));
  }

  #find(topup_id: string): Charge | null {
    const order = this.#orders.get(refOf(topup_id));
    if (order === undefined) return null;
    return { gateway_ref: order.ref, facts: factsOf(order) };
  }
}

/** What became of the payments of an order so far. */
export function factsOf({ payments, total_minor, currency, failure }: Order): Charge['facts'] {
  if (failure !== null) return [failure];
  return payments.map((payment_ref) => ({
    ...{ kind: 'captured', payment_ref, amount_minor: total_minor, currency, method: 'card' },
  }));
}
