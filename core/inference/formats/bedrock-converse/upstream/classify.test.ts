// Bedrock's refusals in the classes of docs/outcomes.md#faults-of-a-provider.
import { expect, test } from 'vitest';
import { classifyAnswer } from './classify.ts';

function classOf(status: number, type: string, message = 'why', headers: Record<string, string> = {}) {
  const named =
    type === '' ? headers : { 'x-amzn-errortype': `${type}:http://internal.example/coral/`, ...headers };
  return classifyAnswer(status, named, Buffer.from(JSON.stringify({ message })));
}

test.each([
  [400, 'ValidationException', 'Malformed input request', 'client'],
  [400, 'ValidationException', 'Input is too long for requested model.', 'context_length'],
  [400, 'ValidationException', 'prompt is too long: 210000 tokens > 200000 maximum', 'context_length'],
  [400, 'ValidationException', 'The provided model identifier is invalid.', 'model_missing'],
  [
    400,
    'ValidationException',
    'Invocation of model ID x with on-demand throughput isn’t supported.',
    'model_missing',
  ],
  [400, 'ValidationException', 'Output blocked by content filtering policy', 'content_filter'],
  [403, 'AccessDeniedException', 'The caller is not authorized to perform bedrock:InvokeModel.', 'auth'],
  [
    403,
    'AccessDeniedException',
    "You don't have access to the model with the specified model ID.",
    'model_missing',
  ],
  [403, 'UnrecognizedClientException', 'The security token included in the request is invalid.', 'auth'],
  [403, 'InvalidSignatureException', 'Signature expired: 20260101T000000Z is now earlier than …', 'auth'],
  [403, 'ExpiredTokenException', 'The security token included in the request is expired', 'auth'],
  [404, 'ResourceNotFoundException', 'Could not resolve the foundation model', 'model_missing'],
  [408, 'ModelTimeoutException', 'timeout', 'timeout'],
  [413, '', '', 'too_large'],
  [424, 'ModelErrorException', 'The model failed', 'server'],
  [429, 'ThrottlingException', 'Too many requests, please wait before trying again.', 'rate_limit'],
  [429, 'ThrottlingException', 'Too many tokens per day, please wait before trying again.', 'quota'],
  [429, 'ModelNotReadyException', 'Model is not ready', 'overloaded'],
  [400, 'ServiceQuotaExceededException', 'quota', 'quota'],
  [500, 'InternalServerException', 'oops', 'server'],
  [503, 'ServiceUnavailableException', 'busy', 'overloaded'],
  [502, '', '<html>', 'server'],
  [418, '', '', 'client'],
])('%i %s "%s" is of class %s', (status, type, message, kind) => {
  expect(classOf(status, type, message)).toMatchObject({ class: kind, status });
});

test('the name may stand in the body, with its namespace, and `Message` may be capitalised', () => {
  const body = Buffer.from('{"__type":"com.amazon.coral.service#ThrottlingException","Message":"slow"}');
  expect(classifyAnswer(400, {}, body)).toMatchObject({
    class: 'rate_limit',
    message: 'slow',
    type: 'ThrottlingException',
  });
});

test('retry-after is read; a name out of a prototype is no class', () => {
  expect(classOf(429, 'ThrottlingException', 'x', { 'retry-after': '3' }).retry_after_ms).toBe(3_000);
  expect(classOf(400, 'constructor').class).toBe('client');
});

test('a 200 that is no stream is what its exception says, else a protocol fault', () => {
  expect(classOf(200, 'ServiceUnavailableException')).toMatchObject({ class: 'stream', inner: 'overloaded' });
  expect(classifyAnswer(200, {}, Buffer.from('{"output":{}}'))).toMatchObject({ class: 'protocol' });
  expect(classifyAnswer(200, {}, Buffer.from('<html>'))).toMatchObject({ class: 'protocol' });
});
