// From bytes to a JSON value, with the offset of the first fault in the message.
import { ServiceError } from '../../kernel/index.ts';
import { parseExact } from '../wire/exact.ts';

/**
 * The JSON value of a body whose decoded text is `text`.
 * @throws ServiceError invalid_json with `details.offset` (characters) where it can be told.
 */
export function parseText(text: string): unknown {
  if (text.length === 0) throw new ServiceError('invalid_json', 'The body is empty; send a JSON object.');
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const offset = position === undefined ? text.length : Number(position);
    throw new ServiceError('invalid_json', `The body is not JSON: fault at offset ${offset}.`, {
      details: { offset },
    });
  }
}

/** The same, with every number keeping its digits: for the canonical lane, which writes the value anew. */
export function parseBodyExact(body: Buffer): unknown {
  return parseExact(body.toString('utf8'));
}
