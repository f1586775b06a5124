// Prometheus metrics of ended calls. Label values come from fixed lists, never from a caller's text, which would make
// the number of series unbounded.
import type { CallRecord } from '@svc/core/inference/index.ts';
import { SECONDS } from '@svc/http/index.ts';
import { Counter, type Histogram, type Registry } from 'prom-client';

/** A counter as a plain number; prom-client's own counters hash their labels at every increment. */
interface Sum {
  n: number;
}

/** A histogram as plain numbers: `counts` per bucket, the last one for values above every bound. */
class Spread {
  readonly counts = new Float64Array(SECONDS.length + 1);
  sum = 0;

  observe(seconds: number): void {
    let at = 0;
    while (at < SECONDS.length && seconds > (SECONDS[at] as number)) at++;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += seconds;
  }

  /** Lines of the Prometheus text format under `name`; bucket counts are cumulative. */
  lines(name: string, sharedLabels: Record<string, string>): Line[] {
    let count = 0;
    const lines = [...SECONDS, '+Inf'].map((le, at): Line => {
      count += this.counts[at] as number;
      return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: count };
    });
    lines.push({ metricName: `${name}_sum`, sharedLabels, value: this.sum });
    lines.push({ metricName: `${name}_count`, sharedLabels, value: count });
    return lines;
  }
}

interface Line {
  readonly metricName: string;
  readonly labels?: { readonly le: string | number };
  readonly sharedLabels: Record<string, string>;
  readonly value: number;
}

/** The plain metrics of one name, by label values; collected at each scrape. */
class Held<T> {
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

function sums(registry: Registry, name: string, help: string, labelNames: string[]): Held<Sum> {
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

function spreads(registry: Registry, name: string, help: string): Held<Spread> {
  const held = new Held(() => new Spread());
  const metric = {
    name,
    help,
    get: () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...held.all()].flatMap(({ labels, figure }) => figure.lines(name, labels)),
    }),
  };
  // prom-client calls nothing else of a registered metric.
  registry.registerMetric(metric as unknown as Histogram);
  return held;
}

/** The metrics for one combination of labels, so that a call needs one look-up. */
interface CallFigures {
  readonly calls: Sum;
  readonly input: Sum;
  readonly output: Sum;
  readonly charged: Sum;
  readonly first: Spread;
  readonly whole: Spread;
  readonly own: Spread;
}

/** Returns a function that counts ended calls into `registry`. */
export function countCalls(registry: Registry): (record: CallRecord) => void {
  const sum = (name: string, help: string, labels: string[]) => sums(registry, name, help, labels);
  const calls = sum('svc_calls_total', 'Ended calls by dialect, environment, status and error code.', [
    ...['dialect', 'environment', 'status', 'error_code'],
  ]);
  const tokens = sum('svc_call_tokens_total', 'Metered tokens by provider and direction.', [
    ...['provider', 'direction'],
  ]);
  const charged = sum('svc_call_charged_micro_usd_total', 'Micro-USD charged for calls.', ['environment']);
  const spread = (name: string, help: string) => spreads(registry, name, help);
  const first = spread('svc_call_time_to_first_token_seconds', 'Seconds to the first token of the answer.');
  const whole = spread('svc_call_duration_seconds', 'Seconds from the request to the end of the answer.');
  const own = spread('svc_call_overhead_seconds', 'Seconds that the gateway itself added.');
  const known = new Map<string, CallFigures>();
  const figuresOf = (record: CallRecord): CallFigures => {
    const { dialect_in: dialect, status, error_code } = record;
    const { environment } = record.grant;
    const provider = record.endpoint?.provider ?? '';
    const key = `${dialect} ${environment} ${status} ${error_code} ${provider}`;
    let figures = known.get(key);
    if (figures === undefined) {
      figures = {
        calls: calls.of({ dialect, environment, status, error_code }),
        input: tokens.of({ provider, direction: 'input' }),
        output: tokens.of({ provider, direction: 'output' }),
        charged: charged.of({ environment }),
        first: first.of({ provider }),
        whole: whole.of({ provider }),
        own: own.of({ provider }),
      };
      known.set(key, figures);
    }
    return figures;
  };
  return (record) => {
    const to = figuresOf(record);
    to.calls.n++;
    if (record.usage !== null) {
      const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = record.usage;
      to.input.n += input_tokens + cache_read_tokens + cache_write_tokens;
      to.output.n += output_tokens;
    }
    to.charged.n += record.charged_micro_usd;
    if (record.ttft_ms !== null) to.first.observe(record.ttft_ms / 1000);
    to.whole.observe(record.duration_ms / 1000);
    to.own.observe(record.gw_overhead_ms / 1000);
  };
}
