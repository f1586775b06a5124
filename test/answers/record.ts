// Records what gateways answer: every response of this process that has a request id of ours, as one line of JSON.
// Used by the setup of every test file and, with `--import`, by the programs that test files start.
import { mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { type OutgoingHttpHeader, ServerResponse } from 'node:http';
import { join } from 'node:path';

/** Where the answers of the present test file are kept; a variable, so that programs which it starts inherit it. */
export const VARIABLE = 'TEST_ANSWERS';
/**
 * Header of a request whose answer is not checked: where both sides speak one API, a provider's deviation from its own
 * format is passed on, and some tests have a provider deviate.
 */
export const AS_PROVIDER_SENT = { 'x-test-answer': 'as its provider sent it' } as const;
/** Longer answers are cut here; the beginning of a stream is checked all the same. */
const KEPT_BYTES_MAX = 1_048_576;

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The text is the whole answer: neither the limit nor a broken connection cut it. */
  readonly whole: boolean;
}

interface Recording {
  readonly pieces: Buffer[];
  bytes: number;
  status: number;
  readonly headers: Map<string, string>;
  saved: boolean;
}

type Patched = typeof ServerResponse & { recorded?: true };

const recordings = new WeakMap<ServerResponse, Recording>();
const files = new Map<string, number>();

function fileIn(folder: string): number {
  let file = files.get(folder);
  if (file === undefined) {
    mkdirSync(folder, { recursive: true });
    file = openSync(join(folder, `${process.pid}.ndjson`), 'a');
    files.set(folder, file);
  }
  return file;
}

function save(response: ServerResponse, recording: Recording): void {
  if (recording.saved) return;
  recording.saved = true;
  const { pieces, bytes, status, headers } = recording;
  const folder = process.env[VARIABLE];
  if (folder === undefined || !headers.has('x-svc-request-id')) return;
  const { method = '', url = '', headers: asked } = response.req;
  if (asked['x-test-answer'] === AS_PROVIDER_SENT['x-test-answer']) return;
  const recorded: Recorded = {
    ...{ method, path: url.split('?')[0] as string, status },
    type: headers.get('content-type') ?? '',
    text: Buffer.concat(pieces).toString(),
    whole: response.writableFinished && bytes <= KEPT_BYTES_MAX,
  };
  writeSync(fileIn(folder), `${JSON.stringify(recorded)}\n`);
}

function recordingOf(response: ServerResponse): Recording {
  let recording = recordings.get(response);
  if (recording === undefined) {
    const fresh: Recording = { pieces: [], bytes: 0, status: 0, headers: new Map(), saved: false };
    recordings.set(response, fresh);
    // An injected response never closes, and one whose caller left never finishes.
    for (const event of ['finish', 'close']) response.once(event, () => save(response, fresh));
    recording = fresh;
  }
  return recording;
}

function keep(response: ServerResponse, piece: unknown, encoding: unknown): void {
  const recording = recordingOf(response);
  if (typeof piece !== 'string' && !(piece instanceof Uint8Array)) return;
  const how = typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
  const bytes = typeof piece === 'string' ? Buffer.from(piece, how) : Buffer.from(piece);
  recording.bytes += bytes.length;
  if (recording.bytes <= KEPT_BYTES_MAX) recording.pieces.push(bytes);
}

function keepHead(response: ServerResponse, status: number, headers: unknown): void {
  const recording = recordingOf(response);
  recording.status = status;
  const all = Object.entries(response.getHeaders());
  if (Array.isArray(headers)) {
    for (let at = 0; at + 1 < headers.length; at += 2) all.push([headers[at] as string, headers[at + 1]]);
  } else if (typeof headers === 'object' && headers !== null) {
    all.push(...(Object.entries(headers) as [string, OutgoingHttpHeader][]));
  }
  for (const [name, value] of all) recording.headers.set(name.toLowerCase(), String(value));
}

/** Records from now on. Node's own prototype is wrapped, so that every byte that is sent is seen, whoever wrote it. */
export function recordAnswers(): void {
  if ((ServerResponse as Patched).recorded === true) return;
  (ServerResponse as Patched).recorded = true;
  const { prototype } = ServerResponse;
  const { writeHead, write, end } = prototype as unknown as Record<
    'writeHead' | 'write' | 'end',
    (this: ServerResponse, ...args: unknown[]) => unknown
  >;
  Object.assign(prototype, {
    writeHead(this: ServerResponse, ...args: unknown[]) {
      keepHead(
        this,
        args[0] as number,
        args.findLast((one) => typeof one === 'object'),
      );
      return writeHead.apply(this, args);
    },
    write(this: ServerResponse, ...args: unknown[]) {
      keep(this, args[0], args[1]);
      return write.apply(this, args);
    },
    end(this: ServerResponse, ...args: unknown[]) {
      keep(this, args[0], args[1]);
      return end.apply(this, args);
    },
  });
}

/** What processes have recorded in `folder`; an answer that came twice stands once. */
export function readRecorded(folder: string): Recorded[] {
  const lines = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1),
  );
  return [...new Set(lines)].map((line) => JSON.parse(line) as Recorded);
}
