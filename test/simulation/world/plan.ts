// What a run does: its calls, and what happens to the world meanwhile. All of it is drawn from the seed.
import type { Draw } from '../../crash/draw.ts';
import type { PlannedCall } from '../../crash/plan.ts';
import type { Weather } from '../engine/database.ts';
import { isOpen } from './models.ts';

/** Secrets of the organizations' keys. */
export interface Keys {
  readonly all: readonly string[];
  /** Those with a hard budget, of their own or of their project. */
  readonly budgets: readonly string[];
  /** Those with credit for few calls. */
  readonly poor: readonly string[];
  /** One whose organization has a key of its own at a provider, and one of it that only official clients use. */
  readonly owner: string;
  readonly client: string;
}

/** A call of a run. */
export interface SimCall extends PlannedCall {
  /** A caller with a key leaves a gateway that has not answered for so long, and asks the other; null: it waits. */
  readonly patience_ms: number | null;
  /** An official client: it asks again where nothing of its answer has come for so long. */
  readonly client?: {
    readonly gives_up_ms: number;
    /** Its first connection only seems to be there still. */
    readonly stays: boolean;
  };
}

export interface Planned {
  readonly call: SimCall;
  readonly at_ms: number;
}

/** When most runs begin. */
export const RUNS_MS = Date.UTC(2026, 2, 2, 12);
/** The end of a month of budgets, and that of a financial year of documents, which is in Kolkata. */
const ENDS_MS = [Date.UTC(2026, 3, 1), Date.UTC(2026, 2, 31, 18, 30)];
const AT_AN_END_EACH = 8;
const BEFORE_END_MS = [30, 120, 500, 2_000];

/** When the run of `seed` begins: at noon, or so soon before an end that its calls and payments are on both sides of it. */
export function startOf(seed: number): number {
  if (seed % AT_AN_END_EACH !== 5) return RUNS_MS;
  const no = Math.floor(seed / AT_AN_END_EACH);
  const end_ms = ENDS_MS[no % ENDS_MS.length] as number;
  return end_ms - (BEFORE_END_MS[Math.floor(no / ENDS_MS.length) % BEFORE_END_MS.length] as number);
}

const MODELS = { 'crash/chat': 50, 'crash/failover': 17, 'crash/full': 17, 'sim/free': 6, 'sim/senses': 10 };
const MAX_TOKENS = 500;
const CALLS = { min: 4, max: 24 };
function planCall(draw: Draw, no: number, keys: Keys): SimCall {
  const model = draw.weighted(MODELS);
  const open = isOpen(model);
  const leaves = draw.unit() < 0.12 && !open;
  const habit = open ? 'once' : draw.weighted({ once: 70, keyed: 30 });
  const key = draw.pick(open ? [...keys.poor, ...keys.poor, keys.all[0] as string] : keys.all);
  const over_report = draw.unit() < 0.15 ? draw.int(300, 700) : 0;
  return {
    no,
    habit,
    dialect: draw.pick(['chat', 'messages'] as const),
    model,
    stream: draw.unit() < 0.6,
    behaviour: draw.weighted({ ok: 82, refused: 3, flaky: 4, fault: 5, cut: 4, same_id: 2 }),
    leave_after_ms: leaves ? draw.int(1, 60) : null,
    key,
    gateway: draw.pick([0, 1] as const),
    // A charge names its call also where the caller never learnt the request id.
    tokens: 20 + ((no * 37) % (MAX_TOKENS - 20)),
    chunks: draw.int(1, 6),
    // Calls that take seconds are under way when a gateway stands still or dies.
    chunk_ms: draw.pick([0, 1, 5, 20, 20, 1_500]),
    max_tokens: MAX_TOKENS,
    over_report: open ? draw.pick([0, 900, 7_000]) : over_report,
    patience_ms: draw.pick([null, 3_000, 20_000]),
    ...(draw.unit() < 0.25 && !open
      ? { budget: { id: draw.pick(['run-a', 'run-b']), max_micro: 1_600 } }
      : {}),
  };
}

/** The calls of a run, in bursts. */
export function planCalls(draw: Draw, keys: Keys): Planned[] {
  const count = draw.int(CALLS.min, CALLS.max);
  const over_ms = draw.pick([1, 50, 400, 3_000]);
  return Array.from({ length: count }, (_, no) => ({
    call: planCall(draw, no, keys),
    at_ms: draw.unit() * over_ms,
  }));
}

/** Something that happens to the world, and when. */
export interface Blow {
  readonly at_ms: number;
  readonly what:
    | { readonly kind: 'kill'; readonly gateway: 0 | 1; readonly back_ms: number }
    /** A gateway is killed once it keeps settles on its disk, `after_ms` later. */
    | {
        readonly kind: 'kill_with_journal';
        readonly gateway: 0 | 1;
        readonly after_ms: number;
        readonly back_ms: number;
      }
    | { readonly kind: 'kill_worker'; readonly back_ms: number }
    | { readonly kind: 'cut_all' }
    /** A gateway lives, and does nothing: its machine is paused, or has no processor for it. */
    | { readonly kind: 'freeze'; readonly gateway: 0 | 1; readonly lasts_ms: number }
    | { readonly kind: 'outage'; readonly lasts_ms: number }
    /** The ledger's server answers seconds late. */
    | { readonly kind: 'slow'; readonly lasts_ms: number }
    /** The ledger's server is away, and a gateway is killed with what it has yet to book. */
    | {
        readonly kind: 'double';
        readonly gateway: 0 | 1;
        readonly kill_ms: number;
        readonly lasts_ms: number;
      }
    | { readonly kind: 'skew'; readonly gateway: 0 | 1; readonly by_ms: number };
}

const BLOWS = { kill: 45, cut_all: 20, outage: 20, double: 10, freeze: 25, kill_worker: 5, skew: 10 };

function planBlow(draw: Draw): Blow {
  const at_ms = draw.pick([0, 20, 300, 2_000]) + draw.unit() * draw.pick([3, 30, 400]);
  const gateway = draw.pick([0, 1] as const);
  const kind = draw.weighted(BLOWS);
  if (kind === 'double')
    return {
      at_ms,
      what: { kind, gateway, kill_ms: draw.int(900, 4_000), lasts_ms: draw.int(4_000, 9_000) },
    };
  if (kind === 'kill') return { at_ms, what: { kind, gateway, back_ms: draw.pick([5, 200, 15_000]) } };
  if (kind === 'kill_worker') return { at_ms, what: { kind, back_ms: draw.pick([50, 5_000]) } };
  if (kind === 'freeze')
    return { at_ms, what: { kind, gateway, lasts_ms: draw.pick([50, 2_500, 9_000, 25_000, 100_000]) } };
  if (kind === 'outage')
    return { at_ms, what: { kind, lasts_ms: draw.pick([50, 1_500, 6_000, 25_000, 90_000]) } };
  if (kind === 'skew')
    return { at_ms, what: { kind, gateway, by_ms: draw.pick([-5_000, -200, 300, 40_000]) } };
  return { at_ms, what: { kind } };
}

export function planBlows(draw: Draw): Blow[] {
  return Array.from({ length: draw.pick([0, 0, 1, 1, 1, 1, 2, 2, 3]) }, () => planBlow(draw));
}

/** How the network is, until the calls have ended. */
export function planWeather(draw: Draw): Weather {
  const rough = draw.unit() < 0.6;
  return {
    cut_before: rough ? draw.pick([0, 0.01, 0.05]) : 0,
    cut_after: rough ? draw.pick([0, 0.01, 0.05]) : 0,
    slow: rough ? draw.pick([0, 0.02, 0.2]) : 0,
    slow_ms: draw.pick([20, 1_500, 4_000]),
    away: false,
  };
}
