// From bytes to a JSON value.
import { parseJson, refuseDuplicates, ServiceError } from '../../../kernel/index.ts';

/**
 * The JSON value of a body whose decoded text is `text` and whose members were counted, unless null.
 * @throws ServiceError invalid_json with `details.offset`, or naming a member that occurs twice.
 */
export function parseText(text: string, members: number | null = null): unknown {
  if (text.length === 0) throw new ServiceError('invalid_json', 'The body is empty; send a JSON object.');
  const value = parseJson(text);
  refuseDuplicates(text, value, members);
  return value;
}
