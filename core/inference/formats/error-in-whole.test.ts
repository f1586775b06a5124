// An error object under status 200: it has the class that the same error has as an HTTP refusal.
import { describe, expect, test } from 'vitest';
import { chatRequest, chatTarget } from '../../../test/grammar/chat-fixtures.ts';
import { request, target } from '../../../test/grammar/messages-cases.ts';
import { StreamErrorFault } from '../canonical/contract.ts';
import type { UpstreamFault } from '../canonical/types.ts';
import { ProtocolFault } from '../wire/fault.ts';
import { messagesRawLane } from './anthropic-messages/caller/index.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { rawChat } from './openai-chat/caller/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';

function thrownBy(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function faultOf(read: () => unknown): UpstreamFault {
  const error = thrownBy(read);
  expect(error).toBeInstanceOf(StreamErrorFault);
  return (error as StreamErrorFault).fault;
}

describe('an error object where a chat completion belongs', () => {
  test.each([
    ['overloaded', { error: { message: 'm', type: 'overloaded_error' } }],
    ['overloaded', { error: { message: 'm', code: 503 } }],
    ['rate_limit', { error: { message: 'm', code: 'rate_limit_exceeded' } }],
    ['rate_limit', { error: { message: 'm', code: 429 }, choices: [] }],
    ['context_length', { error: { message: 'm', code: 'context_length_exceeded' } }],
    ['server', { error: { message: 'm' } }],
    ['server', { error: 'm' }],
    ['quota', [{ error: { message: 'm insufficient_quota', code: 429 } }]],
  ])('is %s: %j', (inner, answer) => {
    const body = Buffer.from(JSON.stringify(answer));
    const raw = faultOf(() => rawChat.whole(body, chatRequest(), chatTarget()));
    expect(raw).toMatchObject({ class: 'stream', status: 200, inner });
    expect(raw.message).toMatch(/^m/);
    expect(faultOf(() => openaiChat.decode(body, chatRequest(), chatTarget()))).toEqual(raw);
    expect(openaiChat.classify(200, {}, body)).toEqual(raw);
  });

  test('as a finish reason is one too', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'error' }];
    const body = Buffer.from(JSON.stringify({ choices }));
    const raw = faultOf(() => rawChat.whole(body, chatRequest(), chatTarget()));
    expect(raw).toMatchObject({ class: 'stream', inner: 'server' });
    expect(faultOf(() => openaiChat.decode(body, chatRequest(), chatTarget()))).toEqual(raw);
  });

  test('says how long to wait where a stream was asked for', () => {
    const body = Buffer.from('{"error":{"code":429}}');
    expect(openaiChat.classify(200, { 'retry-after': '3' }, body).retry_after_ms).toBe(3_000);
  });

  test.each(['', 'x', '[]', '{}', '{"error":null}', '{"object":"list","data":[]}', '{"choices":[null]}'])(
    'but not in %j, which is no answer at all',
    (text) => {
      const error = thrownBy(() => rawChat.whole(Buffer.from(text), chatRequest(), chatTarget()));
      expect(error).toBeInstanceOf(ProtocolFault);
      expect(error).not.toBeInstanceOf(StreamErrorFault);
      expect(openaiChat.classify(200, {}, Buffer.from(text)).class).toBe('protocol');
    },
  );

  test('null beside an answer means that there is none', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }];
    const body = Buffer.from(JSON.stringify({ choices, error: null }));
    expect(rawChat.whole(body, chatRequest(), chatTarget()).stop?.reason).toBe('end_turn');
  });
});

describe('an error object where a message belongs', () => {
  const excluding = request({ svc: { ...request().svc, reasoning: 'exclude' } });

  test.each([
    ['overloaded', 'overloaded_error', 'm'],
    ['rate_limit', 'rate_limit_error', 'm'],
    ['server', 'api_error', 'm'],
    ['auth', 'authentication_error', 'm'],
    ['context_length', 'invalid_request_error', 'm: prompt is too long'],
  ])('is %s: %s', (inner, type, message) => {
    const body = Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }));
    const raw = faultOf(() => messagesRawLane.whole(body, request(), target()));
    expect(raw).toEqual({ class: 'stream', status: 200, inner, type, message });
    expect(faultOf(() => messagesRawLane.whole(body, excluding, target()))).toEqual(raw);
    expect(faultOf(() => anthropicMessages.decode(body, request(), target()))).toEqual(raw);
    expect(anthropicMessages.classify(200, {}, body)).toEqual(raw);
  });

  test.each(['', 'x', '{}', '{"type":"error"}', '{"error":null}', '{"type":"message","id":"msg_1"}'])(
    'but not in %j, which is no answer at all',
    (text) => {
      const error = thrownBy(() => messagesRawLane.whole(Buffer.from(text), request(), target()));
      expect(error).toBeInstanceOf(ProtocolFault);
      expect(error).not.toBeInstanceOf(StreamErrorFault);
      expect(anthropicMessages.classify(200, {}, Buffer.from(text)).class).toBe('protocol');
    },
  );
});
