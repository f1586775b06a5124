// The limits of the benchmark, which a run is checked against.

export interface Bar {
  readonly title: string;
  readonly measured: number;
  readonly unit: string;
  readonly bar: number;
  readonly goal: number;
  /** Most figures must be at most the limit; rates at least. */
  readonly at_least?: boolean;
  /** Of a figure that counts only at saturation: the share of its core that the process used. */
  readonly busy?: number;
}

export type Verdict = 'goal' | 'bar' | 'NOT REACHED' | 'not judged';

/** Whether a figure reaches the goal, only the bar, or neither. */
export function verdictOf({ measured, bar, goal, at_least, busy = 1 }: Bar): Verdict {
  if (busy < BUSY_MIN) return 'not judged';
  const reaches = (line: number) => (at_least === true ? measured >= line : measured <= line);
  if (reaches(goal)) return 'goal';
  return reaches(bar) ? 'bar' : 'NOT REACHED';
}

interface Line {
  readonly bar: number;
  readonly goal: number;
}
const RAW: Line = { bar: 1.4, goal: 1.2 };
const ACROSS: Line = { bar: 1.8, goal: 1.4 };

/** Gateway CPU over bare proxy CPU, by scenario and variant. */
export const ratioBars: Readonly<Record<string, Readonly<Record<string, Line>>>> = {
  plain: { 'null ledger': { bar: 2.4, goal: 1.9 }, gateway: { bar: 2.8, goal: 2.2 } },
  plain_100k: { gateway: { bar: 3, goal: 2.5 } },
  waiting: { gateway: { bar: 2.4, goal: 2 } },
  chat_raw: { gateway: RAW },
  messages_raw: { gateway: RAW },
  responses_raw: { gateway: RAW },
  chat_across: { gateway: ACROSS },
  messages_across: { gateway: ACROSS },
  responses_across: { gateway: ACROSS },
  chat_gemini: { gateway: ACROSS },
  chat_bedrock: { gateway: ACROSS },
};
/** Share of its core that a process has to use for the ratio of saturated calls to count: a cold process takes more for each. */
export const BUSY_MIN = 0.9;

/** PostgreSQL CPU per call with 2,000 in flight, in µs. */
export const waitingPostgres: Line = { bar: 100, goal: 60 };
/** PostgreSQL CPU of storing the row and the attempt of a call, in µs. */
export const storedRow: Line = { bar: 30, goal: 15 };
/** Young heap that a plain call allocates, in KB. */
export const allocatedKb: Line = { bar: 120, goal: 60 };
/** Latency beyond the bare proxy at 100 calls a second, before one fdatasync of the disk is added, in ms. */
export const latencyBars = { p50: { bar: 3, goal: 2 }, p99: { bar: 15, goal: 5 } };
export const idleStreamKb: Line = { bar: 40, goal: 28 };
export const idleStreamRatio: Line = { bar: 1.25, goal: 1 };
export const idleGatewayMb: Line = { bar: 240, goal: 160 };
/** A thousand streams at once: a chunk's CPU over the bare proxy's, and what a stream holds at the peak, in KB. */
export const concurrentBars = { cpu: RAW, kb: { bar: 120, goal: 80 } };
/** Pairs of hold and settle in full batches, by two processes: PostgreSQL CPU of each in µs, and how many a second. */
export const pairPostgres = { hot: { bar: 35, goal: 25 }, spread: { bar: 100, goal: 60 } };
export const pairsPerSecond = { hot: { bar: 20_000, goal: 40_000 }, spread: { bar: 10_000, goal: 15_000 } };
/** PostgreSQL CPU of a pair with 48 in flight, in µs. */
export const fewPairsPostgres = { hot: { bar: 120, goal: 80 }, spread: { bar: 180, goal: 150 } };
/** A routing decision over 1,000 endpoints, in µs. */
export const routingUs = { bar: 200, goal: 120 };
/** What another organization's calls and `/healthz` may take beside one that sends the worst bodies, in ms. */
export const tenantBars = { calls: { bar: 50, goal: 20 }, health: { bar: 100, goal: 25 } };
/** Callbacks taken of 2,000 a second on one core, and what calls may take beside them, in ms. */
export const callbackBars = { per_second: { bar: 1_900, goal: 1_990 }, calls: { bar: 100, goal: 25 } };
