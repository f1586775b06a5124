// One HTTP exchange with a provider. `undici.dispatch` serves whole answers and streams alike: it was the cheapest of
// the clients measured, and the only one that lets a slow reader stop the provider (pause/resume).
import { type Dispatcher, Pool } from 'undici';
import type { UpstreamRequest } from '../canonical/contract.ts';
import type { Sign } from './sigv4.ts';

/** A running exchange. After `abort`, no method of the handler is called. */
export interface Exchange {
  /** Ends the exchange by closing the connection to the provider. */
  abort(): void;
  pause(): void;
  resume(): void;
  /**
   * Everything needed has been read. The connection is kept if the body ends within two seconds, and otherwise
   * closed.
   */
  release?(): void;
  /** Whether bytes of the request may have reached the provider. */
  readonly sent: boolean;
}

export interface NetworkProblem {
  readonly message: string;
  /** The error's code: ECONNREFUSED, UND_ERR_SOCKET, … */
  readonly code: string;
  /** Nothing reached the provider, so the same endpoint may be tried again. */
  readonly unsent: boolean;
  readonly timeout: boolean;
}

export interface ExchangeHandler {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  data(bytes: Buffer): void;
  end(): void;
  error(problem: NetworkProblem): void;
}

interface Destination {
  readonly base_url: string;
  /** Flat list of headers (name, value, …) that contain the credentials. */
  readonly credentials: readonly string[];
  /** Signs each request; `region` is then the endpoint's region. */
  readonly sign?: Sign;
  readonly region?: string;
}

export interface Transport {
  /**
   * Sends `request` to `to`; methods of the handler are called in later turns of the event loop. With `whole` the
   * body may stay in memory until the answer ends, which is the cheaper way to send it; for a stream it must not
   * (I7).
   */
  send(to: Destination, request: UpstreamRequest & { whole: boolean }, handler: ExchangeHandler): Exchange;
  /** Open connections of all origins, for metrics. */
  connections(): number;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;

interface Origin {
  readonly pool: Pool;
  readonly prefix: string;
}

// undici keeps a Buffer body until the answer ends. A generator that yields it once and forgets it frees the prompt
// as soon as it is written, which halves the memory of an idle stream.
function* once(body: Buffer | null): Generator<Buffer> {
  const bytes = body as Buffer;
  body = null;
  yield bytes;
}

function flatHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}

class HttpExchange implements Exchange, Dispatcher.DispatchHandler {
  sent = false;
  private controller: Dispatcher.DispatchController | null = null;
  private answered = false;
  private over = false;
  private released = false;
  private readonly handler: ExchangeHandler;
  private readonly lingering: Set<HttpExchange>;

  constructor(handler: ExchangeHandler, lingering: Set<HttpExchange>) {
    this.handler = handler;
    this.lingering = lingering;
  }

  abort(): void {
    if (this.over) return;
    this.over = true;
    this.lingering.delete(this);
    this.controller?.abort(new Error('exchange aborted'));
  }
  release(): void {
    if (!this.over) this.lingering.add(this);
  }
  /** Called once a second after `release`. */
  linger(): void {
    if (this.released) this.abort();
    else this.released = true;
  }
  /** Ends the exchange before it was sent, for a reason of our own. */
  fail(error: Error): void {
    this.onResponseError(null, error);
  }
  get isOver(): boolean {
    return this.over;
  }
  pause(): void {
    if (!this.over) this.controller?.pause();
  }
  resume(): void {
    if (!this.over) this.controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.over) controller.abort(new Error('exchange aborted'));
    else this.sent = true;
  }
  onResponseStart(_c: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    // 1xx answers are informational; the final one follows.
    if (this.over || status < 200) return;
    this.answered = true;
    this.handler.head(status, flatHeaders(headers));
  }
  onResponseData(_c: unknown, bytes: Buffer): void {
    if (!this.over) this.handler.data(bytes);
  }
  onResponseEnd(): void {
    if (this.over) return;
    this.over = true;
    this.lingering.delete(this);
    this.handler.end();
  }
  onResponseError(_c: unknown, error: Error): void {
    if (this.over) return;
    this.over = true;
    this.lingering.delete(this);
    const code = (error as { code?: string }).code ?? error.name;
    this.handler.error({
      message: error.message,
      code,
      unsent: !this.sent && !this.answered,
      timeout: code === 'UND_ERR_CONNECT_TIMEOUT',
    });
  }
}

type Request = UpstreamRequest & { readonly whole: boolean };

/** The connections to the provider at `base`. */
function openOrigin(base: string, connections: number): Origin {
  const url = new URL(base);
  const pool = new Pool(url.origin, {
    connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4_000,
    connect: { timeout: CONNECT_MS },
  });
  return { pool, prefix: url.pathname.replace(/\/+$/, '') };
}

/** Sends `request` with the headers in `credentials`. */
function dispatch(
  { pool, prefix }: Origin,
  request: Request,
  credentials: readonly string[],
  exchange: HttpExchange,
): void {
  // The gateway decides accept-encoding: a provider that is sent one compresses, and the raw lane cannot splice
  // compressed bytes.
  const headers = [
    ...['content-type', 'application/json', 'accept-encoding', 'identity', 'content-length'],
    String(request.body.length),
    ...credentials,
    ...request.headers,
  ];
  const body = request.whole ? request.body : (once(request.body) as unknown as null);
  pool.dispatch({ path: prefix + request.path, method: 'POST', headers, body }, exchange);
}

/** Signs, then sends, unless the call has been aborted meanwhile. */
function signAndDispatch(
  origin: Origin,
  to: Destination & { readonly sign: Sign },
  request: Request,
  exchange: HttpExchange,
): void {
  const path = origin.prefix + request.path;
  to.sign({ base_url: to.base_url, path, body: request.body, region: to.region ?? '' })
    .then((signature) => {
      if (!exchange.isOver) dispatch(origin, request, [...to.credentials, ...signature], exchange);
    })
    .catch((error: unknown) => {
      // The library's message may quote what it was given, so only the name of the error is passed on.
      const name = error instanceof Error ? error.name : 'Error';
      exchange.fail(Object.assign(new Error('the request could not be signed'), { code: `SIGN_${name}` }));
    });
}

/**
 * The transport of a process, with a connection pool per origin. The caller watches the times to the first event,
 * between events and in total (call/attempt/attempt.ts), so undici's own timeouts are off; only connecting is limited
 * here, to 5 s.
 */
export function createTransport(options: { connections?: number } = {}): Transport {
  const origins = new Map<string, Origin>();
  // Without timeouts, a provider that never ends its body after the end mark would keep a connection for ever.
  const lingering = new Set<HttpExchange>();
  const sweep = setInterval(() => {
    for (const exchange of lingering) exchange.linger();
  }, 1_000).unref();

  function originOf(base: string): Origin {
    let origin = origins.get(base);
    if (origin === undefined) {
      origin = openOrigin(base, options.connections ?? 4_096);
      origins.set(base, origin);
    }
    return origin;
  }

  return {
    send(to, request, handler) {
      const exchange = new HttpExchange(handler, lingering);
      const origin = originOf(to.base_url);
      const { sign } = to;
      if (sign === undefined) dispatch(origin, request, to.credentials, exchange);
      else signAndDispatch(origin, { ...to, sign }, request, exchange);
      return exchange;
    },
    connections() {
      let open = 0;
      for (const { pool } of origins.values()) open += pool.stats.connected;
      return open;
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...origins.values()].map(({ pool }) => pool.destroy()));
    },
  };
}
