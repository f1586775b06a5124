// A provider whose every byte the test decides: for answers that the simulator, which speaks official formats, would
// not give. Requests are found by model and by the site (`/a/v1/…`, `/b/v1/…`) that the endpoint names.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly site: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly text: string;
  /** The gateway closed the connection before the answer had ended. */
  left: boolean;
  left_at: number;
}

export type Handler = (response: ServerResponse, received: Received) => void;

export interface ScriptedUpstream {
  readonly url: string;
  /** Answers requests for upstream model `model` at `site`. */
  on(model: string, site: string, handler: Handler): void;
  /** Requests for `model` in order of arrival. */
  received(model: string): readonly Received[];
  /** Sockets that are open now. */
  open(): number;
  close(): Promise<void>;
}

/** Starts an upstream that knows nothing until a test says what to answer. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const handlers = new Map<string, Handler>();
  const all: Received[] = [];
  const sockets = new Set<unknown>();
  const server = createServer((request, response) => {
    // The port was another program's before: whoever scraped that one asks here now.
    if (request.url === '/metrics') return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // A question without a body names no model: it is scripted for 'undefined'.
      const text = Buffer.concat(chunks).toString();
      const body = JSON.parse(text || '{}') as Record<string, unknown>;
      const path = request.url ?? '';
      const site = path.split('/')[1] ?? '';
      const received = { site, path, headers: request.headers, body, text, left: false, left_at: 0 };
      all.push(received);
      response.on('close', () => {
        if (response.writableEnded) return;
        received.left = true;
        received.left_at = performance.now();
      });
      const handler = handlers.get(`${String(body['model'])} ${site}`);
      if (handler === undefined)
        throw new Error(`nothing is scripted for ${String(body['model'])} at ${site}`);
      handler(response, received);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    on: (model, site, handler) => void handlers.set(`${model} ${site}`, handler),
    received: (model) => all.filter(({ body }) => body['model'] === model),
    open: () => sockets.size,
    close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** A refusal with a JSON body, or with text as it is. */
export function refuse(status: number, body: unknown, headers: Record<string, string> = {}): Handler {
  return (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(text);
  };
}

/** One OpenAI chunk as an event. */
export function chunk(model: string, members: Record<string, unknown>): string {
  const head = { id: 'chatcmpl-script', object: 'chat.completion.chunk', created: 1_700_000_000, model };
  return `data: ${JSON.stringify({ ...head, ...members })}\n\n`;
}

/** An OpenAI text delta as an event. */
export function textChunk(model: string, content: string): string {
  return chunk(model, { choices: [{ index: 0, delta: { content }, finish_reason: null }] });
}

/** Finish, usage and end mark of an OpenAI stream. */
export function endChunks(model: string, usage: Record<string, unknown> | null): string {
  const finish = chunk(model, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  return `${finish}${usage === null ? '' : chunk(model, { choices: [], usage })}data: [DONE]\n\n`;
}

/** A whole OpenAI answer. */
export function wholeAnswer(model: string, members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-script',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'a whole answer' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    ...members,
  };
}

/** Usage of `input` and `output` tokens in OpenAI's words. */
export function usageOf(input: number, output: number): Record<string, number> {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** A stream's status and headers. */
export function streamHead(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}
