// Writes an answer to the socket, at the pace and with the faults that the knobs ask for.
import type { ServerResponse } from 'node:http';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { constants, createGzip, type Gzip, gzipSync } from 'node:zlib';
import type { Knobs } from './knobs.ts';
import type { CallRecord } from './record.ts';
import type { Frame } from './wire.ts';

export interface Delivery {
  readonly response: ServerResponse;
  readonly record: CallRecord;
  readonly knobs: Knobs;
  /** Aborted when the caller has gone or the simulator closes. */
  readonly signal: AbortSignal;
  /** The request has `accept-encoding: gzip`, and the knob asks for compression. */
  readonly gzip: boolean;
  /** Called just before the last bytes of the answer are written, because the caller may read them and leave at once. */
  readonly onLast: () => void;
}

/** How a broken delivery ended; `finished` is the regular end. */
export type Outcome = 'finished' | 'cut' | 'error' | 'stalled' | 'reset';

/** Waits `ms`; at once when 0. @throws AbortError when the caller has gone. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal });
}

/** Answers whose connection we broke ourselves: their end does not mean that the caller left. */
export const brokenByUs = new WeakSet<ServerResponse>();

/** Ends the connection without a closing handshake: the peer reads ECONNRESET. */
export function resetSocket(response: ServerResponse): void {
  brokenByUs.add(response);
  response.socket?.resetAndDestroy();
}

/** Sends `frames`, of which `pieces` are pieces. Headers are the caller's to set before. */
export async function deliverStream(
  delivery: Delivery,
  frames: Iterator<Frame>,
  errorFrame: string,
  pieces: number,
): Promise<Outcome> {
  const { knobs, signal } = delivery;
  const out = outputOf(delivery);
  const broken = firstBreak(knobs, pieces);
  let text = '';
  let tokens = 0;
  let count = 0;
  let next = frames.next();
  while (next.done !== true) {
    const frame = next.value;
    if (broken !== null && count === broken.after && (frame.is_piece || count === pieces)) {
      await out.send(text, tokens);
      return await breakOff(delivery, out, broken.kind, errorFrame);
    }
    if (frame.is_piece && count++ > 0 && knobs.chunk_ms > 0) {
      await out.send(text, tokens);
      text = '';
      tokens = 0;
      await pause(knobs.chunk_ms, signal);
    }
    if (frame.is_piece && count - 1 === knobs.garbage_after) text += 'data: {"oops\n\n';
    text += frame.text;
    tokens += frame.tokens;
    next = frames.next();
    if (next.done === true) delivery.onLast();
    else if (knobs.burst === 1) continue;
    await out.send(text, tokens);
    text = '';
    tokens = 0;
    if (knobs.chunk_ms === 0) await turn();
    if (next.done !== true) signal.throwIfAborted();
  }
  await out.end();
  return 'finished';
}

/** Sends a whole JSON answer that holds `tokens` output tokens. */
export async function deliverWhole(
  delivery: Delivery,
  body: string,
  tokens: number,
  errorBody: string,
): Promise<Outcome> {
  const { knobs, response, record } = delivery;
  const broken = firstBreak(knobs, 1);
  if (broken?.kind === 'error') body = errorBody;
  else if (knobs.garbage_after !== null) body = `${body.slice(0, body.length >> 1)}oops`;
  const bytes = delivery.gzip ? gzipSync(body) : Buffer.from(body);
  if (broken === null || broken.kind === 'error') {
    response.setHeader('content-length', bytes.length);
    record.bytes_delivered += bytes.length;
    const whole = broken === null && knobs.garbage_after === null;
    if (whole) {
      record.tokens_delivered += tokens;
      delivery.onLast();
    }
    await ended(response, bytes);
    return whole ? 'finished' : 'error';
  }
  const half = bytes.subarray(0, bytes.length >> 1);
  if (broken.kind !== 'cut') response.setHeader('content-length', bytes.length);
  await written(response, half);
  record.bytes_delivered += half.length;
  if (broken.kind === 'cut') await ended(response, '');
  if (broken.kind === 'reset') {
    await turn();
    resetSocket(response);
  }
  if (broken.kind === 'stall') return await silence(delivery.signal);
  return broken.kind === 'cut' ? 'cut' : 'reset';
}

type BreakKind = 'cut' | 'error' | 'stall' | 'reset';

function firstBreak(knobs: Knobs, pieces: number): { kind: BreakKind; after: number } | null {
  const all: { kind: BreakKind; after: number | null }[] = [
    { kind: 'cut', after: knobs.cut_after },
    { kind: 'error', after: knobs.error_after },
    { kind: 'stall', after: knobs.stall_after },
    { kind: 'reset', after: knobs.reset_mid === 1 ? pieces >> 1 : null },
  ];
  let first: { kind: BreakKind; after: number } | null = null;
  for (const { kind, after } of all) {
    // A fault that is set for after more pieces than there are comes right after the last one, before the finish.
    const due = after === null ? null : Math.min(after, pieces);
    if (due !== null && (first === null || due < first.after)) first = { kind, after: due };
  }
  return first;
}

async function breakOff(
  delivery: Delivery,
  out: Output,
  kind: BreakKind,
  errorFrame: string,
): Promise<Outcome> {
  if (kind === 'stall') return await silence(delivery.signal);
  if (kind === 'reset') {
    // What was written must arrive before the reset.
    await turn();
    resetSocket(delivery.response);
    return 'reset';
  }
  if (kind === 'error') await out.send(errorFrame, 0);
  await out.end();
  return kind;
}

/** Resolves when the caller has gone or the simulator closes. */
function silence(signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('stalled');
    else signal.addEventListener('abort', () => resolve('stalled'), { once: true });
  });
}

interface Output {
  send(text: string, tokens: number): Promise<void>;
  end(): Promise<void>;
}

function outputOf({ response, record, knobs, gzip, signal }: Delivery): Output {
  const zip = gzip ? zipped(response) : null;
  return {
    async send(text, tokens) {
      if (text === '') return;
      record.tokens_delivered += tokens;
      const bytes = Buffer.from(text);
      const size = knobs.split > 0 ? knobs.split : bytes.length;
      for (let from = 0; from < bytes.length; from += size) {
        signal.throwIfAborted();
        const part = bytes.subarray(from, from + size);
        record.bytes_delivered += part.length;
        if (zip === null) await written(response, part);
        else await flushed(zip, part);
        if (from + size < bytes.length) await turn();
      }
    },
    async end() {
      if (zip === null) await ended(response, '');
      else await new Promise<void>((resolve) => zip.end(() => response.once('finish', resolve)));
    },
  };
}

function zipped(response: ServerResponse): Gzip {
  const zip = createGzip();
  zip.pipe(response);
  return zip;
}

function flushed(zip: Gzip, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    zip.write(bytes);
    zip.flush(constants.Z_SYNC_FLUSH, resolve);
  });
}

/** Resolves when the socket can take more, which may be at once; also when it closes, as the signal shows. */
function written(response: ServerResponse, bytes: Buffer): Promise<void> | undefined {
  if (response.write(bytes) || response.destroyed) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

/** Resolves when the last byte was handed to the operating system, or the connection closed. */
function ended(response: ServerResponse, bytes: Buffer | string): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.end(bytes, resolve);
  });
}
