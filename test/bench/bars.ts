// The limits of the benchmark, which a run is checked against.

export interface Bar {
  readonly title: string;
  readonly measured: number;
  readonly unit: string;
  readonly bar: number;
  readonly goal: number;
  /** Most figures must be at most the limit; rates at least. */
  readonly at_least?: boolean;
}

export type Verdict = 'goal' | 'bar' | 'NOT REACHED';

/** Whether a figure reaches the goal, only the bar, or neither. */
export function verdictOf({ measured, bar, goal, at_least }: Bar): Verdict {
  const reaches = (line: number) => (at_least === true ? measured >= line : measured <= line);
  if (reaches(goal)) return 'goal';
  return reaches(bar) ? 'bar' : 'NOT REACHED';
}

/** Ratio bars by scenario name: gateway CPU over bare proxy CPU. */
export const ratioBars: Readonly<Record<string, { bar: number; goal: number }>> = {
  plain: { bar: 1.6, goal: 1.25 },
  plain_100k: { bar: 4, goal: 2.5 },
  chat_raw: { bar: 1.3, goal: 1.2 },
  messages_raw: { bar: 1.3, goal: 1.2 },
  chat_across: { bar: 1.6, goal: 1.3 },
  messages_across: { bar: 1.6, goal: 1.3 },
  responses_raw: { bar: 1.3, goal: 1.2 },
  responses_across: { bar: 1.6, goal: 1.3 },
  chat_gemini: { bar: 1.6, goal: 1.3 },
  chat_bedrock: { bar: 1.6, goal: 1.3 },
};

/** PostgreSQL CPU per call of one hot book, in µs, at saturation. */
export const postgresBar = { bar: 35, goal: 25 };
/** Latency beyond the bare proxy at 100 calls a second, before one fdatasync of the disk is added, in ms. */
export const latencyBars = { p50: { bar: 2.5, goal: 1 }, p99: { bar: 10, goal: 4 } };
export const idleStreamKb = { bar: 40, goal: 28 };
export const idleStreamRatio = { bar: 1.25, goal: 1 };
export const idleGatewayMb = { bar: 200, goal: 120 };
/** A thousand streams at once: a chunk's CPU over the bare proxy's, and what a stream holds at the peak, in KB. */
export const concurrentBars = { cpu: { bar: 1.3, goal: 1.2 }, kb: { bar: 120, goal: 80 } };
/** PostgreSQL CPU per pair, in µs. */
export const pairPostgres = { hot: { bar: 35, goal: 25 }, spread: { bar: 100, goal: 60 } };
export const pairsPerSecond = { hot: { bar: 12_000, goal: 20_000 }, spread: { bar: 5_000, goal: 10_000 } };
/** A routing decision over 1,000 endpoints, in µs. */
export const routingUs = { bar: 200, goal: 120 };
/** What another organization's calls and `/healthz` may take beside one that sends the worst bodies, in ms. */
export const tenantBars = { calls: { bar: 50, goal: 25 }, health: { bar: 100, goal: 25 } };
/** Callbacks taken of 2,000 a second on one core, and what calls may take beside them, in ms. */
export const callbackBars = { per_second: { bar: 1_900, goal: 1_990 }, calls: { bar: 100, goal: 25 } };
