// The jobs that the benchmark gives its load generator, and the results.

export interface Target {
  readonly port: number;
  readonly path: string;
  /** Bearer key; the bare proxy ignores it. */
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
  readonly prompt: 'small' | '4k' | '100k';
}

export type Job =
  /** `calls` calls with `in_flight` at once. */
  | { readonly kind: 'closed'; readonly target: Target; readonly calls: number; readonly in_flight: number }
  /** `per_second` calls a second for `seconds`, sent whether or not earlier ones have ended. */
  | { readonly kind: 'open'; readonly target: Target; readonly per_second: number; readonly seconds: number }
  /** Opens `count` streams, says so after the first event of each, and holds them until `close`. */
  | { readonly kind: 'hold'; readonly target: Target; readonly count: number }
  | { readonly kind: 'close' };

export interface JobResult {
  readonly calls: number;
  readonly seconds: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly ttft_p50_ms: number;
  /** Mean number of reads with body bytes in one answer. */
  readonly reads: number;
}

export type Message =
  | { readonly ok: true; readonly result: JobResult }
  | { readonly ok: false; readonly fault: string };
