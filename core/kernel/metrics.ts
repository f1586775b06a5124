// Code that the metrics listeners of all programs share.
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Metric, Registry } from 'prom-client';

/** One value of a metric under its labels. */
export interface Reading {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** A metric whose values another part keeps as plain numbers; they are collected at each scrape. */
export interface Figure {
  /** The full name, `svc_…`; the name of a counter ends with `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** A number when the metric has no labels. Null, undefined and an empty list show no series. */
  read(): number | null | undefined | readonly Reading[];
}

/** Adds `figures` to `registry`. @throws Error when a name is taken. */
export function registerFigures(registry: Registry, figures: readonly Figure[]): void {
  for (const { name, help, type, read } of figures) {
    const values = (): readonly Reading[] => {
      const found = read();
      if (typeof found === 'number') return [{ value: found, labels: {} }];
      return found ?? [];
    };
    // prom-client calls nothing else of a registered metric.
    registry.registerMetric({
      ...{ name, help, type },
      get: () => ({ name, help, type, aggregator: 'sum', values: values() }),
    } as unknown as Metric);
  }
}

/** Readings of a metric with the single label `label`; `numbers` maps the label's values to theirs. */
export function byLabel(label: string, numbers: Iterable<readonly [string, number]>): Reading[] {
  return [...numbers].map(([name, value]) => ({ value, labels: { [label]: name } }));
}

/** The release that runs. */
export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The release that runs and its Node version. */
export const buildInfo: Figure = {
  name: 'svc_build_info',
  help: '1, labelled with the release and its Node.',
  type: 'gauge',
  read: () => [{ value: 1, labels: { version, node: process.versions.node } }],
};

/** The members of a metric that a registry calls; prom-client's types do not declare them. */
interface Read {
  readonly name: string;
  get(): Promise<{ name: string; type: string }>;
  /** Histograms only: the same without copies of the shared labels. */
  getForPromString?(): Promise<{ name: string; type: string }>;
}

const COUNTER_SUFFIX = /_total$/;

/**
 * A copy of `registry` that renders OpenMetrics, the format with exemplars. It names a counter without the suffix
 * `_total` of its samples. prom-client renames the counters of the registry itself for that, and the next scrape in the
 * older format would show the wrong names; therefore the metrics are wrapped.
 */
function openMetricsOf(registry: Registry): Registry {
  const copy = new Registry();
  copy.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  const { _defaultLabels: labels } = registry as unknown as { _defaultLabels: object };
  copy.setDefaultLabels(labels);
  for (const metric of registry.getMetricsAsArray() as unknown as readonly Read[]) {
    copy.registerMetric({
      name: metric.name,
      async get() {
        const found = await (metric.getForPromString?.() ?? metric.get());
        const isCounter = found.type === 'counter';
        return isCounter ? { ...found, name: found.name.replace(COUNTER_SUFFIX, '') } : found;
      },
    } as unknown as Metric);
  }
  return copy;
}

/** Renders `registry` in the format of the `accept` header: OpenMetrics 1.0 with exemplars, or the text format of Prometheus. */
export async function scrape(
  registry: Registry,
  accept: string | undefined,
): Promise<{ readonly type: string; readonly body: string }> {
  const wants = accept?.includes('application/openmetrics-text') === true;
  const from = wants ? openMetricsOf(registry) : registry;
  return { type: from.contentType, body: await from.metrics() };
}

/**
 * Listens on `host:port` (port 0 picks a free one) and returns `http://host:port`. @throws Error when the port is
 * taken.
 */
export async function listenAt(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, done);
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${(server.address() as AddressInfo).port}`;
}

/** Closes a listener and its open connections. */
export async function closeListener(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}
