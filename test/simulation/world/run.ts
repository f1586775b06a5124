// One run: two gateways and a worker on the databases of an installation, callers, and what happens to them; then quiet,
// and the verdict.
import { createPool } from '@svc/core/db/index.ts';
import type { CallRecord } from '@svc/core/inference/index.ts';
import { type Context, type Log, microUsd, newUlid } from '@svc/core/kernel/index.ts';
import { drawFrom as productDraws } from '@svc/core/kernel/random.ts';
import { applyDueTasks, expireLots, orderBudget } from '@svc/core/ledger/index.ts';
import { sweepHolds } from '@svc/core/operations/index.ts';
import type { Sent } from '../../crash/caller.ts';
import { readLedger } from '../../crash/oracle.ts';
import { CALM, DATABASE_URL, LEDGER_URL, type Server } from '../engine/database.ts';
import { bytesFrom } from '../engine/dice.ts';
import { Disk, mount } from '../engine/files.ts';
import { restore, serve } from '../engine/installation.ts';
import { Actor, Loop } from '../engine/loop.ts';
import { Automatic } from './automatic.ts';
import { send } from './callers.ts';
import { openGateway, type SimGateway, type Surroundings } from './gateway.ts';
import { Gifts, judgeGifts } from './gifts.ts';
import { judgeBack } from './judge-back.ts';
import type { Installation } from './open.ts';
import { judgePayments, judgeSeries, PAID_SQL, type Paid, Payments, paymentContext } from './payments.ts';
import { type Planned, RUNS_MS, startOf } from './plan.ts';
import { judgePlanFees, PlanFees } from './plan-fees.ts';
import { Providers } from './provider.ts';
import { RailBooks } from './rails.ts';
import type { CallerSink } from './sink.ts';
import { strike } from './strike.ts';
import { planRun } from './themes.ts';
import { judgeLedger, untilOrdered, withClient } from './verdict.ts';

const DAY_MS = 86_400_000;
/** With a shorter one a sweep can come before a gateway has renewed its lease after an outage (core/ledger/README.md). */
const SAFE_LEASE_SECONDS = 45;
/** As the leader's job does. */
const SWEEP_MS = 5_000;
/** Credit that has ended is booked in every such turn of the worker. */
const EXPIRES_EACH = [1, 4];

export interface RunReport {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly trace_hash: string;
  /** The end of the trace. */
  readonly lines: readonly string[];
  readonly events: number;
  readonly calls: number;
  readonly payments: number;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** A gateway's place: who is there now, and the callers that are connected to it. */
export interface Post {
  readonly no: 0 | 1;
  actor: Actor | null;
  gateway: SimGateway | null;
  readonly sinks: Set<CallerSink>;
  /** Somebody died here: what it owed may have to wait for a sweep. */
  killed: boolean;
}

/** A process, and the context that its work gets. */
interface Office {
  readonly actor: Actor;
  readonly context: Context;
}

export class World {
  readonly loop: Loop;
  readonly servers: Readonly<Record<'database.sim' | 'ledger.sim', Server>>;
  readonly disk: Disk;
  readonly providers: Providers;
  readonly records: CallRecord[] = [];
  readonly books: RailBooks;
  readonly payments: Payments;
  readonly gifts: Gifts;
  readonly plan_fees: PlanFees;
  readonly automatic: Automatic;
  readonly posts: readonly [Post, Post];
  readonly installation: Installation;
  /** Holds may have been swept under a living call. */
  holds_at_risk = false;
  /** Of the gateways. With a short one a slow network is enough for a sweep of what they hold. */
  readonly lease_seconds: number;
  /** A ledger that does not answer in time leaves a hold as it was. */
  is_rough = false;
  worker: Office | null = null;

  constructor(loop: Loop, installation: Installation) {
    this.loop = loop;
    this.lease_seconds = loop.draw.pick([60, 60, 10, 4]);
    this.installation = installation;
    this.servers = serve(installation.engines, loop);
    this.disk = new Disk(loop, new Actor('disk'));
    mount(this.disk);
    this.providers = new Providers(loop);
    this.books = new RailBooks(loop);
    const { payers, givers, takers, subscribers, automatic } = installation;
    const within = {
      inGateway: <T>(work: (context: Context) => Promise<T>) => this.#inGateway(work),
      inWorker: <T>(work: (context: Context) => Promise<T>) =>
        this.worker === null ? Promise.resolve(null) : this.#within(this.worker, work),
    };
    this.payments = new Payments({ ...{ loop, books: this.books, payers }, ...within });
    this.gifts = new Gifts({ ...{ loop, givers, takers }, ...within });
    this.plan_fees = new PlanFees({ ...{ loop, subscribers }, ...within });
    this.automatic = new Automatic({
      ...{ loop, orgs: automatic, books: this.books, payments: this.payments },
      ...within,
    });
    const post = (no: 0 | 1): Post => ({ no, actor: null, gateway: null, sinks: new Set(), killed: false });
    this.posts = [post(0), post(1)];
  }

  get #surroundings(): Surroundings {
    const { shards, catalog, root_key } = this.installation;
    return {
      ...{ shards, catalog, root_key, providers: this.providers, books: this.books },
      ...{ log: this.log, lease_seconds: this.lease_seconds, records: this.records },
    };
  }

  #inGateway<T>(work: (context: Context) => Promise<T>): Promise<T | null> {
    const post = this.loop.draw.pick(this.posts);
    if (post.gateway === null || post.actor === null) return Promise.resolve(null);
    return this.#within({ actor: post.actor, context: post.gateway.context }, work);
  }

  /** What `work` resolves to in a process; null when it died meanwhile, since then nobody is told. */
  #within<T>({ actor, context }: Office, work: (context: Context) => Promise<T>): Promise<T | null> {
    return new Promise((done, fail) => {
      this.loop.as(actor, () => work(context)).then(done, fail);
      actor.onDeath(() => done(null));
    });
  }

  /** What a database refuses as impossible is a fault of the run, whatever becomes of it. */
  #fails(words: string, error: unknown): void {
    this.loop.note(words);
    if (/^(22|23|XX|P0)/.test(String((error as { code?: unknown } | undefined)?.code)))
      this.loop.defects.push(words);
  }

  readonly log: Log = {
    debug() {},
    info: (_facts, words) => this.loop.note(`${this.loop.actor.name} says ${words}`),
    warn: (_facts, words) => this.loop.note(`${this.loop.actor.name} warns ${words}`),
    error: (facts, words) => {
      const { error } = facts as { error?: unknown };
      this.#fails(
        `${this.loop.actor.name} fails ${words} ${error === undefined ? '' : String(error)}`,
        error,
      );
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
    actor.die();
    post.actor = null;
    post.gateway = null;
    post.killed = true;
    for (const server of Object.values(this.servers)) server.cutAll(actor);
    for (const sink of post.sinks) sink.lose();
    post.sinks.clear();
    if (this.installation.loses_journals) this.disk.wipe(`/sim/journal-${post.no}`);
    // The id of a process that is not there any more.
    for (const path of this.disk.paths) {
      const dead = path.replace(`~${process.pid}~`, '~0~');
      if (path.startsWith(`/sim/journal-${post.no}`) && dead !== path) this.disk.move(path, dead);
    }
  }

  /** The worker sweeps every five seconds, and carries out what was ordered from ledgers, as the leader's jobs do. */
  startWorker(): void {
    const actor = new Actor('worker');
    const { loop, log, installation } = this;
    const expires_each = loop.draw.pick(EXPIRES_EACH);
    loop.as(actor, async () => {
      const { shards, root_key } = installation;
      const pool = createPool(DATABASE_URL, { max: 3, application: 'worker', role: 'svc_runtime', shards });
      this.worker = { actor, context: paymentContext({ pool, root_key, books: this.books, log }) };
      // Without its name: in which order a sweep returns calls is the server's affair, and no seed's.
      const request_log = { write: () => loop.note('worker: a call is recorded as lost') };
      const job = (what: string, work: Promise<number>) =>
        work.then(
          (done) => (done > 0 ? loop.note(`worker: ${what} ${done}`) : undefined),
          (error: Error) => this.#fails(`worker: cannot ${what}: ${error.message}`, error),
        );
      for (let turn = 0; ; turn++) {
        await job('sweep', sweepHolds({ pool, request_log, cell: 'sim' }));
        await job('carry out', applyDueTasks(pool, log));
        if (turn % expires_each === 0) await job('expire', expireLots(pool.shards.at('a')));
        await pause(SWEEP_MS);
      }
    });
  }

  killWorker(): void {
    const { worker } = this;
    if (worker === null) return;
    worker.actor.die();
    this.worker = null;
    for (const server of Object.values(this.servers)) server.cutAll(worker.actor);
  }

  /** Gives what a caller sends to the gateway that it names, or to the other one. */
  reach(no: 0 | 1, asked: Parameters<SimGateway['call']>[0], sink: CallerSink): boolean {
    const post = [this.posts[no], this.posts[1 - no]].find((one) => one?.gateway !== null);
    if (post === undefined || post.gateway === null || post.actor === null) return false;
    const { gateway, actor } = post;
    post.sinks.add(sink);
    sink.gateway = actor;
    void sink.over.then(() => post.sinks.delete(sink));
    this.loop.later(
      `is asked for ${asked.path}`,
      this.loop.draw.unit() * 2,
      () => void gateway.call(asked, sink),
      actor,
    );
    return true;
  }

  /** In some runs a budget is raised while calls count in it. */
  async raiseBudget(): Promise<void> {
    const { draw } = this.loop;
    if (draw.unit() < 0.6) return;
    await pause(draw.unit() * 400);
    const { book_id, key_no, cap_micro_usd } = this.installation.budget;
    const cap = microUsd(cap_micro_usd + draw.int(1, 3) * 500);
    this.loop.note(`a budget is raised to ${cap}`);
    const wanted = { book_id, subject: { key_no }, cap_micro_usd: cap, hard: true };
    await this.#inGateway((context) => orderBudget(context, 'a', wanted)).catch(() => null);
  }

  /** Peace: the network is well, and whoever is away comes back. */
  calm(): void {
    for (const server of Object.values(this.servers)) Object.assign(server.weather, CALM);
    this.books.away = 0;
    for (const post of this.posts) if (post.actor === null) this.startGateway(post);
    if (this.worker === null) this.startWorker();
  }
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

async function play(world: World): Promise<{ faults: string[]; calls: number }> {
  const { loop, installation, posts } = world;
  const before = await withClient(LEDGER_URL, (client) => readLedger(client, 'ledger'));
  for (const post of posts) world.startGateway(post);
  world.startWorker();
  while (posts.some(({ gateway }) => gateway === null)) await pause(5);
  const planned = planRun(loop.draw, installation.keys);
  const { blows, weather } = planned;
  const calls = world.automatic.share(planned.calls);
  for (const name of ['database.sim', 'ledger.sim'] as const)
    Object.assign(world.servers[name].weather, weather[name]);
  const { cut_before, cut_after, slow } = world.servers['ledger.sim'].weather;
  world.is_rough = blows.length > 0 || cut_before + cut_after + slow > 0;
  if (world.is_rough && world.lease_seconds < SAFE_LEASE_SECONDS) world.holds_at_risk = true;
  const struck = Promise.all(blows.map((blow) => strike(world, blow)));
  world.books.away = world.is_rough ? loop.draw.pick([0, 0.05, 0.3]) : 0;
  const { payments, gifts, plan_fees, automatic } = world;
  const paid = Promise.all([payments.all(), gifts.all(), plan_fees.all(), automatic.all()]);
  const raised = world.raiseBudget();
  const sent = await callAll(world, calls);
  await Promise.all([struck, paid, raised]);
  world.calm();
  await untilOrdered(loop);
  // What was ordered of a budget reaches the windows of the day on which it is carried out; one that has ended keeps its cap.
  const ordered_ms = loop.now_ms;
  await automatic.end();
  await payments.end();
  await gifts.end();
  await plan_fees.end();
  await untilOrdered(loop);
  const witnesses = sent.map((one) => ({
    ...one,
    spared: !posts.some(({ killed }) => killed),
    key_at_risk: world.holds_at_risk,
    // What a provider reports above the hold is charged where the ledger answers in time and the run's budget allows it.
    holds_at_risk:
      world.holds_at_risk || (one.call.over_report > 0 && (world.is_rough || one.call.budget !== undefined)),
  }));
  const { rows } = await withClient(DATABASE_URL, (client) => client.query<Paid>(PAID_SQL));
  const captured = new Set(
    [...world.books.orders.values()]
      .filter(({ payments }) => payments.length > 0)
      .map((one) => one.topup_id as string),
  );
  const top_ups = rows
    .filter(({ id }) => captured.has(id))
    .map((row) => ({
      ...{ reference: row.id, shard: 'a', book_id: row.book_id, amount_micro_usd: row.credits_micro },
    }));
  const faults = await judgeLedger(loop, {
    ...{ before, ordered_ms, witnesses, top_ups, holds_may_be_lost: world.holds_at_risk },
    ...{ served: world.providers.served, keys: installation.keys, prices: installation.prices },
  });
  faults.push(...judgePayments(world.books, rows, world.payments.bought));
  faults.push(...(await automatic.judge()));
  faults.push(...(await judgeBack(world.books.back)), ...(await judgeGifts()), ...(await judgeSeries()));
  faults.push(...(await judgePlanFees(loop.now_ms, installation.subscribers[0])));
  return { faults, calls: sent.length };
}

/** Time, ids and bytes begin anew, so that a run does not depend on those before it in this process. */
function beginAnew(seed: number, lines_max: number): Loop {
  const loop = new Loop({ seed, start_ms: startOf(seed), lines_max });
  productDraws(bytesFrom(seed));
  return loop;
}

/** Runs `seed` on `installation`, which is as it was made afterwards. */
export async function run(installation: Installation, seed: number, lines_max = 50): Promise<RunReport> {
  const loop = beginAnew(seed, lines_max);
  let faults: string[] = [];
  let calls = 0;
  const world = new World(loop, installation);
  try {
    await loop.until(async () => {
      // Ids rise from those of the last run unless the clock was set back: it is, from after all runs to the start.
      loop.now_ms = RUNS_MS + 60 * DAY_MS;
      newUlid();
      loop.now_ms = startOf(seed);
      newUlid();
      const result = await play(world);
      faults = result.faults;
      calls = result.calls;
    });
  } catch (error) {
    faults = [...faults, String((error as Error).stack)];
  }
  mount(null);
  restore(installation.engines);
  const { trace_hash, lines, events, defects } = loop;
  const payments = [...world.books.orders.values()].reduce((sum, one) => sum + one.payments.length, 0);
  return { seed, faults: [...faults, ...defects], trace_hash, lines, events, calls, payments };
}
