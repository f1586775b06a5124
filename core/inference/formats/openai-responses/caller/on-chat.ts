// Bodies of this format on the path of another: an editor sends them to chat completions and expects chat answers.
import { isObject, readingBy, type Steps } from '../../../../kernel/index.ts';
import { present } from '../../../caller/read.ts';
import type { Headers } from '../../../caller/svc.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { readResponses } from './read.ts';

/** `chat`, extended to read bodies that have `input` instead of `messages`. */
export function withResponses(chat: Dialect): Dialect {
  function* reading(value: unknown, headers: Headers): Steps<CanonicalRequest> {
    const is_response = isObject(value) && !present(value['messages']) && present(value['input']);
    if (is_response) return yield* readResponses(value, headers);
    return chat.readInSteps === null ? chat.read(value, headers) : yield* chat.readInSteps(value, headers);
  }
  return { ...chat, ...readingBy(reading) };
}
