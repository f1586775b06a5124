// A provider on the wire: real HTTP on loopback, official shapes, faults on request, and a record of what it served.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { anthropic } from './anthropic.ts';
import { cohereEmbed, cohereRerank, compatibleRerank } from './cohere.ts';
import { type Said, say } from './content.ts';
import { type CountRecord, type CountRoute, countOf, countRoutes } from './counts.ts';
import {
  brokenByUs,
  type Delivery,
  deliverStream,
  deliverWhole,
  type Outcome,
  pause,
  resetSocket,
} from './delivery.ts';
import { gemini } from './gemini/gemini.ts';
import { KnobFault, type Knobs, readKnobs } from './knobs.ts';
import { openaiCompletions } from './openai/completions.ts';
import { openaiEmbeddings } from './openai/embeddings.ts';
import { openai } from './openai/openai.ts';
import { responses } from './openai/responses.ts';
import { geminiEmbeddings, voyagePictures } from './pictures.ts';
import { CallLog, type CallRecord } from './record.ts';
import { bodyOf, type Call, json, keptHeaders, recordOf } from './requests.ts';
import type { JsonBody, Wire, WireError } from './wire.ts';

export interface SimOptions {
  /** 0 (default) = a free one. */
  port?: number;
  host?: string;
  /** Keys that are accepted; absent: any. */
  keys?: readonly string[];
  /** Path of the NDJSON log. */
  log?: string;
}

export interface SimStats {
  open_sockets: number;
  open_calls: number;
  open_streams: number;
  calls: number;
}

export interface Sim {
  readonly url: string;
  readonly port: number;
  /** Oldest first; the same objects that are still being filled. */
  readonly calls: readonly CallRecord[];
  /** Counts of a prompt that were asked for, oldest first. */
  readonly counts: readonly CountRecord[];
  stats(): SimStats;
  /** Forgets calls and the counts of `fail_first`. */
  reset(): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** An OpenAI-compatible provider; clients take `${url}/v1` as base URL. */
export function startOpenAiSim(options: SimOptions = {}): Promise<Sim> {
  return startSim([openai, openaiCompletions, responses, openaiEmbeddings], options);
}

/** An Anthropic-compatible provider; clients take `url` as base URL. */
export function startAnthropicSim(options: SimOptions = {}): Promise<Sim> {
  return startSim([anthropic], options);
}

/** Both on one port. */
export function startProviderSim(options: SimOptions = {}): Promise<Sim> {
  return startSim([openai, openaiCompletions, anthropic, responses, gemini, ...vectorWires], options);
}

/** A Gemini-compatible provider; clients take `url` as base URL. */
export function startGeminiSim(options: SimOptions = {}): Promise<Sim> {
  return startSim([gemini, geminiEmbeddings], options);
}

const vectorWires = [
  ...[openaiEmbeddings, cohereEmbed, cohereRerank, compatibleRerank],
  ...[voyagePictures, geminiEmbeddings],
];

/** A Cohere-compatible provider; clients take `url` as base URL. */
export function startCohereSim(options: SimOptions = {}): Promise<Sim> {
  return startSim(vectorWires, options);
}

async function startSim(wires: readonly Wire[], options: SimOptions): Promise<Sim> {
  const provider = new Provider(wires, options);
  await provider.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  return provider;
}

class Provider implements Sim {
  private readonly wires: readonly Wire[];
  private readonly keys: readonly string[] | null;
  private readonly log: CallLog;
  readonly counts: CountRecord[] = [];
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly running = new Map<CallRecord, AbortController>();
  /** Number of failures so far, by mark. */
  private readonly failures = new Map<string, number>();

  constructor(wires: readonly Wire[], options: SimOptions) {
    this.wires = wires;
    this.keys = options.keys ?? null;
    this.log = new CallLog(options.log);
    this.server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
      this.take(request, response).catch((error: unknown) => {
        // A caller that left is no error; any other error is a bug of the simulator and must not look like a provider's fault.
        if (!response.destroyed) response.destroy(error as Error);
      });
    });
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
  }

  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, 4_096, resolve);
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }
  get calls(): readonly CallRecord[] {
    return this.log.calls;
  }

  stats(): SimStats {
    let open_streams = 0;
    for (const { stream } of this.running.keys()) if (stream) open_streams++;
    const open_calls = this.running.size;
    return { open_sockets: this.sockets.size, open_calls, open_streams, calls: this.log.calls.length };
  }

  reset(): void {
    this.log.reset();
    this.counts.length = 0;
    this.failures.clear();
  }

  async close(): Promise<void> {
    for (const stop of this.running.values()) stop.abort();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
    this.log.close();
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sim');
    if (url.pathname.startsWith('/_sim/')) return this.control(request, url, response);
    const count = countRoutes.find((each) => this.wires.includes(each.wire) && each.membersOf(url) !== null);
    const wire =
      count?.wire ??
      this.wires.find((each) =>
        each.membersOf === undefined ? url.pathname === each.path : each.membersOf(url) !== null,
      );
    if (wire === undefined)
      return json(response, 404, '{"error":{"message":"no such path","type":"not_found_error"}}');
    const raw = await bodyOf(request);
    const key = wire.keyOf(request.headers);
    if (key === null || (this.keys !== null && !this.keys.includes(key))) {
      return this.refuse(response, wire, { status: 401, message: 'Incorrect API key provided.' });
    }
    let body: JsonBody;
    try {
      body = JSON.parse(raw.toString()) as JsonBody;
    } catch {
      return this.refuse(response, wire, {
        status: 400,
        message: 'We could not parse the JSON body of your request.',
      });
    }
    if (count !== undefined) {
      Object.assign(body, count.membersOf(url));
      return this.count({ request, response, wire, body, key, bytes: raw.length }, count);
    }
    if (wire.membersOf !== undefined) Object.assign(body, wire.membersOf(url));
    const fault = wire.check(body, request.headers);
    if (fault !== null) return this.refuse(response, wire, fault);
    await this.serve({ request, response, wire, body, key, bytes: raw.length });
  }

  /** Answers a request for a count; only the knobs that act before an answer apply. */
  private async count(call: Call, route: CountRoute): Promise<void> {
    const { request, response, wire, body, key } = call;
    this.counts.push({ family: wire.family, body, headers: keptHeaders(request), key_hint: key.slice(-4) });
    const read = route.read(body);
    if ('fault' in read) return this.refuse(response, wire, read.fault);
    const fault = wire.check(read.body, request.headers);
    if (fault !== null) return this.refuse(response, wire, fault);
    const { knobs } = readKnobs(wire.lastUserText(read.body), undefined);
    const stop = new AbortController();
    response.on('close', () => stop.abort());
    try {
      await pause(knobs.slow_headers_ms, stop.signal);
    } catch {
      return;
    }
    if (knobs.reset === 1) return resetSocket(response);
    if (knobs.garbage_after !== null) return json(response, 200, '{"input_tokens":"many"}');
    const refusal = this.refusalOf(knobs, knobs.mark ?? '');
    if (refusal !== null) return this.refuse(response, wire, refusal, knobs);
    json(response, 200, JSON.stringify(route.reply(countOf(wire, read.body))));
  }

  private async serve(call: Call): Promise<void> {
    const { request, response, wire, body } = call;
    let knobs: Knobs;
    let named: string;
    try {
      const header = request.headers['x-sim'];
      ({ knobs, named } = readKnobs(
        wire.lastUserText(body),
        typeof header === 'string' ? header : undefined,
      ));
    } catch (error) {
      if (!(error instanceof KnobFault)) throw error;
      return this.refuse(response, wire, { status: 400, message: `simulator: ${error.message}` });
    }
    const record = this.log.begin(recordOf(call, knobs, named));
    const stop = new AbortController();
    this.running.set(record, stop);
    response.on('close', () => {
      if (!record.finished && !response.writableFinished && !brokenByUs.has(response))
        record.client_gone = true;
      stop.abort();
    });
    try {
      await this.answer(call, knobs, record, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      this.running.delete(record);
      this.log.end(record);
    }
  }

  private async answer(call: Call, knobs: Knobs, record: CallRecord, signal: AbortSignal): Promise<void> {
    const { request, response, wire, body } = call;
    await pause(knobs.slow_headers_ms, signal);
    if (knobs.reset === 1) return resetSocket(response);
    const refusal = this.refusalOf(knobs, record.mark);
    if (refusal !== null) {
      await pause(knobs.delay_ms, signal);
      record.status = refusal.status;
      return this.refuse(response, wire, refusal, knobs);
    }
    const said = say(wire.read(body), knobs, record.n);
    record.id = wire.idOf(said, knobs);
    record.prompt_tokens = said.prompt_tokens;
    record.completion_tokens = said.completion_tokens;
    record.status = 200;
    const gzip = knobs.gzip === 1 && String(request.headers['accept-encoding'] ?? '').includes('gzip');
    const onLast = (): void => {
      record.finished = true;
      record.reported = wire.reported(said, knobs);
    };
    await this.deliver({ response, record, knobs, signal, gzip, onLast }, call, said);
  }

  private async deliver(delivery: Delivery, { wire, body }: Call, said: Said): Promise<Outcome> {
    const { response, knobs, record, signal } = delivery;
    for (const [name, value] of Object.entries(wire.headers(said))) response.setHeader(name, value);
    if (delivery.gzip) response.setHeader('content-encoding', 'gzip');
    if (!record.stream) {
      await pause(knobs.delay_ms, signal);
      response.setHeader('content-type', 'application/json');
      const error = wire.error({ status: 500, message: 'The server had an error.' });
      return deliverWhole(delivery, wire.whole(body, said, knobs), said.completion_tokens, error);
    }
    response.setHeader('content-type', 'text/event-stream; charset=utf-8');
    response.setHeader('cache-control', 'no-cache');
    response.flushHeaders();
    await pause(knobs.delay_ms, signal);
    return deliverStream(
      delivery,
      wire.frames(body, said, knobs),
      wire.errorFrame(),
      piecesOf(wire, body, said),
    );
  }

  private refusalOf(knobs: Knobs, mark: string): WireError | null {
    const message = 'The simulator was asked to refuse.';
    const code = knobs.code === null ? {} : { code: knobs.code };
    if (knobs.fail_first > 0) {
      const failed = this.failures.get(mark) ?? 0;
      if (failed >= knobs.fail_first) return null;
      this.failures.set(mark, failed + 1);
      return { status: knobs.fail_status ?? 503, message, ...code };
    }
    if (knobs.status !== null) return { status: knobs.status, message, ...code };
    if (knobs.retry_after !== null) return { status: 429, message, ...code };
    if (knobs.html_error === 1) return { status: 502, message };
    return knobs.code === null ? null : { status: 400, message, ...code };
  }

  private refuse(response: ServerResponse, wire: Wire, error: WireError, knobs?: Knobs): void {
    for (const [name, value] of Object.entries(wire.headers(null))) response.setHeader(name, value);
    if (knobs !== undefined && knobs.retry_after !== null)
      response.setHeader('retry-after', knobs.retry_after);
    if (knobs?.html_error === 1) {
      response.writeHead(error.status, { 'content-type': 'text/html' });
      response.end(
        `<html><head><title>${error.status}</title></head><body><h1>Bad gateway</h1></body></html>`,
      );
      return;
    }
    json(response, error.status, wire.error(error));
  }

  private control(request: IncomingMessage, url: URL, response: ServerResponse): void {
    request.resume();
    const what = `${request.method} ${url.pathname}`;
    if (what === 'GET /_sim/calls') {
      const mark = url.searchParams.get('mark');
      const calls = mark === null ? this.calls : this.calls.filter((call) => call.mark === mark);
      json(response, 200, JSON.stringify({ calls }));
    } else if (what === 'GET /_sim/stats') json(response, 200, JSON.stringify(this.stats()));
    else if (what === 'POST /_sim/reset') {
      this.reset();
      json(response, 200, '{}');
    } else json(response, 404, '{}');
  }
}

/** The frames of a stream that count as pieces; in OpenAI's format the start of a tool call is one. */
function piecesOf(wire: Wire, body: JsonBody, said: Said): number {
  let pieces = said.reasoning.length + said.text.length;
  for (const tool of said.tools) {
    // In Gemini's format a call is one piece.
    if (wire.family === 'gemini') pieces++;
    else pieces += tool.pieces.length + (wire.family === 'openai' ? 1 : 0);
  }
  return pieces * wire.read(body).candidates;
}
