// The dialect of `POST /v1/messages`.
import type { Dialect } from '../../canonical/contract.ts';
import { messagesError } from '../shared/error.ts';
import { readMessagesRequest } from './read.ts';
import { writeMessage } from './write.ts';
import { MessagesWriter } from './writer.ts';

export { messagesRawLane } from './raw.ts';

/** Reads and writes the Messages API of Anthropic's clients. */
export const messagesDialect: Dialect = {
  name: 'messages',
  read: readMessagesRequest,
  write: writeMessage,
  writer: (meta) => new MessagesWriter(meta),
  error: messagesError,
};
