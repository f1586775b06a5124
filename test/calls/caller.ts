// A caller on a bare Node request: sees status, headers, trailers and every byte, and can leave when it likes.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The answer arrived completely; false when the connection broke or the caller left. */
  readonly complete: boolean;
}

export interface CallOptions {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
  /** Declares this many body bytes and sends no more than `body`. */
  readonly declared?: number;
  /** The answer is not read until `resume`. */
  readonly unread?: boolean;
}

export interface Exchange {
  readonly reply: Promise<Reply>;
  /** Text so far. */
  text(): string;
  /** Resolves when `holds` returns true for the text so far. @throws Error when the answer ends before. */
  until(holds: (text: string) => boolean): Promise<void>;
  /** Resolves with the status when headers are there. */
  readonly status: Promise<number>;
  leave(): void;
  resume(): void;
  readonly request: ClientRequest;
}

function flat(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) out[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return out;
}

/** Sends `options` to the gateway at `origin`. */
export function open(origin: string, options: CallOptions): Exchange {
  const url = new URL(options.path, origin);
  const length = options.declared ?? Buffer.byteLength(options.body);
  const outgoing = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      ...(options.headers?.['transfer-encoding'] === undefined ? { 'content-length': length } : {}),
      ...options.headers,
    },
  });
  let incoming: IncomingMessage | null = null;
  const chunks: Buffer[] = [];
  const watchers = new Set<() => void>();
  let over = false;
  const text = () => Buffer.concat(chunks).toString();
  let gotStatus: (status: number) => void = () => {};
  const status = new Promise<number>((done) => {
    gotStatus = done;
  });
  const reply = new Promise<Reply>((done) => {
    const end = (complete: boolean) => {
      if (over) return;
      over = true;
      done({
        status: incoming?.statusCode ?? 0,
        headers: flat(incoming?.headers ?? {}),
        trailers: flat(incoming?.trailers ?? {}),
        text: text(),
        complete,
      });
      for (const look of watchers) look();
    };
    outgoing.on('response', (response) => {
      incoming = response;
      gotStatus(response.statusCode ?? 0);
      const read = () => {
        response.on('data', (bytes: Buffer) => {
          chunks.push(bytes);
          for (const look of watchers) look();
        });
      };
      if (options.unread === true) resumeRead = read;
      else read();
      response.on('end', () => end(response.complete));
      response.on('error', () => end(false));
      response.on('close', () => end(false));
    });
    outgoing.on('error', () => {
      gotStatus(0);
      end(false);
    });
  });
  let resumeRead: () => void = () => {};
  outgoing.write(options.body);
  if (options.declared === undefined) outgoing.end();
  return {
    reply,
    status,
    text,
    until(holds) {
      return new Promise((done, fail) => {
        const look = () => {
          if (holds(text())) {
            watchers.delete(look);
            done();
          } else if (over) fail(new Error(`the answer ended before: ${text().slice(0, 500)}`));
        };
        watchers.add(look);
        look();
      });
    },
    leave: () => outgoing.destroy(),
    resume: () => resumeRead(),
    request: outgoing,
  };
}

/** JSON of unknown shape, from which tests read any member. */
export interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: every assertion says what it expects
  [name: string]: any;
}

/** JSON of each `data:` line, end mark left out. */
export function eventsOf(text: string): Json[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Json);
}

/** The `svc` of an answer, whole or streamed, in either dialect; of several the last one. */
export function svcOf(reply: Reply): Json | null {
  if (reply.text.startsWith('{')) {
    const body = JSON.parse(reply.text) as Json;
    return body['svc'] ?? null;
  }
  let svc: Json | null = null;
  for (const event of eventsOf(reply.text)) svc = event['svc'] ?? svc;
  return svc;
}

/** The error of an answer, whole or in the stream, in either dialect; null when there is none. */
export function errorOf(reply: Reply): Json | null {
  if (reply.text.startsWith('{')) return (JSON.parse(reply.text) as Json)['error'] ?? null;
  return eventsOf(reply.text).find((event) => 'error' in event)?.['error'] ?? null;
}

/** Text that an answer says, whole or streamed, in either dialect. */
export function saidBy(reply: Reply): string {
  if (reply.text.startsWith('{')) {
    const body = JSON.parse(reply.text) as Json;
    const parts = body['content'] as Json[] | undefined;
    if (parts !== undefined) return parts.map((part) => part['text'] ?? '').join('');
    return body['choices'][0]['message']['content'] ?? '';
  }
  return eventsOf(reply.text)
    .map((event) => event['choices']?.[0]?.['delta']?.['content'] ?? event['delta']?.['text'] ?? '')
    .join('');
}
