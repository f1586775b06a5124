// Prometheus metrics on a separate listener, never on the public one. Label values come from fixed lists, never from
// a caller's text, which would make the number of series unbounded.
import { createServer, type Server } from 'node:http';
import {
  buildInfo,
  closeListener,
  type Figure,
  listenAt,
  registerFigures,
  SECONDS,
  scrape,
} from '@svc/core/kernel/index.ts';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  /** Address of the metrics, `http://host:port/metrics`. */
  readonly url: string;
  /** Counts an answer; `route` is the declared path, never the path of the request. */
  observe(answer: { method: string; route: string; status: number; seconds: number }): void;
  /** Adds metrics whose values are read at each scrape. */
  watch(figures: readonly Figure[]): void;
  close(): Promise<void>;
}

function httpFigures(registry: Registry): Metrics['observe'] {
  const answers = new Counter({
    name: 'svc_http_requests_total',
    help: 'Answers by method, declared path and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Seconds from the first byte of a request to the end of its answer.',
    labelNames: ['method', 'route'] as const,
    buckets: [...SECONDS],
    registers: [registry],
  });
  return ({ method, route, status, seconds }) => {
    answers.inc({ method, route, status: String(status) });
    durations.observe({ method, route }, seconds);
  };
}

function serve(registry: Registry): Server {
  return createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    try {
      const { type, body } = await scrape(registry, request.headers.accept);
      response.writeHead(200, { 'content-type': type }).end(body);
    } catch {
      response.writeHead(500).end();
    }
  });
}

/**
 * Opens the metrics of one process at `host:port` (port 0 picks a free one). @throws Error when the port is taken.
 */
export async function openMetrics(options: {
  host: string;
  port: number;
  program: string;
}): Promise<Metrics> {
  const registry = new Registry();
  registry.setDefaultLabels({ program: options.program });
  collectDefaultMetrics({ register: registry });
  registerFigures(registry, [buildInfo]);
  const observe = httpFigures(registry);
  const server = serve(registry);
  const url = await listenAt(server, options);
  return {
    registry,
    url: `${url}/metrics`,
    observe,
    watch: (figures) => registerFigures(registry, figures),
    close: () => closeListener(server),
  };
}
