// Reads an inference body whole, limited in size before and after decoding. Only the caller keeps the bytes.
import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { BodyScan } from '@svc/core/inference/index.ts';
import { ServiceError } from '@svc/core/kernel/index.ts';

const EMPTY = Buffer.alloc(0);
/** A smaller body is read within a few milliseconds, whatever it holds. */
const SMALL = 65_536;

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

/** The chunks of a body, counted as they come. */
class Chunks {
  readonly #limit: number;
  readonly #all: Buffer[] = [];
  #scan: BodyScan | null = null;
  size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws ServiceError request_too_large, invalid_json: no more of it is wanted. */
  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > this.#limit) throw tooLarge(this.#limit);
    this.#all.push(chunk);
    if (this.#scan !== null) return this.#scan.push(chunk);
    if (this.size <= SMALL) return;
    this.#scan = new BodyScan();
    for (const earlier of this.#all) this.#scan.push(earlier);
  }

  take(): Body {
    const bytes = this.#all.length > 1 ? Buffer.concat(this.#all, this.size) : (this.#all[0] ?? EMPTY);
    const in_slices = this.#scan?.inSlices ?? false;
    const members = this.#scan?.members ?? null;
    this.drop();
    return { bytes, in_slices, members };
  }

  drop(): void {
    this.#all.length = 0;
    this.#scan = null;
  }
}

/**
 * Collects the body of `request`, decoding `content-encoding` gzip, deflate or br; `limit` bytes count after decoding,
 * as they come.
 */
export function readBody(request: IncomingMessage, limit: number, ends: BodyEnds): void {
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
  if (!coded && Number(request.headers['content-length'] ?? 0) > limit) return ends.failed(tooLarge(limit));
  const source = decoder === null ? request : request.pipe(decoder);
  const chunks = new Chunks(limit);
  let over = false;
  const end = () => {
    over = true;
    ends.came(chunks.size);
  };
  const fail = (error: ServiceError) => {
    end();
    chunks.drop();
    // The rest is not worth decoding.
    if (decoder !== null) request.unpipe(decoder);
    decoder?.destroy();
    ends.failed(error);
  };
  request.on('close', () => {
    // `close` also follows a complete request, whose decoder may still be working.
    if (over || request.complete) return;
    end();
    ends.left();
  });
  source.on('data', (chunk: Buffer) => {
    if (over) return;
    try {
      chunks.add(chunk);
    } catch (error) {
      fail(error as ServiceError);
    }
  });
  source.on('end', () => {
    if (over) return;
    end();
    ends.done(chunks.take());
  });
  source.on('error', () => {
    if (over || source === request) return;
    fail(new ServiceError('invalid_json', 'The compressed body cannot be decoded.'));
  });
}
