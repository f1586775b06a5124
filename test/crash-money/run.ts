// Rounds of payments, refunds, disputes, debits and plans, in each of which something is killed; then three days pass, and the
// oracle looks.
import { type Draw, drawFrom } from '../crash/draw.ts';
import { until } from '../support/programs/until.ts';
import { pause } from './ask.ts';
import { CustomerActs } from './customer.ts';
import { judge } from './oracle.ts';
import { StaffActs } from './staff.ts';
import { hasten, waiting } from './waiting.ts';
import { openWorld, type Part, type World } from './world.ts';

export interface MoneyReport {
  readonly seed: number;
  readonly rounds: number;
  readonly topups: number;
  readonly refunds: number;
  readonly gifts: number;
  readonly disputes: number;
  /** Automatic top-ups that were paid. */
  readonly debits: number;
  /** Fees of plans that were paid. */
  readonly fees: number;
  readonly grants: number;
  readonly faults: readonly string[];
}

export interface MoneyOptions {
  readonly rounds: number;
  readonly seed: number;
  progress(line: string): void;
}

/** Top-ups that begin in a round, next to one other act. */
const STARTS = 3;
/** Customers under way at once at most. */
const UNDER_WAY_MAX = 30;
/** Of a customer: an address gets 20 mails a day. */
const TOPUPS_EACH = 4;
const ROUND_MS = 600;
const HOUR_MS = 3_600_000;
/** Passes after half of the rounds: what was paid before can be given away then. */
const WEEK_MS = 8 * 24 * HOUR_MS;
/** Longer than the last poll of a top-up (48 h) and than any pause of a workflow that waits for a rail. */
const AFTERWARDS_MS = [HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS];
/** Longer than anything waits that happens at once. */
export const REST_MS = 240_000;
/** Programs take seconds to start, the servers less: they are killed as often as that allows. */
const KILLS: Readonly<Record<Part, number>> = {
  'gateway 0': 15,
  'gateway 1': 15,
  admin: 10,
  worker: 25,
  postgres: 20,
  temporal: 15,
};

/** How the rails deliver and answer in a round. */
function misbehave({ sim_a, sim_b }: World, draw: Draw): string {
  const manner = draw.weighted({ well: 40, twice: 25, late: 15, reversed: 10, lost: 10 });
  const knobs = {
    duplicates: manner === 'twice' ? 2 : 0,
    delay_ms: manner === 'late' ? draw.int(200, 1_000) : 0,
    hold: manner === 'reversed',
    reverse: manner === 'reversed',
    drop: manner === 'lost' ? ['*'] : [],
  };
  const mode = draw.pick(['error', 'lost_answer', 'late_answer'] as const);
  const api = draw.unit() < 0.4 ? [{ match: 'POST ', mode, times: 2, delay_ms: 400 }] : [];
  sim_a.turn({ notices: draw.weighted({ deliver: 70, fail: 15, hold: 15 }) });
  for (const sim of [sim_a, sim_b]) {
    sim.webhooks.release();
    sim.turn({ webhooks: knobs, api });
  }
  return api.length === 0 ? manner : `${manner}, ${mode}`;
}

function behave({ sim_a, sim_b }: World): void {
  sim_a.turn({ notices: 'deliver' });
  for (const sim of [sim_a, sim_b]) {
    sim.turn({ webhooks: { duplicates: 0, delay_ms: 0, hold: false, reverse: false, drop: [] }, api: [] });
    sim.webhooks.release();
  }
}

/** Waits until nothing is left of what `look` names; what is left after four minutes. */
async function emptied(world: World, look: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const isEmpty = async () => {
    await hasten(world);
    left = await look();
    return left.length === 0;
  };
  await until('nothing waits', isEmpty, REST_MS).catch(() => {});
  return left;
}

/**
 * Lets time pass as soon as everything has happened that happens at once: a mail that is not sent for a day is given up.
 * What still waits after four minutes; then no time has passed.
 */
async function passWhenDone(world: World, ms: number): Promise<string[]> {
  const left = await emptied(world, async () => (await waiting(world)).moments);
  if (left.length > 0) return left.map((what) => `${what} still wait`);
  await world.pass(ms);
  return [];
}

/** Lets three days pass; what then still waits. */
async function rest(world: World): Promise<string[]> {
  for (const by of AFTERWARDS_MS) {
    const left = await passWhenDone(world, by);
    if (left.length > 0) return left;
  }
  const left = await emptied(world, async () => {
    const { days, moments } = await waiting(world);
    return [...days, ...moments];
  });
  return left.map((what) => `after three days ${what} still wait`);
}

/** The acts of a run: customers and staff, and what of it failed. */
class Acts {
  readonly customers: CustomerActs;
  readonly staff: StaffActs;
  readonly faults: string[] = [];
  readonly under_way = new Set<Promise<void>>();
  readonly #world: World;
  readonly #draw: Draw;

  constructor(world: World, draw: Draw) {
    this.customers = new CustomerActs(world, draw);
    this.staff = new StaffActs(world, draw);
    this.#world = world;
    this.#draw = draw;
  }

  #begin(
    what: 'topUp' | 'mandate' | 'plan' | 'gift' | 'staff',
    customer = this.#draw.pick(this.#world.customers),
  ): void {
    const act = (what === 'staff' ? this.staff.act() : this.customers[what](customer)).catch(
      (error: unknown) => void this.faults.push(String(error)),
    );
    this.under_way.add(act);
    void act.finally(() => this.under_way.delete(act));
  }

  /** What begins in a round, each at a moment of its own. */
  beginRound(): void {
    const draw = this.#draw;
    for (let i = 0; i < STARTS; i++) setTimeout(() => this.#begin('topUp'), draw.int(0, ROUND_MS));
    const other = draw.weighted({ mandate: 40, plan: 25, staff: 35 });
    setTimeout(() => this.#begin(other), draw.int(0, ROUND_MS));
  }

  /** Everybody gives something away, or lets credit be bought by itself. */
  beginWithAll(what: 'gift' | 'mandate'): void {
    for (const customer of this.#world.customers) this.#begin(what, customer);
  }

  /** Until all of them have ended. */
  async end(world: World): Promise<void> {
    while (this.under_way.size > 0) {
      await hasten(world);
      await Promise.race([Promise.all(this.under_way), pause(2_000)]);
    }
  }
}

async function runRounds(world: World, acts: Acts, draw: Draw, { rounds, progress }: MoneyOptions) {
  const starting = new Map<Part, Promise<void>>();
  for (let round = 1; round <= rounds && acts.faults.length === 0; round++) {
    if (round === Math.ceil(rounds / 2)) {
      await Promise.all(starting.values());
      behave(world);
      await acts.end(world);
      acts.faults.push(...(await passWhenDone(world, WEEK_MS)));
      acts.beginWithAll('gift');
    }
    while (acts.under_way.size > UNDER_WAY_MAX) await Promise.race(acts.under_way);
    const manner = misbehave(world, draw);
    const part = draw.weighted(KILLS);
    acts.beginRound();
    await pause(draw.int(50, ROUND_MS));
    // One that has not come up again since the last time is left to it.
    await starting.get(part);
    await world.kill(part);
    starting.set(
      part,
      pause(draw.int(0, 500)).then(() => world.start(part)),
    );
    progress(`round ${round}: rails ${manner}; killed ${part}; ${acts.under_way.size} under way`);
    await pause(ROUND_MS);
    for (const { webhooks } of [world.sim_a, world.sim_b]) webhooks.release();
    await hasten(world).catch(() => {});
  }
  await Promise.all(starting.values());
}

async function count(world: World, from: string): Promise<number> {
  const [row] = await world.rows<{ n: number }>(`select count(*)::int as n from ${from}`);
  return row?.n ?? 0;
}

/** Runs the rounds and judges at the end, or when a customer waits in vain. */
export async function runMoneyCrash(options: MoneyOptions): Promise<MoneyReport> {
  const { rounds, seed, progress } = options;
  const draw = drawFrom(seed);
  const world = await openWorld(Math.max(6, Math.ceil((rounds * STARTS) / TOPUPS_EACH)));
  const acts = new Acts(world, draw);
  const { faults } = acts;
  try {
    await runRounds(world, acts, draw, options);
    behave(world);
    await acts.end(world);
    // A debit is asked for by time that passes, and mandates of the rounds may all have been refused, cancelled or cut off.
    acts.beginWithAll('mandate');
    await acts.end(world);
    faults.push(...(await rest(world)));
    const { promised } = acts.customers;
    faults.push(...(await judge(world, promised, acts.staff)));
    if (faults.length > 0) progress(world.output());
    const { topups, refunds, gifts } = promised;
    return {
      ...{ seed, rounds, topups: topups.size, refunds: refunds.size, gifts: gifts.size, faults },
      disputes: await count(world, 'dispute'),
      debits: await count(world, `topup where source = 'auto' and status = 'paid'`),
      fees: await count(world, `plan_charge where status = 'paid'`),
      grants: acts.staff.granted.size,
    };
  } finally {
    await world.close();
  }
}
