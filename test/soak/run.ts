// Hours on a moved clock, in each of which everything goes on that does so in a day of an installation.
import { addRootKey, loadRootKey, promoteRootKey } from '@svc/core/kernel/index.ts';
import { readKeyRingStatus, resealAll, total } from '@svc/core/keyring/index.ts';
import { type Draw, drawFrom } from '../crash/draw.ts';
import { until } from '../support/programs/until.ts';
import { type Hooks, openHooks } from './hooks.ts';
import { type Figures, judge, judgeMonth, readFigures, rest } from './look.ts';
import { noTraffic, rotate, shown, type Traffic, traffic } from './traffic.ts';
import { openWorld, type World } from './world.ts';

export interface SoakOptions {
  /** Hours of the moved clock. */
  readonly hours: number;
  readonly seed: number;
  /** Of the whole run: booked by the loader, sent over HTTP, paid. */
  readonly calls: number;
  readonly http_calls: number;
  readonly topups: number;
  /** Gateways are replaced each so many hours, one after the other. */
  readonly deploy_hours: number;
  /** The root key is replaced each so many hours. */
  readonly key_hours: number;
  /** The ledger is verified whole each so many hours, and at the end. */
  readonly verify_hours: number;
  /** Where the clock begins. */
  readonly starts_ms: number;
  progress(line: string): void;
}

export interface SoakReport {
  readonly hours: number;
  readonly loaded: number;
  readonly http_calls: number;
  readonly topups: number;
  readonly deployments: number;
  readonly key_rotations: number;
  /** Events that webhooks told. */
  readonly events: number;
  readonly months: number;
  readonly figures: readonly Figures[];
  readonly faults: readonly string[];
}

const HOUR_MS = 3_600_000;
/** The clock goes on in such pieces, under load. */
const HOPS = 6;
const HOP_MS = HOUR_MS / HOPS;
/** An address gets 20 mails a day. */
const TOPUPS_EACH = 8;
const REST_MS = 120_000;
const ROWS_KEPT_DAYS = 400;

/** Half of `hours` before the end of the present month: the clock of a soak passes it. */
export function beforeMonthEnd(hours: number): number {
  const now = new Date();
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return end - (hours * HOUR_MS) / 2;
}

/** So many of `all` fall to turn `n` of `turns`. */
const share = (all: number, n: number, turns: number) =>
  Math.floor((all * (n + 1)) / turns) - Math.floor((all * n) / turns);

class Soak {
  readonly world: World;
  readonly hooks: Hooks;
  readonly draw: Draw;
  readonly options: SoakOptions;
  readonly seen: Traffic = noTraffic();
  readonly faults: string[] = [];
  readonly figures: Figures[] = [];
  loaded = 0;
  deployments = 0;
  key_rotations = 0;
  months = 0;
  #former: string | null = null;

  constructor(parts: { world: World; hooks: Hooks; draw: Draw }, options: SoakOptions) {
    this.world = parts.world;
    this.hooks = parts.hooks;
    this.draw = parts.draw;
    this.options = options;
  }

  /** A new root key, which every program must have before it is the current one; then everything comes under it. */
  async #replaceRootKey(): Promise<void> {
    const { world } = this;
    const name = addRootKey(world.keyring, { leaked: false });
    promoteRootKey(world.keyring, name);
    const ring = loadRootKey(world.keyring);
    await until(
      'all is under the new root key',
      async () => {
        await resealAll(world.pool, ring, () => {});
        const { keys, unnamed } = await readKeyRingStatus(world.pool, ring, new Date(world.nowMs()));
        return keys.every((key) => key.is_current || total(key.sealed) === 0) && total(unnamed) === 0;
      },
      REST_MS,
    );
    this.key_rotations++;
  }

  /** What is done beside calls and payments in the pieces of an hour. */
  async #upkeep(hour: number, hop: number): Promise<void> {
    const { world } = this;
    if (hop === 0) await this.hooks.rotate();
    if ((hop === 1 || hop === 2) && hour % this.options.deploy_hours === 0) {
      await world.deploy(hop === 1 ? 'gateway 0' : 'gateway 1');
      this.deployments++;
    }
    // The worker stays for most of the run, so that its memory shows what becomes of one that does.
    if (hop === 3 && hour === Math.floor(this.options.hours / 2)) await world.deploy('worker');
    if (hop === 4 && hour % this.options.key_hours === 0) await this.#replaceRootKey();
    if (hop === 5) {
      const customer = this.draw.pick(world.customers);
      if (this.#former !== null && (await shown(world, this.#former)) !== 401)
        this.faults.push('a key still opens after its grace');
      this.#former = await rotate(world, customer, this.seen);
      if ((await shown(world, this.#former)) !== 200) this.faults.push('a key does not open in its grace');
    }
  }

  async #hop(hour: number, hop: number): Promise<void> {
    const { calls, http_calls, topups, hours, seed } = this.options;
    const [n, turns] = [hour * HOPS + hop, hours * HOPS];
    const load = async () => {
      const { customers: callers, loader } = this.world;
      const order = { calls: share(calls, n, turns), seed: seed + n };
      const { booked, others, lost_rows } = await loader.load({ ...order, callers });
      this.loaded += booked;
      const { journaled: _, ...wrong } = others;
      if (booked !== order.calls || lost_rows > 0 || Object.keys(wrong).length > 0)
        this.faults.push(`the loader booked ${booked} of ${order.calls}, ${JSON.stringify(others)}`);
    };
    const wanted = { calls: share(http_calls, n, turns), topups: share(topups, n, turns) };
    await Promise.all([
      load(),
      traffic(this.world, this.draw, this.seen, wanted),
      this.#upkeep(hour, hop),
      this.world.pass(HOP_MS),
    ]);
  }

  async hour(hour: number): Promise<void> {
    const { world, options } = this;
    const period = () => new Date(world.nowMs()).toISOString().slice(0, 7);
    const before = period();
    for (let hop = 0; hop < HOPS; hop++) await this.#hop(hour, hop);
    const under_way = await readFigures(world);
    this.faults.push(...(await rest(world, REST_MS)), ...this.seen.faults.splice(0));
    const is_last = hour === options.hours - 1;
    const verify = is_last || (hour + 1) % options.verify_hours === 0;
    this.faults.push(...(await judge(world, { verify })), ...(await this.hooks.judge()));
    if (this.months > 0) this.faults.push(...(await this.#dropped()));
    if (period() !== before) {
      this.months++;
      this.faults.push(...(await judgeMonth(world, `${period()}-01`)));
    }
    const figures = await readFigures(world);
    this.figures.push(figures);
    options.progress(lineOf(this, hour, { under_way, figures, verify }));
  }

  /**
   * The day of rows that became too old with the last midnight has to go. What a query of that moment keeps from being dropped is
   * dropped at the next turn of the job, so within the next hour here, in which the clock moves six times.
   */
  async #dropped(): Promise<string[]> {
    const text = `select to_regclass('request_row_' || $1) is null as gone`;
    const [row] = await this.world.rows<{ gone: boolean }>(text, [oldDay(this.options.starts_ms)]);
    return row?.gone === true ? [] : ['the day that is too old is still there'];
  }
}

const oldDay = (starts_ms: number) =>
  new Date(starts_ms - ROWS_KEPT_DAYS * 24 * HOUR_MS).toISOString().slice(0, 10).replaceAll('-', '');

/** A day of rows that is the last one kept when the clock begins. */
async function makeOldDay(world: World, starts_ms: number): Promise<void> {
  const day = new Date(starts_ms - ROWS_KEPT_DAYS * 24 * HOUR_MS).toISOString().slice(0, 10);
  await world.rows('select analytics_prepare_days($1, $1)', [day]);
}

function lineOf(
  soak: Soak,
  hour: number,
  { under_way, figures, verify }: { under_way: Figures; figures: Figures; verify: boolean },
): string {
  const { world, hooks, seen, loaded, faults } = soak;
  const memory = Object.entries(figures.memory)
    .map(([name, { rss_mb, own_mb }]) => `${name} ${rss_mb}/${own_mb}`)
    .join(', ');
  return [
    `hour ${hour + 1}, ${new Date(world.nowMs()).toISOString().slice(0, 16)}`,
    `${loaded} calls booked, ${seen.calls} over HTTP, ${seen.topups} top-ups, ${hooks.events} events told`,
    `MB resident/own: ${memory}; jobs in ${figures.leader}`,
    `${figures.connections} connections, ${figures.partitions} partitions`,
    `holds ${under_way.holds} then ${figures.holds}, workflows ${under_way.workflows} then ${figures.workflows}`,
    `outbox ${under_way.outbox_s} s then ${figures.outbox_s} s`,
    `${verify ? 'verified' : 'not verified'}, ${faults.length} faults`,
  ].join('; ');
}

/** Runs the hours; ends with the first one that has a fault. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { hours, seed, starts_ms, topups, progress } = options;
  const customers = Math.max(6, Math.ceil(topups / TOPUPS_EACH));
  const world = await openWorld({ starts_ms, customers });
  let hooks: Hooks | null = null;
  try {
    hooks = await openHooks(world, drawFrom(seed + 1));
    const soak = new Soak({ world, hooks, draw: drawFrom(seed) }, options);
    await makeOldDay(world, starts_ms);
    let hour = 0;
    for (; hour < hours && soak.faults.length === 0; hour++) await soak.hour(hour);
    if (soak.faults.length > 0) progress(world.output());
    const { loaded, seen, deployments, key_rotations, months, figures, faults } = soak;
    return {
      ...{ hours: hour, loaded, http_calls: seen.calls, topups: seen.topups },
      ...{ events: hooks.events, deployments, key_rotations, months, figures, faults },
    };
  } finally {
    await world.close();
    await hooks?.close();
  }
}
