// The stored form of content: JSON, deflated, encrypted under a key of the key ring and bound to its request.
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { deriveKey, seal, unseal } from '../kernel/index.ts';
import type { Payload, PayloadTexts } from './types.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Larger content is not kept; two nulls are stored instead. */
const CONTENT_MAX = 4_194_304;
const NOTHING: PayloadTexts = { request: null, response: null };

function keyOf(root_key: Uint8Array): Buffer {
  return deriveKey(root_key, 'request payload');
}

function bindingOf(request_id: string): string {
  return `request_payload ${request_id} sealed`;
}

/** `texts` sealed for `request_id`. */
export async function sealPayload(
  root_key: Uint8Array,
  request_id: string,
  texts: PayloadTexts,
): Promise<Buffer> {
  const size = (texts.request?.length ?? 0) + (texts.response?.length ?? 0);
  const { request, response } = size > CONTENT_MAX ? NOTHING : texts;
  const json = `{"request":${request ?? 'null'},"response":${response ?? 'null'}}`;
  return seal(keyOf(root_key), await deflate(json), bindingOf(request_id));
}

/** What `sealPayload` sealed. @throws Error when the key ring has changed, or the bytes. */
export async function openPayload(
  root_key: Uint8Array,
  request_id: string,
  sealed: Buffer,
): Promise<Payload> {
  const plain = await inflate(unseal(keyOf(root_key), sealed, bindingOf(request_id)));
  return JSON.parse(plain.toString()) as Payload;
}
