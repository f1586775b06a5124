// An input of POST /v1/svc/embed with images: `{content: [parts]}`, with the text and image parts of native messages.
// An image may also be a data URL.

import { fail, refuseUnknown, requireArray, requireObject, requireString } from '../../../../caller/read.ts';
import type { EmbedContent, EmbedPart } from '../../../../canonical/types.ts';
import { sourceOf } from '../../../openai-chat/words/parts.ts';
import { readSource } from '../read-parts.ts';
import type { Wires } from '../wires.ts';

const CONTENT = new Set(['content']);
const TEXT = new Set(['type', 'text']);
const IMAGE = new Set(['type', 'src']);

/** Reads such an input. @throws ServiceError invalid_request with the path of what is wrong. */
export function readEmbedContent(value: unknown, param: string, wires: Wires): EmbedContent {
  const item = requireObject(value, param);
  refuseUnknown(item, CONTENT, param);
  const path = `${param}.content`;
  const list = requireArray(item['content'], path);
  if (list.length === 0) fail(path, `'${path}' must not be empty.`);
  return { content: list.map((part, i) => readPart(part, `${path}[${i}]`, wires)) };
}

function readPart(value: unknown, param: string, wires: Wires): EmbedPart {
  const part = requireObject(value, param);
  const type = requireString(part['type'], `${param}.type`);
  if (type === 'text') {
    refuseUnknown(part, TEXT, param);
    const text = requireString(part['text'], `${param}.text`);
    if (text === '') fail(`${param}.text`, `'${param}.text' must not be empty.`);
    return { type, text };
  }
  if (type !== 'image') fail(`${param}.type`, `'${param}.type' must be text or image.`);
  refuseUnknown(part, IMAGE, param);
  return { type, src: imageOf(part['src'], `${param}.src`, wires) };
}

function imageOf(value: unknown, param: string, wires: Wires): Extract<EmbedPart, { type: 'image' }>['src'] {
  const { url } = requireObject(value, param);
  const src =
    typeof url === 'string' && url.startsWith('data:')
      ? sourceOf(url)
      : readSource(value, param, 'image', wires);
  if ('base64' in src) {
    const at = `${param}.${typeof url === 'string' ? 'url' : 'media_type'}`;
    if (!src.media_type.startsWith('image/')) fail(at, `'${at}' must name a kind of image.`);
    return src;
  }
  if ('url' in src && src.url.startsWith('https://')) return src;
  const at = 'url' in src ? `${param}.url` : param;
  return fail(at, `'${at}' must be an https address, a data URL in base64, or base64 with its media_type.`);
}
