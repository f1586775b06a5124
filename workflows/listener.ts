// Health and metrics of a worker, on a listener that serves nothing else.
import { createServer } from 'node:http';
import {
  buildInfo,
  closeListener,
  type Figure,
  listenAt,
  registerFigures,
  scrape,
} from '@svc/core/kernel/index.ts';
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

export interface Listening {
  readonly registry: Registry;
  /** `http://host:port`. */
  readonly url: string;
  /** Counts a run of an activity. */
  activity(name: string, outcome: 'done' | 'failed'): void;
  /** Adds metrics whose values are read at each scrape. */
  watch(figures: readonly Figure[]): void;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Null when all is well, else what is missing. */
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
  registerFigures(registry, [buildInfo]);
  const runs = new Counter({
    name: 'svc_activities_total',
    help: 'Runs of activities by name and outcome.',
    labelNames: ['activity', 'outcome'] as const,
    registers: [registry],
  });
  const answers: Readonly<Record<string, (accept?: string) => Promise<Answer>>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const missing = await options.ready();
      return missing === null
        ? json(200, { status: 'ready' })
        : json(503, { status: 'unavailable', missing });
    },
    '/metrics': async (accept) => ({ status: 200, ...(await scrape(registry, accept)) }),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''] ?? (async () => json(404, { status: 'not_found' }));
    answer(request.headers.accept).then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  const url = await listenAt(server, options);
  return {
    registry,
    url,
    activity: (activity, outcome) => runs.inc({ activity, outcome }),
    watch: (figures) => registerFigures(registry, figures),
    close: () => closeListener(server),
  };
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
