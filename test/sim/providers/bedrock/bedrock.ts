// Bedrock's Converse on loopback: checks signatures and bodies as the provider would, answers whole and in its binary
// event stream, and fails on request. It has the knobs that
// test/sim/README.md lists for it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Said, say } from '../content.ts';
import type { CountRecord } from '../counts.ts';
import { brokenByUs, resetSocket } from '../delivery.ts';
import { KnobFault, type Knobs, readKnobs } from '../knobs.ts';
import { CallLog, type CallRecord } from '../record.ts';
import type { Sim, SimStats } from '../server.ts';
import type { JsonBody } from '../wire.ts';
import { framesOf, wholeAnswer } from './answers.ts';
import { checkBody, readBody, readCount, usersText } from './bedrock-body.ts';
import { exceptionEvent } from './event-stream.ts';
import { type AwsAccount, verifySignature } from './sigv4.ts';

export interface BedrockSimOptions {
  port?: number;
  /** Accounts whose signatures are accepted. */
  accounts?: readonly AwsAccount[];
  /** API keys that are accepted as bearer tokens. */
  api_keys?: readonly string[];
  region?: string;
}

/** A provider that speaks Converse; clients take `url` as endpoint. */
export async function startBedrockSim(options: BedrockSimOptions = {}): Promise<Sim> {
  const provider = new Bedrock(options);
  await provider.listen(options.port ?? 0);
  return provider;
}

const PATH = /^\/model\/([^/]+)\/(converse|converse-stream|count-tokens)$/;

interface Refusal {
  status: number;
  type: string;
  message: string;
}

const typeOf: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

const byCode: Readonly<Record<string, Refusal>> = {
  context_length_exceeded: {
    status: 400,
    type: 'ValidationException',
    message: 'Input is too long for requested model.',
  },
  insufficient_quota: {
    status: 429,
    type: 'ThrottlingException',
    message: 'Too many tokens per day, please wait before trying again.',
  },
  no_access: {
    status: 403,
    type: 'AccessDeniedException',
    message: "You don't have access to the model with the specified model ID.",
  },
};

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: JsonBody;
  readonly model: string;
  readonly stream: boolean;
  readonly record: CallRecord;
  readonly knobs: Knobs;
  readonly signal: AbortSignal;
}

class Bedrock implements Sim {
  private readonly options: Required<Omit<BedrockSimOptions, 'port'>>;
  private readonly log = new CallLog(undefined);
  readonly counts: CountRecord[] = [];
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly running = new Set<AbortController>();
  private readonly failures = new Map<string, number>();

  constructor({ accounts = [], api_keys = [], region = 'us-east-1' }: BedrockSimOptions) {
    this.options = { accounts, api_keys, region };
    this.server = createServer((request, response) => {
      this.take(request, response).catch((error: unknown) => {
        if (!response.destroyed) response.destroy(error as Error);
      });
    });
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
  }

  listen(port: number): Promise<void> {
    return new Promise((done, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', done);
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
    const open_calls = this.running.size;
    const open_streams = this.calls.filter((call) => call.stream && call.ended_ms === null).length;
    return { open_sockets: this.sockets.size, open_calls, open_streams, calls: this.calls.length };
  }
  reset(): void {
    this.log.reset();
    this.counts.length = 0;
    this.failures.clear();
  }
  async close(): Promise<void> {
    for (const stop of this.running) stop.abort();
    const closed = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await closed;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = PATH.exec(request.url ?? '');
    const bytes = await bodyOf(request);
    if (found === null || request.method !== 'POST') {
      return refuse(response, { status: 404, type: 'UnknownOperationException', message: '' });
    }
    const hint = this.authorized(request, bytes);
    if (typeof hint !== 'string') return refuse(response, { status: 403, ...hint });
    let body: JsonBody;
    try {
      body = JSON.parse(bytes.toString()) as JsonBody;
    } catch {
      return refuse(response, { status: 400, type: 'SerializationException', message: 'not JSON' });
    }
    const [, path_model = '', operation] = found;
    const model = decodeURIComponent(path_model);
    if (operation === 'count-tokens') {
      this.counts.push({ family: 'bedrock', body, headers: {}, key_hint: hint });
      const counted = readCount(body, model);
      if (typeof counted === 'string') {
        return refuse(response, { status: 400, type: 'ValidationException', message: counted });
      }
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ inputTokens: counted }));
      return;
    }
    const fault = model.startsWith('missing') ? 'The provided model identifier is invalid.' : checkBody(body);
    if (fault !== null) {
      return refuse(response, { status: 400, type: 'ValidationException', message: fault });
    }
    await this.serve(request, response, {
      body,
      model,
      stream: operation === 'converse-stream',
      hint,
      bytes,
    });
  }

  /** The last letters of what authenticated the request, or what is wrong with it. */
  private authorized(request: IncomingMessage, body: Buffer): string | Omit<Refusal, 'status'> {
    const { authorization = '' } = request.headers;
    if (authorization.startsWith('Bearer ')) {
      const key = authorization.slice(7);
      if (this.options.api_keys.includes(key)) return key.slice(-4);
      return { type: 'AccessDeniedException', message: 'Authentication failed: invalid API key.' };
    }
    const account = verifySignature(request, body, this.options.accounts, this.options.region);
    return 'type' in account ? account : account.access_key_id.slice(-4);
  }

  private async serve(
    request: IncomingMessage,
    response: ServerResponse,
    call: { body: JsonBody; model: string; stream: boolean; hint: string; bytes: Buffer },
  ): Promise<void> {
    const { body, model, stream, hint, bytes } = call;
    let read: ReturnType<typeof readKnobs>;
    try {
      const header = request.headers['x-sim'];
      read = readKnobs(usersText(body), typeof header === 'string' ? header : undefined);
    } catch (error) {
      if (!(error instanceof KnobFault)) throw error;
      return refuse(response, { status: 400, type: 'ValidationException', message: error.message });
    }
    const { knobs, named } = read;
    const record = this.log.begin({
      ...{ family: 'bedrock', mark: knobs.mark ?? '', model, stream, knobs: named, began_ms: Date.now() },
      ...{ ended_ms: null, request_bytes: bytes.length, status: 0, id: '', bytes_delivered: 0 },
      ...{ tokens_delivered: 0, prompt_tokens: 0, completion_tokens: 0, reported: null, finished: false },
      ...{ client_gone: false, key_hint: hint, headers: { path: request.url ?? '' }, body },
    });
    const stop = new AbortController();
    this.running.add(stop);
    response.on('close', () => {
      if (!record.finished && !response.writableFinished && !brokenByUs.has(response))
        record.client_gone = true;
      stop.abort();
    });
    try {
      await this.answer({ request, response, body, model, stream, record, knobs, signal: stop.signal });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      this.running.delete(stop);
      this.log.end(record);
    }
  }

  private refusalOf(knobs: Knobs, mark: string): Refusal | null {
    const message = 'The simulator was asked to refuse.';
    const refusing = (status: number): Refusal => ({ status, type: typeOf[status] ?? '', message });
    if (knobs.fail_first > 0) {
      const failed = this.failures.get(mark) ?? 0;
      if (failed >= knobs.fail_first) return null;
      this.failures.set(mark, failed + 1);
      return refusing(knobs.fail_status);
    }
    if (knobs.status !== null) return refusing(knobs.status);
    if (knobs.retry_after !== null) return refusing(429);
    // Then the code names the exception in the stream.
    if (knobs.error_after !== null) return null;
    return knobs.code === null ? null : (byCode[knobs.code] ?? refusing(400));
  }

  private async answer(call: Call): Promise<void> {
    const { body, knobs, model, record, response, signal } = call;
    if (knobs.slow_headers_ms > 0) await delay(knobs.slow_headers_ms, undefined, { signal });
    if (knobs.reset === 1) return resetSocket(response);
    const refusal = this.refusalOf(knobs, record.mark);
    if (refusal !== null) {
      record.status = refusal.status;
      return refuse(response, refusal, knobs.retry_after);
    }
    const said = say(readBody(body, model), knobs, record.n);
    record.id = `sim-${record.n}`;
    record.prompt_tokens = said.prompt_tokens;
    record.completion_tokens = said.completion_tokens;
    record.status = 200;
    response.setHeader('x-amzn-requestid', record.id);
    if (knobs.delay_ms > 0) await delay(knobs.delay_ms, undefined, { signal });
    if (call.stream) return this.streamed(call, said);
    const text = JSON.stringify(wholeAnswer(body, said, knobs));
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    this.last(call, said);
    record.tokens_delivered = said.completion_tokens;
    record.bytes_delivered = Buffer.byteLength(text);
    response.end(text);
  }

  private last({ record, knobs }: Call, said: Said): void {
    record.finished = true;
    if (knobs.no_usage === 1) return;
    const { prompt_tokens, completion_tokens } = said;
    record.reported = { prompt_tokens: prompt_tokens + knobs.over_report, completion_tokens };
  }

  private async streamed(call: Call, said: Said): Promise<void> {
    const { knobs, record, response, signal } = call;
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    const frames = [...framesOf(call.body, said, knobs)];
    let pieces = 0;
    for (const [at, frame] of frames.entries()) {
      const broken = frame.tokens > 0 || at === frames.length - 1 ? breakAt(knobs, pieces) : null;
      if (broken === 'cut') return void response.end();
      if (broken === 'stall') return void (await delay(2 ** 30, undefined, { signal }));
      if (broken === 'error') {
        const name = knobs.code ?? 'modelStreamErrorException';
        return void response.end(exceptionEvent(name, 'The model failed in the middle.'));
      }
      if (broken === 'reset') return resetSocket(response);
      let bytes = frame.bytes;
      if (frame.tokens > 0 && pieces === knobs.garbage_after) bytes = damaged(bytes);
      if (frame.tokens > 0 && pieces++ > 0 && knobs.chunk_ms > 0) {
        await delay(knobs.chunk_ms, undefined, { signal });
      }
      if (at === frames.length - 1) this.last(call, said);
      await write(response, bytes, knobs.split);
      record.bytes_delivered += bytes.length;
      record.tokens_delivered += frame.tokens;
      signal.throwIfAborted();
    }
    response.end();
  }
}

function breakAt(knobs: Knobs, pieces: number): 'cut' | 'error' | 'stall' | 'reset' | null {
  if (pieces === knobs.cut_after) return 'cut';
  if (pieces === knobs.error_after) return 'error';
  if (pieces === knobs.stall_after) return 'stall';
  return knobs.reset_mid === 1 && pieces === 2 ? 'reset' : null;
}

/** The message with one bit of its payload flipped, so that its checksum is wrong. */
function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length - 8] = (copy[copy.length - 8] ?? 0) ^ 1;
  return copy;
}

async function write(response: ServerResponse, bytes: Buffer, split: number): Promise<void> {
  const step = split > 0 ? split : bytes.length;
  for (let at = 0; at < bytes.length; at += step) {
    await new Promise<void>((done) => response.write(bytes.subarray(at, at + step), () => done()));
  }
}

function refuse(
  response: ServerResponse,
  { status, type, message }: Refusal,
  retry_after?: number | null,
): void {
  const text = JSON.stringify({ message });
  if (retry_after != null) response.setHeader('retry-after', retry_after);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  });
  response.end(text);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
