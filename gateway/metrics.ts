// Prometheus metrics on a listener of their own, never on the public one (design 12). Labels are declared names,
// never a caller's text: what a caller can choose would grow without bound.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallRecord } from '@svc/core/inference/index.ts';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  /** Address of the listener, `http://host:port/metrics`. */
  readonly url: string;
  /** Counts an answer; `route` is the declared path, never the caller's. */
  observe(answer: { method: string; route: string; status: number; seconds: number }): void;
  /** Counts an ended call. */
  call(record: CallRecord): void;
  /** Gauges read at each scrape: name without the prefix `svc_` → figure. */
  watch(gauges: Readonly<Record<string, () => number>>): void;
  close(): Promise<void>;
}

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

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
    buckets: SECONDS,
    registers: [registry],
  });
  return ({ method, route, status, seconds }) => {
    answers.inc({ method, route, status: String(status) });
    durations.observe({ method, route }, seconds);
  };
}

function callFigures(registry: Registry): Metrics['call'] {
  const registers = [registry];
  const calls = new Counter({
    name: 'svc_calls_total',
    help: 'Ended calls by dialect, environment, row status and error code.',
    labelNames: ['dialect', 'environment', 'status', 'error_code'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'svc_call_tokens_total',
    help: 'Metered tokens by provider and direction.',
    labelNames: ['provider', 'direction'] as const,
    registers,
  });
  const charged = new Counter({
    name: 'svc_call_charged_micro_usd_total',
    help: 'Micro-USD charged for calls.',
    labelNames: ['environment'] as const,
    registers,
  });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ['provider'] as const, buckets: SECONDS, registers });
  const first = histogram(
    'svc_call_time_to_first_token_seconds',
    'Seconds to the first token of the answer.',
  );
  const whole = histogram('svc_call_duration_seconds', 'Seconds from the request to the end of the answer.');
  const own = histogram('svc_call_overhead_seconds', 'Seconds that the gateway itself added.');
  // Children of prom-client are looked up by a hash of their labels; held by one key they cost a tenth.
  const held = new Map<string, Held>();
  const heldFor = (record: CallRecord): Held => {
    const { dialect_in: dialect, status, error_code } = record;
    const { environment } = record.grant;
    const provider = record.endpoint?.provider ?? '';
    const key = `${dialect} ${environment} ${status} ${error_code} ${provider}`;
    let children = held.get(key);
    if (children === undefined) {
      children = {
        calls: calls.labels({ dialect, environment, status, error_code }),
        input: tokens.labels({ provider, direction: 'input' }),
        output: tokens.labels({ provider, direction: 'output' }),
        charged: charged.labels({ environment }),
        first: first.labels({ provider }),
        whole: whole.labels({ provider }),
        own: own.labels({ provider }),
      };
      held.set(key, children);
    }
    return children;
  };
  return (record) => {
    const to = heldFor(record);
    to.calls.inc();
    if (record.usage !== null) {
      const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = record.usage;
      to.input.inc(input_tokens + cache_read_tokens + cache_write_tokens);
      to.output.inc(output_tokens);
    }
    to.charged.inc(record.charged_micro_usd);
    if (record.ttft_ms !== null) to.first.observe(record.ttft_ms / 1000);
    to.whole.observe(record.duration_ms / 1000);
    to.own.observe(record.gw_overhead_ms / 1000);
  };
}

/** Counters and histograms of one combination of labels. */
interface Held {
  readonly calls: Counter.Internal;
  readonly input: Counter.Internal;
  readonly output: Counter.Internal;
  readonly charged: Counter.Internal;
  readonly first: Histogram.Internal<'provider'>;
  readonly whole: Histogram.Internal<'provider'>;
  readonly own: Histogram.Internal<'provider'>;
}

function serve(registry: Registry): Server {
  return createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } catch {
      response.writeHead(500).end();
    }
  });
}

/** The metrics of one process, served at `host:port` (0 picks a free one). @throws Error when the port is taken. */
export async function openMetrics(options: {
  host: string;
  port: number;
  program?: string;
}): Promise<Metrics> {
  const registry = new Registry();
  registry.setDefaultLabels({ program: options.program ?? 'gateway' });
  collectDefaultMetrics({ register: registry });
  const observe = httpFigures(registry);
  const call = callFigures(registry);
  const server = serve(registry);
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(options.port, options.host, done);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    registry,
    url: `http://${host}:${port}/metrics`,
    observe,
    call,
    watch(gauges) {
      for (const [name, read] of Object.entries(gauges)) {
        new Gauge({
          name: `svc_${name}`,
          help: `${name.replaceAll('_', ' ')}, read at the scrape.`,
          registers: [registry],
          collect() {
            this.set(read());
          },
        });
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
