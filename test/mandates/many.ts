// Many mandates over many days at rail-a: all top up as often as the rules let them, notices and events get lost, accounts
// are empty or slow, payers pause at their bank and people resume. One seed draws all of it, for each mandate by itself.
import type { Context, Id } from '@svc/core/kernel/index.ts';
import { newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import {
  actOnMandate,
  announceAttempt,
  chargeAttempt,
  createMandate,
  endAttempt,
  findMandate,
  lookAtBalances,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { pollTopup } from '@svc/core/topups/index.ts';
import type { Post } from '../mail/post.ts';
import type { Bank, NoticeFate } from '../sim/rails/rail-a/mandates.ts';
import type { Order, Payment } from '../sim/rails/rail-a/objects.ts';
import { tappedPool } from '../support/watched-pool.ts';
import type { RailAEvent, World } from '../topups/world.ts';

const HOUR = 3_600_000;
export const METHODS = ['upi', 'card', 'emandate'] as const;
/** How many mandates are worked on at once. */
const LANES = 10;
/** So much that every booking leaves it below: it debits as often as rules allow. */
const THRESHOLD_MICRO = 1_000_000_000_000;

export interface ManyOptions {
  readonly count: number;
  readonly days: number;
  readonly seed: number;
  /** Told of each day that is over. */
  readonly progress?: (line: string) => void;
}

/** What came of it. */
export interface Lived {
  readonly orgs: readonly Id<'org'>[];
  readonly debits: readonly Payment[];
  readonly statements: number;
  readonly names: ReadonlyMap<string, number>;
  readonly resumed: number;
  readonly lost_events: number;
}

/** One payer: his organization, the state of his dice, and what the rail has to tell about him. */
interface Payer {
  readonly org_id: Id<'org'>;
  readonly mandate_id: Id<'mandate'>;
  readonly token_ref: string;
  readonly method: (typeof METHODS)[number];
  readonly next: () => number;
  news: RailAEvent[];
  is_paused: boolean;
}

/** An attempt that has no end yet. */
interface Open {
  readonly attempt_no: number;
  readonly topup_id: Id<'topup'>;
  readonly order: string | null;
  readonly status: string;
  readonly sent_at: Date | null;
  /** When its debit is due, or its notice given up. */
  readonly due_at: Date;
}

/** A small generator with a seed, so that a run can be repeated. */
function random(seed: number): () => number {
  let at = (seed * 2_654_435_761) % 2_147_483_648;
  return () => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648;
    return at / 2_147_483_648;
  };
}

function pick<T>(next: () => number, of: readonly T[]): T {
  return of[Math.floor(next() * of.length)] as T;
}

const FATES: readonly NoticeFate[] = ['deliver', 'deliver', 'deliver', 'deliver', 'hold', 'fail'];
const BANKS: readonly Bank[] = ['ok', 'ok', 'ok', 'ok', 'insufficient_funds', 'pending'];

/** Runs `work` for all, `LANES` at once. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all].reverse();
  const lane = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

class Many {
  private readonly payers = new Map<string, Payer>();
  private readonly by_token = new Map<string, Payer>();
  private shift_ms = 0;
  private readonly context: Context;
  private readonly world: World;
  private readonly post: Post;
  readonly names = new Map<string, number>();
  resumed = 0;
  lost_events = 0;

  constructor(world: World, post: Post) {
    this.world = world;
    this.post = post;
    this.context = createContext({
      request_id: newRequestId(),
      caller: { kind: 'public' },
      pool: tappedPool(world.pool, ({ name }) => void this.names.set(name, (this.names.get(name) ?? 0) + 1)),
      log: silentLog,
      services: world.context.services,
    });
    world.sim_a.store.mandates.notice_fate = (order) => this.fateOf(order);
  }

  private fateOf({ notes }: Order): NoticeFate {
    const payer = this.payers.get(String((notes as Record<string, string>)['org_id']));
    return payer === undefined ? 'deliver' : pick(payer.next, FATES);
  }

  /** Sorts what the rail has reported by whom it is about; its own list is emptied, because it would grow for ever. */
  private hear(): void {
    const { webhooks, store } = this.world.sim_a;
    for (const event of webhooks.events.splice(0)) {
      const { payload } = event.body;
      const about = (name: string) => payload[name]?.entity as Record<string, string> | undefined;
      const order_id = about('payment')?.['order_id'] ?? about('order')?.['id'];
      const notes = order_id === undefined ? {} : (store.order(order_id).notes as Record<string, string>);
      const org_id = notes['org_id'] ?? this.by_token.get(about('token')?.['id'] ?? '')?.org_id;
      this.payers.get(org_id ?? '')?.news.push(event as unknown as RailAEvent);
    }
    webhooks.deliveries.splice(0);
  }

  /** Delivers what is to be told of a payer: one in twenty is lost, one in ten comes twice. */
  private async tell(payer: Payer): Promise<void> {
    for (const event of payer.news.splice(0)) {
      const luck = payer.next();
      if (luck < 0.05) this.lost_events++;
      else await this.world.deliverA(event);
      if (luck > 0.9) await this.world.deliverA(event);
    }
  }

  async register(n: number, seed: number): Promise<Payer> {
    const { world, context } = this;
    const org = await world.indian(`many-${n}`);
    const method = METHODS[n % METHODS.length] as (typeof METHODS)[number];
    const { mandate } = await createMandate(context, { org_id: org.id, method });
    const { store, webhooks } = world.sim_a;
    const token = store.mandates.register(store.order(mandate.setup_ref as string));
    for (const event of webhooks.events.splice(0)) await world.deliverA(event as unknown as RailAEvent);
    const config = { enabled: true, threshold_micro: THRESHOLD_MICRO, amount_minor: 100_000 };
    await setAutoTopup(context, { org_id: org.id, ...config });
    const payer: Payer = {
      ...{ org_id: org.id, mandate_id: mandate.id, token_ref: token.id, method },
      ...{ next: random(seed + n), news: [], is_paused: false },
    };
    this.payers.set(org.id, payer);
    this.by_token.set(token.id, payer);
    return payer;
  }

  /** What payers do at their banks, and what people do about a mandate that three failures have paused. */
  private async live(payer: Payer, is_off: boolean): Promise<void> {
    const { mandates } = this.world.sim_a.store;
    const luck = payer.next();
    if (payer.is_paused ? luck < 0.2 : luck < 0.005) {
      payer.is_paused = !payer.is_paused;
      mandates.move(payer.token_ref, payer.is_paused ? 'paused' : 'confirmed');
    }
    if (!is_off || payer.is_paused || payer.next() > 0.5) return;
    const { org_id, mandate_id: id } = payer;
    const found = await findMandate(this.world.pool, { id, org_id });
    // His bank may have resumed it: then only automatic top-up is off.
    if (found?.status === 'paused') await actOnMandate(this.context, { org_id, id, act: 'resume' });
    if (found?.status !== 'paused' && found?.status !== 'active') return;
    const config = { enabled: true, threshold_micro: THRESHOLD_MICRO, amount_minor: 100_000 };
    await setAutoTopup(this.context, { org_id, ...config });
    this.resumed++;
  }

  /** A bank that took its time says how it ended. */
  private settle(payer: Payer, order_ref: string): void {
    const { store } = this.world.sim_a;
    const open = store.paymentsOf(order_ref).find(({ status }) => status === 'created');
    if (open === undefined || payer.next() < 0.5) return;
    if (payer.next() < 0.5) store.capture(open.id);
    else store.fail(open.id, { reason: 'payment_timed_out', description: 'The bank did not answer.' });
  }

  /** What the workflow of an attempt does when it is awake; it sleeps until its debit is due. */
  private async carryOut(payer: Payer, { attempt_no, topup_id, order, status, due_at, sent_at }: Open) {
    const { context, world } = this;
    const { mandates } = world.sim_a.store;
    const name = { org_id: payer.org_id, attempt_no };
    if (status === 'announcing') return announceAttempt(context, name);
    if (sent_at !== null) {
      this.settle(payer, order as string);
      await pollTopup(context, { topup_id });
      return endAttempt(context, name);
    }
    const is_held = mandates.notices.get(order as string)?.status === 'created';
    if (is_held && payer.next() < 0.3) mandates.report(order as string, true);
    if (due_at > context.now()) return;
    const token = mandates.tokens.get(payer.token_ref);
    if (token !== undefined) token.bank = pick(payer.next, BANKS);
    await chargeAttempt(context, name);
  }

  /**
   * Sends the mails that are the notice, over a mail server that puts one address in ten off. The others are not what this
   * is about, and would be most of its time.
   */
  private async mail(): Promise<void> {
    const { world, post } = this;
    await world.rows(`
      delete from mail m where m.status = 'queued' and not exists (
        select from auto_topup_attempt t join mandate d on d.id = t.mandate_id
         where m.template = 'debit_notice' and t.topup_id = m.reference and d.method = 'emandate')`);
    const off = Math.floor(this.shift_ms / HOUR) % 10;
    post.server.turn({ recipient: (to) => (to.charCodeAt(5) % 10 === off ? '451 4.3.0 Later' : null) });
    while ((await post.send()) > 0);
    post.server.received.splice(0);
  }

  /** A third of a day. */
  async step(jitter_ms: number): Promise<void> {
    const { context, world } = this;
    await lookAtBalances(context);
    const open = await world.rows<Open & { readonly org_id: string }>(`
      select a.org_id, a.attempt_no, a.topup_id, t.gateway_ref as order, a.status, a.sent_at,
             coalesce(a.due_at, a.created_at + case when a.notice_failed then interval '0' else interval '72 hours' end)
               as due_at
        from auto_topup_attempt a join topup t on t.id = a.topup_id where a.ended_at is null`);
    const attempts = new Map(open.map((attempt) => [attempt.org_id, attempt]));
    const off = await world.rows<{ org_id: string }>('select org_id from auto_topup where not enabled');
    const is_off = new Set(off.map(({ org_id }) => org_id));
    await each([...this.payers.values()], async (payer) => {
      await this.live(payer, is_off.has(payer.org_id));
      const attempt = attempts.get(payer.org_id);
      if (attempt !== undefined) await this.carryOut(payer, attempt);
    });
    this.hear();
    await each([...this.payers.values()], (payer) => this.tell(payer));
    await this.mail();
    this.shift_ms += 8 * HOUR + jitter_ms;
    shiftClock(this.shift_ms);
    world.sim_a.turn({ clock_shift_ms: this.shift_ms });
  }

  get all(): readonly Payer[] {
    return [...this.payers.values()];
  }
}

/** Lives `days` with `count` mandates. The clock stays where it then is. */
export async function liveMany(world: World, post: Post, options: ManyOptions): Promise<Lived> {
  const { count, days, seed, progress = () => {} } = options;
  const many = new Many(world, post);
  for (let n = 0; n < count; n++) await many.register(n, seed);
  many.names.clear();
  const next = random(seed);
  const debits = () =>
    [...world.sim_a.store.payments.values()].filter(({ is_debit, captured }) => is_debit && captured);
  const started = performance.now();
  for (let step = 0; step < days * 3; step++) {
    await many.step(Math.floor(next() * HOUR));
    if (step % 3 !== 2) continue;
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    const refused = world.sim_a.store.mandates.refused.length;
    progress(`day ${(step + 1) / 3} of ${days}: ${debits().length} debits, ${refused} refused, ${seconds} s`);
  }
  const statements = [...many.names.values()].reduce((sum, n) => sum + n, 0);
  return {
    ...{ orgs: many.all.map(({ org_id }) => org_id), debits: debits() },
    ...{ statements, names: many.names, resumed: many.resumed, lost_events: many.lost_events },
  };
}
