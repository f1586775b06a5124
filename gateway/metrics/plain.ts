// Counters and histograms as plain numbers, collected at each scrape. prom-client's own hash their labels at every
// increment, which would slow down each call.
import { SECONDS, Spread } from '@svc/core/kernel/index.ts';
import { Counter, type Histogram, type Registry } from 'prom-client';

/** A counter as a plain number. */
export interface Sum {
  n: number;
}

interface Line {
  readonly metricName: string;
  readonly labels?: { readonly le: string | number };
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly exemplar?: {
    readonly labelSet: Readonly<Record<string, string>>;
    readonly value: number;
    /** Unix seconds. */
    readonly timestamp: number;
  };
}

/** The last call of a bucket. Its labels are shorter than the 128 characters that OpenMetrics allows. */
function exemplarOf({ examples }: Spread, at: number): Pick<Line, 'exemplar'> {
  const example = examples[at];
  if (example === undefined) return {};
  const { request_id, trace_id, at_ms } = example.of;
  const labelSet = trace_id === '' ? { request_id } : { request_id, trace_id };
  return { exemplar: { labelSet, value: example.seconds, timestamp: at_ms / 1_000 } };
}

/** Lines of one histogram in the text format of Prometheus; bucket counts are cumulative. */
function linesOf(name: string, sharedLabels: Readonly<Record<string, string>>, spread: Spread): Line[] {
  let count = 0;
  const lines = [...SECONDS, '+Inf'].map((le, at): Line => {
    count += spread.counts[at] as number;
    const exemplar = exemplarOf(spread, at);
    return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: count, ...exemplar };
  });
  lines.push({ metricName: `${name}_sum`, sharedLabels, value: spread.sum });
  lines.push({ metricName: `${name}_count`, sharedLabels, value: count });
  return lines;
}

/** The plain metrics of one name, by label values. */
export class Held<T> {
  private readonly figures = new Map<string, { labels: Record<string, string>; figure: T }>();
  private readonly fresh: () => T;

  constructor(fresh: () => T) {
    this.fresh = fresh;
  }

  of(labels: Record<string, string>): T {
    const key = Object.values(labels).join(' ');
    let found = this.figures.get(key);
    if (found === undefined) {
      found = { labels, figure: this.fresh() };
      this.figures.set(key, found);
    }
    return found.figure;
  }

  all(): Iterable<{ labels: Record<string, string>; figure: T }> {
    return this.figures.values();
  }
}

/** Registers the counter `name`; the caller increments the plain numbers of its label values. */
export function sums(registry: Registry, name: string, help: string, labelNames: string[]): Held<Sum> {
  const held = new Held<Sum>(() => ({ n: 0 }));
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, figure } of held.all()) this.inc(labels, figure.n);
    },
  });
  return held;
}

/** Registers the histogram `name` of durations; the caller observes into the spread of its label values. */
export function spreads(registry: Registry, name: string, help: string): Held<Spread> {
  const held = new Held(() => new Spread());
  const all = () => [...held.all()].map(({ labels, figure }) => [labels, figure] as const);
  registerSpreads(registry, name, help, all);
  return held;
}

/** Registers the histogram `name` of durations that another part observes; `read` returns labels and spread per series. */
export function registerSpreads(
  registry: Registry,
  name: string,
  help: string,
  read: () => readonly (readonly [Readonly<Record<string, string>>, Spread])[],
): void {
  const metric = {
    ...{ name, help },
    get: () => ({
      ...{ name, help, type: 'histogram', aggregator: 'sum' },
      values: read().flatMap(([labels, spread]) => linesOf(name, labels, spread)),
    }),
  };
  // prom-client calls nothing else of a registered metric.
  registry.registerMetric(metric as unknown as Histogram);
}
