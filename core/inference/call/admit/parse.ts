// From bytes to a JSON value of bounded size.
import { parseJson, ServiceError, stringEndIn } from '../../../kernel/index.ts';

/**
 * Maximum number of objects, lists and members in a body. Each takes at least two characters of text, which compress
 * to almost nothing, and up to a hundred bytes of memory: the largest body could otherwise take a gigabyte.
 */
const ITEMS_MAX = 1_000_000;

/** @throws ServiceError request_too_large for a body with more items than any real request needs. */
export function refuseTooMany(text: string): void {
  if (text.length <= 2 * ITEMS_MAX || !holdsTooMany(text)) return;
  const message = `The body holds more than ${ITEMS_MAX} objects, lists and members.`;
  throw new ServiceError('request_too_large', message, { details: { limit_items: ITEMS_MAX } });
}

/**
 * The JSON value of a body whose decoded text is `text`.
 * @throws ServiceError request_too_large as `refuseTooMany`; invalid_json with `details.offset` (characters).
 */
export function parseText(text: string): unknown {
  if (text.length === 0) throw new ServiceError('invalid_json', 'The body is empty; send a JSON object.');
  refuseTooMany(text);
  return parseJson(text);
}

function holdsTooMany(text: string): boolean {
  let items = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 34) {
      at = stringEndIn(text, at + 1);
      if (at < 0) return false;
    } else if ((c === 123 || c === 91 || c === 58) && ++items > ITEMS_MAX) return true;
  }
  return false;
}
