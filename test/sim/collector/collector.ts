// A collector on loopback: accepts OTLP over HTTP in JSON, refuses anything else, and keeps what it was
// sent. Tests can make it fail or hang.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type Json = Record<string, unknown>;
export type Values = Record<string, unknown>;

export interface SentSpan {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id: string;
  readonly name: string;
  /** 2 server, 3 client. */
  readonly kind: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly attributes: Values;
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number;
  readonly resource: Values;
  readonly schema_url: string;
}

/** The latest cumulative state of a histogram, by its attributes. */
export interface SentPoint {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Values;
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
}

export interface Collector {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly spans: readonly SentSpan[];
  points(metric: string): readonly SentPoint[];
  /** Every body that was sent, unchanged. */
  readonly bodies: readonly string[];
  /** Violations of the protocol that were found. */
  readonly faults: readonly string[];
  readonly requests: number;
  /** How requests are answered from now on; `hang`: never. */
  answer(how: number | 'hang'): void;
  close(): Promise<void>;
}

class Faulty extends Error {}

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Faulty(what);
}

function listIn(object: unknown, name: string): Json[] {
  const value = (object as Json)[name];
  if (value === undefined) return [];
  check(Array.isArray(value), `${name} is no list`);
  return value as Json[];
}

function heldIn(value: Json): unknown {
  const entries = Object.entries(value);
  check(entries.length === 1, `a value of ${entries.length} kinds`);
  const [kind, held] = entries[0] as [string, unknown];
  switch (kind) {
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
      return held;
    case 'intValue':
      return Number(held);
    case 'arrayValue':
      return listIn(held, 'values').map(heldIn);
    default:
      throw new Faulty(`a value of kind ${kind}`);
  }
}

function valuesOf(object: unknown): Values {
  const values: Values = {};
  for (const { key, value } of listIn(object, 'attributes')) {
    check(typeof key === 'string' && key !== '' && !(key in values), `attribute ${String(key)}`);
    values[key] = heldIn(value as Json);
  }
  return values;
}

function idOf(value: unknown, length: number): string {
  check(typeof value === 'string' && new RegExp(`^[0-9a-f]{${length}}$`).test(value), `id ${String(value)}`);
  return value;
}

function millisOf(value: unknown): number {
  check(/^\d{19}$/.test(String(value)), `time ${String(value)}`);
  return Number(BigInt(String(value)) / 1_000n) / 1_000;
}

function spansIn(body: Json): SentSpan[] {
  return listIn(body, 'resourceSpans').flatMap(({ resource, scopeSpans }) =>
    (scopeSpans as Json[]).flatMap((scope) =>
      listIn(scope, 'spans').map((span) => ({
        trace_id: idOf(span['traceId'], 32),
        span_id: idOf(span['spanId'], 16),
        parent_span_id: span['parentSpanId'] === undefined ? '' : idOf(span['parentSpanId'], 16),
        name: String(span['name']),
        kind: Number(span['kind']),
        start_ms: millisOf(span['startTimeUnixNano']),
        end_ms: millisOf(span['endTimeUnixNano']),
        attributes: valuesOf(span),
        status: Number((span['status'] as Json | undefined)?.['code'] ?? 0),
        resource: valuesOf(resource),
        schema_url: String(scope['schemaUrl'] ?? ''),
      })),
    ),
  );
}

function pointsIn(body: Json): SentPoint[] {
  return listIn(body, 'resourceMetrics').flatMap((resource) =>
    listIn(resource, 'scopeMetrics').flatMap((scope) =>
      listIn(scope, 'metrics').flatMap(({ name, unit, histogram }) => {
        check(histogram !== undefined, `${String(name)} is no histogram`);
        check((histogram as Json)['aggregationTemporality'] === 2, `${String(name)} is not cumulative`);
        return listIn(histogram, 'dataPoints').map((point) => ({
          ...{ metric: String(name), unit: String(unit), attributes: valuesOf(point) },
          ...{ count: Number(point['count']), sum: Number(point['sum']) },
          bounds: point['explicitBounds'] as number[],
        }));
      }),
    ),
  );
}

class LoopbackCollector implements Collector {
  readonly spans: SentSpan[] = [];
  readonly bodies: string[] = [];
  readonly faults: string[] = [];
  requests = 0;
  #how: number | 'hang' = 200;
  readonly #points = new Map<string, SentPoint>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((request, response) => {
    this.#take(request, response).catch(() => response.destroy());
  });

  async listen(port: number): Promise<void> {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((done) => this.#server.listen(port, '127.0.0.1', done));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  points(metric: string): readonly SentPoint[] {
    return [...this.#points.values()].filter((point) => point.metric === metric);
  }

  answer(how: number | 'hang'): void {
    this.#how = how;
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (this.#how === 'hang') return;
    if (this.#how !== 200) {
      response.writeHead(this.#how).end();
      return;
    }
    const text = Buffer.concat(chunks).toString();
    try {
      this.#keep(request, text);
    } catch (error) {
      this.faults.push((error as Error).message);
      response.writeHead(400).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }

  #keep(request: IncomingMessage, text: string): void {
    check(request.method === 'POST', `method ${request.method}`);
    check(request.headers['content-type'] === 'application/json', `type ${request.headers['content-type']}`);
    const body = JSON.parse(text) as Json;
    this.bodies.push(text);
    if (request.url === '/v1/traces') this.spans.push(...spansIn(body));
    else if (request.url === '/v1/metrics') {
      for (const point of pointsIn(body)) {
        this.#points.set(`${point.metric} ${JSON.stringify(point.attributes)}`, point);
      }
    } else throw new Faulty(`path ${request.url}`);
  }
}

/** Starts a collector on a free port of loopback, or on `port`. */
export async function startCollector(port = 0): Promise<Collector> {
  const collector = new LoopbackCollector();
  await collector.listen(port);
  return collector;
}
