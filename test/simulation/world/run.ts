// One run: two gateways and a worker on the databases of an installation, callers, and what happens to them; then quiet,
// and the verdict.
import { createPool } from '@svc/core/db/index.ts';
import type { CallRecord } from '@svc/core/inference/index.ts';
import { type Log, newUlid } from '@svc/core/kernel/index.ts';
import { drawFrom as productDraws } from '@svc/core/kernel/random.ts';
import { sweepOnce, verifyLedger } from '@svc/core/ledger/index.ts';
import pg from 'pg';
import type { Sent, Witness } from '../../crash/caller.ts';
import { isQuiet, judge, type LedgerState, readLedger } from '../../crash/oracle.ts';
import { CALM, LEDGER_URL, type Server } from '../engine/database.ts';
import { bytesFrom } from '../engine/dice.ts';
import { Disk, mount } from '../engine/files.ts';
import { restore, serve } from '../engine/installation.ts';
import { Actor, Loop } from '../engine/loop.ts';
import { send } from './callers.ts';
import { LEASE_SECONDS, openGateway, type SimGateway, type Surroundings } from './gateway.ts';
import type { Installation } from './open.ts';
import { type Blow, type Planned, planBlows, planCalls, planWeather } from './plan.ts';
import { Providers } from './provider.ts';
import type { CallerSink } from './sink.ts';

const START_MS = Date.UTC(2026, 2, 2, 12);
const DAY_MS = 86_400_000;
const SWEEP_MS = 1_000;
/** A lease lapses, a new worker waits one lease time, journals are adopted: within so long all is booked or released. */
const QUIET_MS_MAX = 120_000;
const LOOK_MS = 1_000;

export interface RunReport {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly trace_hash: string;
  /** The end of the trace. */
  readonly lines: readonly string[];
  readonly events: number;
  readonly calls: number;
  readonly charged_micro_usd: number;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** A gateway's place: who is there now, and the callers that are connected to it. */
interface Post {
  readonly no: 0 | 1;
  actor: Actor | null;
  gateway: SimGateway | null;
  readonly sinks: Set<CallerSink>;
  /** Somebody died here: what it owed may have to wait for a sweep. */
  killed: boolean;
}

class World {
  readonly loop: Loop;
  readonly servers: Readonly<Record<'database.sim' | 'ledger.sim', Server>>;
  readonly disk: Disk;
  readonly providers: Providers;
  readonly records: CallRecord[] = [];
  readonly posts: readonly [Post, Post];
  readonly installation: Installation;
  /** Holds may have been swept under a living call. */
  holds_at_risk = false;
  /** A ledger that does not answer in time leaves a hold as it was. */
  is_rough = false;
  worker: Actor | null = null;

  constructor(loop: Loop, installation: Installation) {
    this.loop = loop;
    this.installation = installation;
    this.servers = serve(installation.engines, loop);
    this.disk = new Disk(loop, new Actor('disk'));
    mount(this.disk);
    this.providers = new Providers(loop);
    const post = (no: 0 | 1): Post => ({ no, actor: null, gateway: null, sinks: new Set(), killed: false });
    this.posts = [post(0), post(1)];
  }

  get #surroundings(): Surroundings {
    const { shards, catalog, root_key } = this.installation;
    return { shards, catalog, root_key, providers: this.providers, log: this.log, records: this.records };
  }

  readonly log: Log = {
    debug() {},
    info: (_facts, words) => this.loop.note(`${this.loop.actor.name} says ${words}`),
    warn: (_facts, words) => this.loop.note(`${this.loop.actor.name} warns ${words}`),
    error: (facts, words) => {
      const { error } = facts as { error?: unknown };
      this.loop.note(`${this.loop.actor.name} fails ${words} ${error === undefined ? '' : String(error)}`);
    },
    child: () => this.log,
  };

  /** Starts a gateway at `post`, again until its ledger can be reached. */
  startGateway(post: Post): void {
    const actor = new Actor(`gateway-${post.no}`);
    post.actor = actor;
    this.loop.as(actor, async () => {
      for (;;) {
        try {
          const place = { name: `sim-${post.no}`, journal_dir: `/sim/journal-${post.no}` };
          post.gateway = await openGateway(this.#surroundings, place);
          this.loop.note(`gateway-${post.no} is open`);
          return;
        } catch (error) {
          this.loop.note(`gateway-${post.no} cannot open: ${(error as Error).message}`);
          await pause(200);
        }
      }
    });
  }

  /** The process ends in the middle of what it does. */
  killGateway(post: Post): void {
    const { actor } = post;
    if (actor === null) return;
    this.loop.note(`gateway-${post.no} is killed`);
    actor.alive = false;
    post.actor = null;
    post.gateway = null;
    post.killed = true;
    for (const server of Object.values(this.servers)) server.cutAll(actor);
    for (const sink of post.sinks) sink.lose();
    post.sinks.clear();
    // The id of a process that is not there any more.
    for (const path of this.disk.paths) {
      const dead = path.replace(`~${process.pid}~`, '~0~');
      if (path.startsWith(`/sim/journal-${post.no}`) && dead !== path) this.disk.move(path, dead);
    }
  }

  /** The worker sweeps once a second, as the leader's job does. */
  startWorker(): void {
    const actor = new Actor('worker');
    this.worker = actor;
    this.loop.as(actor, async () => {
      const pool = createPool(LEDGER_URL, { max: 2, application: 'worker', role: 'svc_runtime' });
      for (;;) {
        await sweepOnce(pool).then(
          (swept) => {
            if (swept.length > 0) this.loop.note(`worker swept ${swept.length}`);
          },
          (error: Error) => this.loop.note(`worker cannot sweep: ${error.message}`),
        );
        await pause(SWEEP_MS);
      }
    });
  }

  killWorker(): void {
    const { worker } = this;
    if (worker === null) return;
    worker.alive = false;
    this.worker = null;
    for (const server of Object.values(this.servers)) server.cutAll(worker);
  }

  /** Gives what a caller sends to the gateway that it names, or to the other one. */
  reach(no: 0 | 1, asked: Parameters<SimGateway['call']>[0], sink: CallerSink): boolean {
    const post = [this.posts[no], this.posts[1 - no]].find((one) => one?.gateway !== null);
    if (post === undefined || post.gateway === null || post.actor === null) return false;
    const { gateway, actor } = post;
    post.sinks.add(sink);
    void sink.over.then(() => post.sinks.delete(sink));
    this.loop.later(
      `is asked for ${asked.path}`,
      this.loop.draw.unit() * 2,
      () => void gateway.call(asked, sink),
      actor,
    );
    return true;
  }

  async strike({ at_ms, what }: Blow): Promise<void> {
    await pause(at_ms);
    this.loop.note(`world ${JSON.stringify(what)}`);
    const { servers } = this;
    switch (what.kind) {
      case 'kill': {
        const post = this.posts[what.gateway];
        this.killGateway(post);
        await pause(what.back_ms);
        if (post.actor === null) this.startGateway(post);
        return;
      }
      case 'kill_worker':
        this.killWorker();
        await pause(what.back_ms);
        if (this.worker === null) this.startWorker();
        return;
      case 'cut_all':
        for (const server of Object.values(servers)) server.cutAll();
        return;
      case 'outage': {
        const server = servers['ledger.sim'];
        if (what.lasts_ms >= (LEASE_SECONDS * 1_000) / 2) this.holds_at_risk = true;
        server.weather.away = true;
        server.cutAll();
        await pause(what.lasts_ms);
        server.weather.away = false;
        return;
      }
      case 'skew': {
        const { actor } = this.posts[what.gateway];
        if (actor !== null) actor.skew_ms += what.by_ms;
      }
    }
  }

  /** Peace: the network is well, and whoever is away comes back. */
  calm(): void {
    for (const server of Object.values(this.servers)) Object.assign(server.weather, CALM);
    for (const post of this.posts) if (post.actor === null) this.startGateway(post);
    if (this.worker === null) this.startWorker();
  }
}

async function withLedger<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: LEDGER_URL });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function untilQuiet(loop: Loop, witnesses: readonly Witness[]): Promise<LedgerState> {
  const deadline_ms = loop.now_ms + QUIET_MS_MAX;
  return withLedger(async (client) => {
    for (;;) {
      const state = await readLedger(client, 'ledger');
      if (isQuiet(witnesses, state, []) || loop.now_ms > deadline_ms) return state;
      await pause(LOOK_MS);
    }
  });
}

async function callAll(world: World, planned: readonly Planned[]): Promise<Sent[]> {
  return Promise.all(
    planned.map(async ({ call, at_ms }) => {
      world.providers.plan(call);
      await pause(at_ms);
      const sent = await send(world.loop, (no, asked, sink) => world.reach(no, asked, sink), call);
      world.loop.note(`caller ${call.no} saw ${JSON.stringify(sent.seen)}`);
      return sent;
    }),
  );
}

async function play(world: World): Promise<{ faults: string[]; state: LedgerState; calls: number }> {
  const { loop, installation, posts } = world;
  const before = await withLedger((client) => readLedger(client, 'ledger'));
  for (const post of posts) world.startGateway(post);
  world.startWorker();
  while (posts.some(({ gateway }) => gateway === null)) await pause(5);
  const planned = planCalls(loop.draw, installation.keys);
  const blows = planBlows(loop.draw);
  for (const server of Object.values(world.servers)) Object.assign(server.weather, planWeather(loop.draw));
  const { cut_before, cut_after, slow } = world.servers['ledger.sim'].weather;
  world.is_rough = blows.length > 0 || cut_before + cut_after + slow > 0;
  const struck = Promise.all(blows.map((blow) => world.strike(blow)));
  const sent = await callAll(world, planned);
  await struck;
  world.calm();
  const witnesses = sent.map((one) => ({
    ...one,
    spared: !posts.some(({ killed }) => killed),
    holds_at_risk: world.holds_at_risk || world.is_rough,
  }));
  const state = await untilQuiet(loop, witnesses);
  const verified = [await verifyLedger({ url: LEDGER_URL })];
  const { budget } = installation.keys;
  const round = {
    before,
    seen: witnesses,
    holds_may_be_lost: world.holds_at_risk,
    budget_keys: [budget],
    top_ups: [],
  };
  const { served } = world.providers;
  // A run is too short for every budget to refuse somebody.
  const faults = judge({ witnesses, served, state, verified, round }).filter(
    (one) => !one.includes('refused nobody'),
  );
  return { faults, state, calls: sent.length };
}

/** Time, ids and bytes begin anew, so that a run does not depend on those before it in this process. */
function beginAnew(seed: number, lines_max: number): Loop {
  const loop = new Loop({ seed, start_ms: START_MS, lines_max });
  productDraws(bytesFrom(seed));
  return loop;
}

/** Runs `seed` on `installation`, which is as it was made afterwards. */
export async function run(installation: Installation, seed: number, lines_max = 50): Promise<RunReport> {
  const loop = beginAnew(seed, lines_max);
  let faults: string[] = [];
  let calls = 0;
  let charged_micro_usd = 0;
  const world = new World(loop, installation);
  try {
    await loop.until(async () => {
      // Ids rise from those of the last run unless the clock was set back: it is, from a day later to the start.
      loop.now_ms = START_MS + DAY_MS;
      newUlid();
      loop.now_ms = START_MS;
      newUlid();
      const result = await play(world);
      faults = result.faults;
      calls = result.calls;
      charged_micro_usd = result.state.books.reduce((sum, book) => sum + book.charged, 0);
    });
  } catch (error) {
    faults = [...faults, String((error as Error).stack)];
  }
  mount(null);
  restore(installation.engines);
  const { trace_hash, lines, events, defects } = loop;
  return { seed, faults: [...faults, ...defects], trace_hash, lines, events, calls, charged_micro_usd };
}
