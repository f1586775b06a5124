// A histogram of durations as plain numbers, for parts that do not depend on a metrics library.

/** Bucket bounds of every histogram of durations, in seconds. */
export const SECONDS: readonly number[] = [
  0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/** Identifies the call that was measured. */
export interface Example {
  readonly request_id: string;
  /** Trace id of the caller's `traceparent` header; '' without one. */
  readonly trace_id: string;
  readonly at_ms: number;
}

/** Counts per bucket, with the last example of each bucket. */
export class Spread {
  /** Per bucket; the last one counts values above every bound. */
  readonly counts = new Float64Array(SECONDS.length + 1);
  readonly examples: ({ readonly of: Example; readonly seconds: number } | undefined)[] = [];
  sum = 0;

  observe(seconds: number, example?: Example): void {
    let at = 0;
    while (at < SECONDS.length && seconds > (SECONDS[at] as number)) at++;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += seconds;
    if (example !== undefined) this.examples[at] = { of: example, seconds };
  }
}
