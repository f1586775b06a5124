// Rounds of payments and refunds, in each of which something is killed; then three days pass, and the oracle looks.
import { advanceClock } from '@svc/core/runtime/index.ts';
import { type Draw, drawFrom } from '../crash/draw.ts';
import { until } from '../support/programs/until.ts';
import { CustomerActs } from './customer.ts';
import { judge, waiting } from './oracle.ts';
import { openWorld, type Part, parts, type World } from './world.ts';

export interface MoneyReport {
  readonly seed: number;
  readonly rounds: number;
  readonly topups: number;
  readonly refunds: number;
  readonly gifts: number;
  readonly faults: readonly string[];
}

export interface MoneyOptions {
  readonly rounds: number;
  readonly seed: number;
  progress(line: string): void;
}

/** Top-ups that begin in a round. */
const STARTS = 3;
/** Customers under way at once at most; one whose gateway died waits a minute until another takes his call over. */
const UNDER_WAY_MAX = 30;
/** Of a customer: an organization may start 30 a day, and an address gets 20 mails. */
const TOPUPS_EACH = 6;
const ROUND_MS = 600;
const HOUR_MS = 3_600_000;
/** Longer than the last poll of a top-up (48 h) and than any pause of a workflow that waits for a rail. */
const AFTERWARDS_MS = [HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS];
/** Longer than the lease of a mail whose sender was killed. */
export const REST_MS = 240_000;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

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
  for (const sim of [sim_a, sim_b]) {
    sim.webhooks.release();
    sim.turn({ webhooks: knobs, api });
  }
  return api.length === 0 ? manner : `${manner}, ${mode}`;
}

function behave({ sim_a, sim_b }: World): void {
  for (const sim of [sim_a, sim_b]) {
    sim.turn({ webhooks: { duplicates: 0, delay_ms: 0, hold: false, reverse: false, drop: [] }, api: [] });
    sim.webhooks.release();
  }
}

/** Waits until nothing is left that happens at once; what is left after four minutes. */
async function settled(world: World): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const look = async () => {
    left = (await waiting(world)).moments;
    return left.length === 0;
  };
  await until('settled', look, REST_MS).catch(() => {});
  return left;
}

/** Lets three days pass; what then still waits. */
async function rest(world: World): Promise<string[]> {
  for (const by of AFTERWARDS_MS) {
    // A mail that is not sent for a day is given up: time may not pass before everything has happened that can.
    const left = await settled(world);
    if (left.length > 0) return left.map((what) => `${what} still wait`);
    await world.withPool((pool) => advanceClock(pool, by));
    // Programs and workflows look at the clock every half second.
    await pause(2_000);
  }
  let left: readonly string[] = [];
  const look = async () => {
    const { days, moments } = await waiting(world);
    left = [...days, ...moments];
    return left.length === 0;
  };
  await until('everything at rest', look, REST_MS).catch(() => {});
  return left.map((what) => `after three days ${what} still wait`);
}

/** Runs the rounds and judges at the end, or when a customer waits in vain. */
export async function runMoneyCrash({ rounds, seed, progress }: MoneyOptions): Promise<MoneyReport> {
  const draw = drawFrom(seed);
  const world = await openWorld(Math.max(3, Math.ceil((rounds * STARTS) / TOPUPS_EACH)));
  const acts = new CustomerActs(world, draw);
  const faults: string[] = [];
  const under_way = new Set<Promise<void>>();
  const starting = new Map<Part, Promise<void>>();
  const begin = () => {
    const act = acts
      .topUp(draw.pick(world.customers))
      .catch((error: unknown) => void faults.push(String(error)));
    under_way.add(act);
    void act.finally(() => under_way.delete(act));
  };
  try {
    for (let round = 1; round <= rounds && faults.length === 0; round++) {
      while (under_way.size > UNDER_WAY_MAX) await Promise.race(under_way);
      const manner = misbehave(world, draw);
      const part = draw.pick(parts);
      for (let i = 0; i < STARTS; i++) setTimeout(begin, draw.int(0, ROUND_MS));
      await pause(draw.int(50, ROUND_MS));
      // One that has not come up again since the last time is left to it.
      await starting.get(part);
      await world.kill(part);
      starting.set(
        part,
        pause(draw.int(0, 500)).then(() => world.start(part)),
      );
      progress(`round ${round}: rails ${manner}; killed ${part}; ${under_way.size} customers under way`);
      await pause(ROUND_MS);
      for (const { webhooks } of [world.sim_a, world.sim_b]) webhooks.release();
    }
    await Promise.all(starting.values());
    behave(world);
    while (under_way.size > 0) await Promise.all(under_way);
    faults.push(...(await rest(world)));
    faults.push(...(await judge(world, acts.promised)));
    const { topups, refunds, gifts } = acts.promised;
    if (faults.length > 0) progress(world.output());
    return { seed, rounds, topups: topups.size, refunds: refunds.size, gifts: gifts.size, faults };
  } finally {
    await world.close();
  }
}
