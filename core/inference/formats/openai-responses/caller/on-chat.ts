// Bodies of this format on the path of another: an editor sends them to chat completions and expects chat answers.
import { isObject } from '../../../../kernel/index.ts';
import { present } from '../../../caller/read.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import { readResponses } from './read.ts';

/** `chat`, extended to read bodies that have `input` instead of `messages`. */
export function withResponses(chat: Dialect): Dialect {
  return {
    ...chat,
    read(value, headers) {
      const is_response = isObject(value) && !present(value['messages']) && present(value['input']);
      return is_response ? readResponses(value, headers) : chat.read(value, headers);
    },
  };
}
