// The dialect of `POST /v1/messages`.
import { isObject } from '../../../../kernel/index.ts';
import { messagesError } from '../../../caller/error.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import { readMessagesRequest } from './read.ts';
import { writeMessage } from './write.ts';
import { MessagesWriter } from './writer.ts';

export { messagesRawLane } from '../raw/index.ts';

/** Reads and writes the Messages API of Anthropic's clients. */
export const messagesDialect: Dialect = {
  name: 'messages',
  read: readMessagesRequest,
  write: writeMessage,
  writer: (meta) => new MessagesWriter(meta),
  error: messagesError,
};

/** Reads the body of `POST /v1/messages/count_tokens`: a message's, which need not have `max_tokens`. */
export const countedMessages: Dialect = {
  ...messagesDialect,
  read(body, headers) {
    const given = isObject(body) && body['max_tokens'] === undefined ? { ...body, max_tokens: 0 } : body;
    const request = readMessagesRequest(given, headers);
    const { max_tokens: _cap, ...generation } = request.generation;
    return { ...request, generation, stream: false };
  },
};
