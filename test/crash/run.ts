// Rounds of calls with something killed in the middle, the oracle after each.
import { verifyLedger } from '@svc/core/ledger/index.ts';
import type { Replication } from '../standby/servers.ts';
import { type Callers, openCallers, type Witness } from './caller.ts';
import { type Draw, drawFrom } from './draw.ts';
import {
  type FaultKind,
  faultKinds,
  killsGateway,
  killsPostgres,
  type PlannedFault,
  planFault,
  strike,
} from './faults.ts';
import { isQuiet, judge, type LedgerState, readLedger, together } from './oracle.ts';
import { planCall } from './plan.ts';
import { servedBy } from './provider.ts';
import type { TopUp } from './worker-process.ts';
import { openWorld, type SourceEdit, type World } from './world.ts';

export interface CrashOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly calls?: number;
  readonly in_flight?: number;
  readonly kinds?: readonly FaultKind[];
  /** Ledgers: one, or three in two databases. */
  readonly shards?: 1 | 3;
  /** PostgreSQL has a standby, which takes over when it is killed. */
  readonly standby?: Replication;
  /** How long to wait until nothing is under way any more; then the round is checked as it is. */
  readonly quiet_ms_max?: number;
  /** Statements that break the ledger on purpose (mutations). */
  readonly mutate?: readonly string[];
  /** An edit of the gateway's sources (mutations). */
  readonly edit?: SourceEdit;
  /** Does something wrong between a kill and the restart (mutations). */
  readonly sabotage?: (world: World, fault: PlannedFault) => void;
  readonly progress?: (line: string) => void;
}

export interface RoundReport {
  readonly round: number;
  readonly fault: PlannedFault;
  readonly seen: Readonly<Record<Witness['seen']['kind'], number>>;
  /** How long after the last caller ended everything was booked or released. */
  readonly quiet_ms: number;
  readonly faults: readonly string[];
}

export interface CrashReport {
  readonly seed: number;
  readonly rounds: readonly RoundReport[];
  readonly calls: number;
  readonly charged_micro_usd: number;
  readonly faults: readonly string[];
}

/** Lease, sweeper and journal replay have all had their turn by then. */
const QUIET_MS_MAX = 40_000;

/** Top-ups of a round, each of so much at most. */
const TOP_UPS = 6;
const TOP_UP_MAX_MICRO = 2_000;

/** A caller who was told that the service is away sends the next call so much later, as the answer asks for (Retry-After). */
const AWAY_MS = 1_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function callAll(
  world: World,
  callers: Callers,
  args: {
    draw: Draw;
    first: number;
    calls: number;
    in_flight: number;
    fault: PlannedFault;
    sabotage: CrashOptions['sabotage'];
  },
): Promise<Witness[]> {
  const plans = Array.from({ length: args.calls }, (_, i) =>
    planCall(args.draw, args.first + i, world.plan_keys),
  );
  const witnesses: Witness[] = [];
  let struck: Promise<void> | null = null;
  const worker = async (): Promise<void> => {
    for (let call = plans.shift(); call !== undefined; call = plans.shift()) {
      const outage = killsPostgres(args.fault.kind) ? struck : null;
      const origin = world.origin(call.gateway);
      const killed = killsGateway(args.fault.kind) && origin === world.address(args.fault.gateway);
      const sent = await callers.send(() => world.origin(call.gateway), call);
      witnesses.push({ ...sent, spared: !killed, holds_at_risk: killsPostgres(args.fault.kind) });
      if (witnesses.length === args.fault.after_ends) {
        struck = strike(world, args.fault, args.sabotage);
        struck.catch(() => {});
      }
      // Else those that are left are over before anything is back, and the round had no calls: while PostgreSQL is away, on a busy
      // machine for many seconds, each caller sends one.
      const away = sent.seen.kind === 'refused' && sent.seen.code === 'service_unavailable';
      if (away) await pause(AWAY_MS);
      if (away || outage !== null) await struck;
    }
  };
  await Promise.all(Array.from({ length: args.in_flight }, worker));
  await struck;
  return witnesses;
}

/** Books what was paid in a round: each top-up is asked for until it is acknowledged, and once more. */
async function topUp(world: World, draw: Draw, round: number): Promise<TopUp[]> {
  const wanted = Array.from({ length: TOP_UPS }, (_, n) => ({
    ...draw.pick(world.books),
    reference: `paid-${round}-${n}`,
    amount_micro_usd: draw.int(1, TOP_UP_MAX_MICRO),
    after_ms: draw.int(0, 400),
  }));
  await Promise.all(
    wanted.map(async ({ after_ms, ...one }) => {
      await pause(after_ms);
      while (!(await world.topUp(one))) await pause(100);
      await world.topUp(one);
    }),
  );
  return wanted.map(({ after_ms: _, ...one }) => one);
}

async function untilQuiet(
  world: World,
  seen: { readonly witnesses: readonly Witness[]; readonly top_ups: readonly TopUp[] },
  ms_max = QUIET_MS_MAX,
): Promise<{ state: LedgerState; ms: number }> {
  const start = performance.now();
  for (;;) {
    const state = together(await world.withLedgers(readLedger));
    const ms = performance.now() - start;
    if (isQuiet(seen.witnesses, state, seen.top_ups) || ms > ms_max) return { state, ms };
    await pause(100);
  }
}

function tally(witnesses: readonly Witness[]): RoundReport['seen'] {
  const seen = { final: 0, refused: 0, left: 0, lost: 0 };
  for (const witness of witnesses) seen[witness.seen.kind]++;
  return seen;
}

function describe(report: RoundReport): string {
  const { fault, seen } = report;
  const outcome = report.faults.length === 0 ? 'ok' : `${report.faults.length} FAULTS`;
  return (
    `round ${report.round}: ${fault.kind} after ${fault.after_ends} ends; ${seen.final} final, ${seen.refused} refused, ` +
    `${seen.left} left, ${seen.lost} lost; quiet after ${Math.round(report.quiet_ms)} ms: ${outcome}`
  );
}

/** Runs rounds until one finds a fault or all have passed. Everything that was started is stopped. */
export async function runCrash(options: CrashOptions): Promise<CrashReport> {
  const draw = drawFrom(options.seed);
  const calls = options.calls ?? 400;
  const { mutate = [], shards = 1, edit, standby } = options;
  const world = await openWorld({
    ...{ mutate, shards },
    ...(edit === undefined ? {} : { edit }),
    ...(standby === undefined ? {} : { standby }),
  });
  const callers = openCallers();
  const witnesses: Witness[] = [];
  const top_ups: TopUp[] = [];
  const rounds: RoundReport[] = [];
  try {
    for (let round = 1; round <= options.rounds; round++) {
      // In turn, so that a few rounds have every kind; everything else is drawn.
      const kinds = options.kinds ?? faultKinds;
      const kind = kinds[(options.seed + round) % kinds.length] as FaultKind;
      const fault = planFault(draw, calls, kind);
      const before = together(await world.withLedgers(readLedger));
      await world.tightenBudgets();
      const [seen, paid] = await Promise.all([
        callAll(world, callers, {
          draw,
          first: witnesses.length,
          calls,
          in_flight: options.in_flight ?? 200,
          fault,
          sabotage: options.sabotage,
        }),
        topUp(world, drawFrom(options.seed + round), round),
      ]);
      witnesses.push(...seen);
      top_ups.push(...paid);
      const { state, ms } = await untilQuiet(world, { witnesses, top_ups }, options.quiet_ms_max);
      const verified = await Promise.all(world.ledgers.map(({ url }) => verifyLedger({ url })));
      const served = servedBy(world.provider);
      const { budget_keys } = world;
      const judged = { before, seen, holds_may_be_lost: killsPostgres(kind), budget_keys, top_ups };
      const faults = [...world.died, ...judge({ witnesses, served, state, verified, round: judged })];
      const report: RoundReport = { round, fault, seen: tally(seen), quiet_ms: ms, faults };
      rounds.push(report);
      options.progress?.(describe(report));
      if (faults.length > 0) break;
    }
    const state = together(await world.withLedgers(readLedger));
    return {
      seed: options.seed,
      rounds,
      calls: witnesses.length,
      charged_micro_usd: state.books.reduce((sum, book) => sum + book.charged, 0),
      faults: rounds.flatMap((round) => round.faults),
    };
  } catch (error) {
    throw new Error(`seed ${options.seed}: ${(error as Error).message}\n${world.output()}`, { cause: error });
  } finally {
    await callers.close();
    await world.close();
  }
}
