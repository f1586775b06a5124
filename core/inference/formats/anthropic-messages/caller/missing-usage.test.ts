// A provider whose `message_start` tells no counts, or not all: the official clients read them without asking.
import { describe, expect, test } from 'vitest';
import { checkMessagesStream } from '../../../../../test/grammar/messages.ts';
import {
  finalMessage,
  fixture,
  meta,
  request,
  runRelay,
  target,
} from '../../../../../test/grammar/messages-cases.ts';
import { messagesRawLane } from './index.ts';

const given = '"usage":{"input_tokens":0,"output_tokens":0}';
const wire = fixture('no-usage.sse').toString('utf8');

/** What a client has of a stream whose `message_start` has `usage` for its usage. */
function streamWith(usage: string): string {
  const text = wire.replace(`,${given}`, usage === '' ? '' : `,"usage":${usage}`);
  expect(text).not.toContain(given);
  return runRelay(messagesRawLane.relay(meta, request(), target()), [Buffer.from(text)]);
}

function usageAtStart(stream: string): unknown {
  const line = stream.split('\n').find((text) => text.startsWith('data: {"type":"message_start"'));
  return JSON.parse(line?.slice(6) ?? '{}').message?.usage;
}

describe('a raw stream whose message_start', () => {
  test.each([
    ['has no usage', '', { input_tokens: meta.input_estimate, output_tokens: 1 }],
    ['has null for usage', 'null', { input_tokens: meta.input_estimate, output_tokens: 1 }],
    ['has an empty usage', '{}', { input_tokens: meta.input_estimate, output_tokens: 1 }],
    ['lacks the output', '{"input_tokens":9}', { input_tokens: 9, output_tokens: 1 }],
    [
      'tells the cache alone',
      '{"cache_read_input_tokens":50}',
      { input_tokens: 0, cache_read_input_tokens: 50, output_tokens: 1 },
    ],
    ['tells all', '{"input_tokens":9,"output_tokens":3}', { input_tokens: 9, output_tokens: 3 }],
  ])('%s gets every count', (_name, usage, expected) => {
    const stream = streamWith(usage);
    expect(checkMessagesStream(stream, 'raw')).toEqual([]);
    expect(usageAtStart(stream)).toMatchObject(expected);
  });

  test('has no usage names one request from its start to its end', () => {
    const ids = [...streamWith('').matchAll(/"svc":\{"request_id":"([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([meta.request_id, meta.request_id]);
    expect(finalMessage(streamWith('')).message).toMatchObject({ id: meta.request_id });
  });
});
