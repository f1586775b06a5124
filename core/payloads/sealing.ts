// The stored form of content: JSON, deflated, encrypted under a key of the key ring and bound to its request.
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { openColumn, type RootKeyRing, sealColumn } from '../kernel/index.ts';
import type { Payload, PayloadTexts } from './types.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Larger content is not kept; two nulls are stored instead. */
const CONTENT_MAX = 4_194_304;
const NOTHING: PayloadTexts = { request: null, response: null };

const COLUMN = 'request_payload.sealed';

/** `texts` sealed for `request_id`. */
export async function sealPayload(
  root_key: RootKeyRing,
  request_id: string,
  texts: PayloadTexts,
): Promise<Buffer> {
  const size = (texts.request?.length ?? 0) + (texts.response?.length ?? 0);
  const { request, response } = size > CONTENT_MAX ? NOTHING : texts;
  const json = `{"request":${request ?? 'null'},"response":${response ?? 'null'}}`;
  return sealColumn(root_key, COLUMN, [request_id], await deflate(json));
}

/** What `sealPayload` sealed. @throws Error when no key of the ring opens it, or the bytes are others. */
export async function openPayload(
  root_key: RootKeyRing,
  request_id: string,
  sealed: Buffer,
): Promise<Payload> {
  const plain = await inflate(openColumn(root_key, COLUMN, [request_id], sealed));
  return JSON.parse(plain.toString()) as Payload;
}
