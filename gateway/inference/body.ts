// Reads an inference body whole, limited in size before and after decoding. Only the caller keeps the bytes.
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { BodyScan, largeBodyTurn, type Turn } from '@svc/core/inference/index.ts';
import { ServiceError } from '@svc/core/kernel/index.ts';

const EMPTY = Buffer.alloc(0);
/** A smaller body is read within a few milliseconds, whatever it holds. */
const SMALL = 65_536;
/** More bytes are joined in slices. */
const JOINED_AT_ONCE = 1_048_576;

function tooLarge(limit: number): ServiceError {
  return new ServiceError('request_too_large', `The body is larger than ${limit} bytes.`, {
    details: { limit_bytes: limit },
  });
}

function decoderOf(encoding: string) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return null;
  }
}

/** A body that came whole. */
export interface Body {
  readonly bytes: Buffer;
  /** It is large or dense: reading it at once would make others wait. */
  readonly in_slices: boolean;
  /** Members of all its objects, duplicates included; null where they were not counted. */
  readonly members: number | null;
  /** Where its own members are; null where that was not noted. */
  readonly top: ReturnType<BodyScan['topOf']>;
}

/** What becomes of a body; of the first three one is called. */
interface BodyEnds {
  done(body: Body): void;
  /** 413, 415 or 400. */
  failed(error: ServiceError): void;
  /** The caller went before it had sent everything. */
  left(): void;
  /** Before any of them: the bytes that came, after decoding. */
  came(bytes: number): void;
}

/** The chunks of a body, counted as they come, and looked at where they are its text. */
class Chunks {
  readonly #limit: number;
  readonly #text: boolean;
  readonly #all: Buffer[] = [];
  #scan: BodyScan | null = null;
  size = 0;

  constructor(limit: number, text: boolean) {
    this.#limit = limit;
    this.#text = text;
  }

  /** @throws ServiceError request_too_large, invalid_json: no more of it is wanted. */
  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > this.#limit) throw tooLarge(this.#limit);
    this.#all.push(chunk);
    if (this.#scan !== null) return this.#scan.push(chunk);
    if (!this.#text || this.size <= SMALL) return;
    this.#scan = new BodyScan();
    for (const earlier of this.#all) this.#scan.push(earlier);
  }

  take(): Body {
    return this.#whole(this.#all.length > 1 ? Buffer.concat(this.#all, this.size) : (this.#all[0] ?? EMPTY));
  }

  /** The same in slices of `turn`: joining 32 MB takes as long as a hundred calls. */
  async takeIn(turn: Turn): Promise<Body> {
    const bytes = Buffer.allocUnsafe(this.size);
    let at = 0;
    for (const chunk of this.#all) {
      at += chunk.copy(bytes, at);
      await turn.rest();
    }
    return this.#whole(bytes);
  }

  #whole(bytes: Buffer): Body {
    const in_slices = this.#scan?.inSlices ?? false;
    const members = this.#scan?.members ?? null;
    const top = this.#scan?.topOf(bytes) ?? null;
    this.drop();
    return { bytes, in_slices, members, top };
  }

  /** Hands the chunks to `decoder`. */
  decodeBy(decoder: Transform): void {
    for (const chunk of this.#all) decoder.write(chunk);
    decoder.end();
    this.drop();
  }

  drop(): void {
    this.#all.length = 0;
    this.#scan = null;
  }
}

/** The joined `chunks`, which are many bytes. */
async function joined(chunks: Chunks, org_id: string): Promise<Body> {
  const turn = await largeBodyTurn(org_id);
  try {
    return await chunks.takeIn(turn);
  } finally {
    turn.end();
  }
}

/**
 * What `decoder` makes of the chunks it was given, in a turn once it proves large: decoding is done by other threads, and
 * several of them at once leave a process with few processors no time for its calls.
 * @throws ServiceError request_too_large, invalid_json
 */
async function decoded(decoder: Transform, chunks: Chunks, org_id: string): Promise<Body> {
  let turn: Turn | null = null;
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      chunks.add(chunk);
      if (chunks.size > SMALL) turn ??= await largeBodyTurn(org_id);
      await turn?.rest();
    }
    return turn === null ? chunks.take() : await chunks.takeIn(turn);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('invalid_json', 'The compressed body cannot be decoded.');
  } finally {
    decoder.destroy();
    turn?.end();
  }
}

/**
 * Collects the body of `request`, sent by `org_id`, decoding `content-encoding` gzip, deflate or br; `limit` bytes count
 * before and after decoding, as they come. A coded body is decoded when all of it is there: whoever sends slowly waits
 * for himself.
 */
export function readBody(request: IncomingMessage, limit: number, org_id: string, ends: BodyEnds): void {
  if (request.destroyed) return ends.left();
  // Codings are told apart without regard to case (RFC 9110 8.4.1); a header without a word says nothing.
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() || undefined;
  const coded = encoding !== undefined && encoding !== 'identity';
  const decoder = coded ? decoderOf(encoding) : null;
  if (coded && decoder === null) {
    return ends.failed(
      new ServiceError('unsupported_media_type', 'Use content-encoding gzip, deflate, br or none.'),
    );
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) return ends.failed(tooLarge(limit));
  const chunks = new Chunks(limit, !coded);
  let over = false;
  const fail = (error: ServiceError, came: number) => {
    over = true;
    ends.came(came);
    chunks.drop();
    ends.failed(error);
  };
  const done = (body: Body) => {
    ends.came(body.bytes.length);
    ends.done(body);
  };
  request.on('close', () => {
    // `close` also follows a complete request, whose decoder may still be working.
    if (over || request.complete) return;
    over = true;
    ends.came(chunks.size);
    ends.left();
  });
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    try {
      chunks.add(chunk);
    } catch (error) {
      fail(error as ServiceError, chunks.size);
    }
  });
  request.on('end', () => {
    if (over) return;
    over = true;
    if (decoder === null && chunks.size <= JOINED_AT_ONCE) return done(chunks.take());
    if (decoder === null) return void joined(chunks, org_id).then(done);
    chunks.decodeBy(decoder);
    const plain = new Chunks(limit, true);
    decoded(decoder, plain, org_id).then(done, (error: ServiceError) => fail(error, plain.size));
  });
}
