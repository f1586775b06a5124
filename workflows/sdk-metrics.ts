// Figures of Temporal's SDK on the worker's own metrics listener: requests, slots, latencies of tasks. The SDK would
// open a listener of its own for them, on another port.
import { type BufferedMetricUpdate, MetricsBuffer } from '@temporalio/worker';
import type { Metric as PromMetric, Registry } from 'prom-client';

const DRAIN_MS = 1_000;
/** Updates between two drains; the SDK logs and drops what is more. */
const BUFFERED_MAX = 100_000;
/** Seconds; tasks of workflows take milliseconds, activities seconds, and some polls a minute. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

type Labels = Readonly<Record<string, string>>;
interface Series {
  readonly labels: Labels;
  /** Of a histogram the sum. */
  value: number;
  count: number;
  /** Of a histogram: how many were in each bucket, and not in one below. */
  readonly buckets: number[];
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly adds: boolean;
  readonly series: Map<string, Series>;
}

const families = new Map<string, Family>();
const registries = new Set<Registry>();

/** Where the SDK leaves its figures; one per process, as its runtime is. */
export const sdkBuffer = new MetricsBuffer({ maxBufferSize: BUFFERED_MAX, useSecondsForDurations: true });

function readings({ name, type, series }: Family) {
  return [...series.values()].flatMap(({ labels, value, count, buckets }) => {
    if (type !== 'histogram') return [{ labels, value }];
    let below = 0;
    const cumulated = BUCKETS.map((le, i) => {
      below += buckets[i] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: String(le) }, value: below };
    });
    return [
      ...cumulated,
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${name}_sum`, labels, value },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
}

function register(registry: Registry, family: Family): void {
  const { name, help, type } = family;
  // prom-client calls nothing else of a registered metric.
  registry.registerMetric({
    ...{ name, help, type },
    get: async () => ({ name, help, type, aggregator: 'sum', values: readings(family) }),
  } as unknown as PromMetric);
}

function familyOf({ name, kind, unit, description }: BufferedMetricUpdate['metric']): Family {
  const known = families.get(name);
  if (known !== undefined) return known;
  const suffix = kind === 'counter' ? '_total' : '';
  const seconds = unit === 's' || unit === 'duration' ? '_seconds' : '';
  const family: Family = {
    name: `${name}${seconds}${suffix}`,
    help: description === undefined || description === '' ? `Of Temporal's SDK: ${name}.` : description,
    type: kind === 'up-down-counter' ? 'gauge' : kind,
    adds: kind !== 'gauge',
    series: new Map(),
  };
  families.set(name, family);
  for (const registry of registries) register(registry, family);
  return family;
}

function take({ metric, value, attributes }: BufferedMetricUpdate): void {
  const family = familyOf(metric);
  const labels = Object.fromEntries(Object.entries(attributes).map(([name, given]) => [name, String(given)]));
  const key = JSON.stringify(Object.entries(labels).sort());
  let series = family.series.get(key);
  if (series === undefined) {
    series = { labels, value: 0, count: 0, buckets: BUCKETS.map(() => 0) };
    family.series.set(key, series);
  }
  series.value = family.adds ? series.value + value : value;
  series.count++;
  const bucket = BUCKETS.findIndex((le) => value <= le);
  if (bucket >= 0) (series.buckets[bucket] as number)++;
}

/** Shows the SDK's figures on `registry`. Call the returned function to stop. */
export function showSdkMetrics(registry: Registry): () => void {
  registries.add(registry);
  for (const family of families.values()) register(registry, family);
  const timer = setInterval(() => {
    for (const update of sdkBuffer.retrieveUpdates()) take(update);
  }, DRAIN_MS).unref();
  return () => {
    clearInterval(timer);
    registries.delete(registry);
  };
}
