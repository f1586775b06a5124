// Reads an inference body whole, limited in size before and after decoding. Only the caller keeps the bytes.
import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ServiceError } from '@svc/core/kernel/index.ts';

const EMPTY = Buffer.alloc(0);

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

/**
 * Reads the body of `request` and decodes `content-encoding` gzip, deflate or br; `limit` counts bytes after
 * decoding. Calls exactly one of: `done` with the bytes, `failed` with a ServiceError (413, 415, 400), or `left` when
 * the client disconnected before it had sent everything.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  done: (body: Buffer) => void,
  failed: (error: ServiceError) => void,
  left: () => void,
): void {
  if (request.destroyed) return left();
  // Content codings are case-insensitive (RFC 9110 8.4.1); an empty header counts as none.
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() || undefined;
  let source: NodeJS.ReadableStream = request;
  if (encoding !== undefined && encoding !== 'identity') {
    const decoder = decoderOf(encoding);
    if (decoder === null) {
      return failed(
        new ServiceError('unsupported_media_type', 'Use content-encoding gzip, deflate, br or none.'),
      );
    }
    source = request.pipe(decoder);
  } else if (Number(request.headers['content-length'] ?? 0) > limit) {
    return failed(tooLarge(limit));
  }
  let first: Buffer | null = null;
  let all: Buffer[] | null = null;
  let size = 0;
  let over = false;
  request.on('close', () => {
    // `close` also follows a complete request, whose decoder may still be working.
    if (over || request.complete) return;
    over = true;
    left();
  });
  source.on('data', (chunk: Buffer) => {
    if (over) return;
    size += chunk.length;
    if (size > limit) {
      over = true;
      first = null;
      all = null;
      return failed(tooLarge(limit));
    }
    if (first === null) first = chunk;
    else {
      all ??= [first];
      all.push(chunk);
    }
  });
  source.on('end', () => {
    if (over) return;
    over = true;
    const body = all === null ? (first ?? EMPTY) : Buffer.concat(all, size);
    first = null;
    all = null;
    done(body);
  });
  source.on('error', () => {
    if (over || source === request) return;
    over = true;
    failed(new ServiceError('invalid_json', 'The compressed body cannot be decoded.'));
  });
}
