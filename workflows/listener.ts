// Health and metrics of a worker, on a listener that serves nothing else.
import { createServer } from 'node:http';
import { closeListener, listenAt, watchGauges } from '@svc/core/kernel/index.ts';
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

export interface Listening {
  readonly registry: Registry;
  /** `http://host:port`. */
  readonly url: string;
  /** Counts a run of an activity. */
  activity(name: string, outcome: 'done' | 'failed'): void;
  /** Gauges that are read at each scrape: name without the prefix `svc_` → function that returns the value. */
  watch(gauges: Readonly<Record<string, () => number>>): void;
  close(): Promise<void>;
}

/** Resolves with null when the worker is ready, otherwise with what is missing. */
export type Readiness = () => Promise<string | null>;

/**
 * Serves `/healthz`, `/readyz` and `/metrics` at `host:port` (0 picks a free one). @throws Error when the port is
 * taken.
 */
export async function openListener(options: {
  readonly host: string;
  readonly port: number;
  readonly ready: Readiness;
}): Promise<Listening> {
  const registry = new Registry();
  registry.setDefaultLabels({ program: 'worker' });
  collectDefaultMetrics({ register: registry });
  const runs = new Counter({
    name: 'svc_activities_total',
    help: 'Runs of activities by name and outcome.',
    labelNames: ['activity', 'outcome'] as const,
    registers: [registry],
  });
  const answers: Readonly<Record<string, () => Promise<{ status: number; type: string; body: string }>>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const missing = await options.ready();
      return missing === null
        ? json(200, { status: 'ready' })
        : json(503, { status: 'unavailable', missing });
    },
    '/metrics': async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() }),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''] ?? (async () => json(404, { status: 'not_found' }));
    answer().then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  const url = await listenAt(server, options);
  return {
    registry,
    url,
    activity: (activity, outcome) => runs.inc({ activity, outcome }),
    watch: (gauges) => watchGauges(registry, gauges),
    close: () => closeListener(server),
  };
}

function json(status: number, body: object): { status: number; type: string; body: string } {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
