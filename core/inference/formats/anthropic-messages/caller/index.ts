// The dialect of `POST /v1/messages`.

import { isObject, readingBy, type Steps } from '../../../../kernel/index.ts';
import { STEERING } from '../../../caller/openai.ts';
import type { Headers } from '../../../caller/svc.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { COVERAGE } from './coverage.ts';
import { messagesError, messagesStatus } from './error.ts';
import { addLimits } from './limits.ts';
import { readMessagesRequest } from './read.ts';
import { writeMessage } from './write.ts';
import { MessagesWriter } from './writer.ts';

export { messagesRawLane } from '../raw/index.ts';

/** Reads and writes the Messages API of Anthropic's clients. */
export const messagesDialect: Dialect = {
  name: 'messages',
  coverage: COVERAGE,
  ...readingBy(readMessagesRequest),
  write: writeMessage,
  writer: (meta) => new MessagesWriter(meta),
  error: messagesError,
  status: messagesStatus,
  addLimits,
  organization_header: 'anthropic-organization-id',
  spared: [...STEERING, 'metadata.user_id'],
  account: {
    family: 'anthropic_messages',
    members: ['thread', 'container', 'billing_policy', 'fallback_credit_token'],
  },
  repeats: false,
  operation: 'chat',
};

function* readCounted(body: unknown, headers: Headers): Steps<CanonicalRequest> {
  const given = isObject(body) && body['max_tokens'] === undefined ? { ...body, max_tokens: 0 } : body;
  const request = yield* readMessagesRequest(given, headers);
  const { max_tokens: _cap, ...generation } = request.generation;
  return { ...request, generation, stream: false };
}

/** Reads the body of `POST /v1/messages/count_tokens`: a message's, which need not have `max_tokens`. */
export const countedMessages: Dialect = {
  ...messagesDialect,
  ...readingBy(readCounted),
};
