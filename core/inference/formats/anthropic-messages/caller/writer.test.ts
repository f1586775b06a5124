// The writer cannot leave the grammar, whatever answer it is given, and says the same as the whole answer.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMessagesStream } from '../../../../../test/grammar/messages.ts';
import { counted, finalMessage, meta, paid } from '../../../../../test/grammar/messages-cases.ts';
import { unfoldAnswer } from '../../../canonical/assemble.ts';
import { unwrapState } from '../../../canonical/reasoning.ts';
import type { CanonicalAnswer, CanonicalEvent, Part, StopReason } from '../../../canonical/types.ts';
import { messagesDialect } from './index.ts';

function stream(events: readonly CanonicalEvent[], change: Partial<typeof meta> = {}): string {
  const writer = messagesDialect.writer({ ...meta, ...change });
  return events.map((event) => writer.write(event)).join('') + writer.end(paid(counted));
}

const format = fc.constantFrom(
  'anthropic-claude-v1',
  'openai-responses-v1',
  'google-gemini-v1',
  'unknown' as const,
);
const text = fc.string({ unit: 'binary' });
const json = fc.json({ maxDepth: 2 }).map((value) => `{"v":${value}}`);
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('refusal' as const), text }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text,
    kind: fc.constantFrom('full' as const, 'summary' as const),
    signature: fc.string({ minLength: 1 }),
    format,
  }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.constant(''),
    kind: fc.constant('encrypted' as const),
    data: fc.string({ minLength: 1 }),
    format,
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: fc.uuid(),
    name: fc.constantFrom('f', 'g'),
    arguments: fc.oneof(json, fc.constant('')),
    kind: fc.constantFrom('function' as const, 'custom' as const),
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: fc.uuid(),
    name: fc.constant('signed'),
    arguments: json,
    kind: fc.constant('function' as const),
    signature: fc.string({ minLength: 1 }),
    format,
  }),
  fc.constant({ type: 'image' as const, src: { url: 'https://x.example/i.png' } }),
  fc.constant({
    type: 'server_tool' as const,
    family: 'anthropic_messages' as const,
    name: 'web_search_tool_result',
    payload: { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  }),
);
const reasons: StopReason[] = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'content_filter',
  'refusal',
  'pause',
  'context_window',
  'compaction',
  'malformed',
];
const answer: fc.Arbitrary<CanonicalAnswer> = fc.record({
  candidates: fc
    .record({
      index: fc.constant(0),
      content: fc.array(part, { maxLength: 6 }),
      stop: fc.option(fc.record({ reason: fc.constantFrom(...reasons) })),
    })
    .map((candidate) => [candidate]),
  usage: fc.constant(null),
});

/** Block of a whole answer as a client's stream gives it: input as text. */
function normal(message: Record<string, unknown> | null): unknown {
  const content = message?.['content'] as Record<string, unknown>[];
  return {
    ...message,
    usage: null,
    content: content.map((block) =>
      block['type'] === 'tool_use'
        ? {
            ...block,
            input: typeof block['input'] === 'string' ? JSON.parse(block['input']) : block['input'],
          }
        : block,
    ),
  };
}

describe('any answer', () => {
  test('is a stream of the grammar whose final message is the whole answer', () => {
    fc.assert(
      fc.property(answer, (given) => {
        const written = stream(unfoldAnswer(given));
        expect(checkMessagesStream(written)).toEqual([]);
        const whole = JSON.parse(messagesDialect.write(given, meta, paid(counted)));
        expect(normal(finalMessage(written).message)).toEqual(normal(whole));
      }),
      { numRuns: 300 },
    );
  });

  test('cut anywhere and ended by us is still a stream of the grammar', () => {
    fc.assert(
      fc.property(answer, fc.nat(40), (given, cut) => {
        expect(checkMessagesStream(stream(unfoldAnswer(given).slice(0, cut)))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('with any of its events missing is still a stream of the grammar', () => {
    const some = answer.chain((given) => fc.subarray(unfoldAnswer(given)));
    fc.assert(
      fc.property(some, (events) => {
        expect(checkMessagesStream(stream(events))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('cut anywhere and failed ends in one error event', () => {
    fc.assert(
      fc.property(answer, fc.nat(40), (given, cut) => {
        const writer = messagesDialect.writer(meta);
        const head = unfoldAnswer(given)
          .slice(0, cut)
          .map((event) => writer.write(event))
          .join('');
        const fault = { code: 'upstream_overloaded' as const, message: 'Busy.' };
        const written = head + writer.fail(fault, paid(counted));
        expect(checkMessagesStream(written)).toEqual([]);
        expect(finalMessage(written).error).toMatchObject({
          error: { type: 'overloaded_error', code: 'upstream_overloaded' },
          request_id: meta.request_id,
          svc: { cost: { total_micro_usd: 1_234 } },
        });
        expect(writer.end(paid(counted)) + writer.keepAlive()).toBe('');
      }),
      { numRuns: 100 },
    );
  });
});

describe('the start', () => {
  const first = (events: CanonicalEvent[]): Record<string, unknown> =>
    JSON.parse(stream(events).split('\n')[1]?.slice(6) ?? '').message;

  test('tells what the provider counted, else the estimate, never zero', () => {
    expect(
      first([{ type: 'start', usage: { input_tokens: 3, cache_read_tokens: 9 } }])['usage'],
    ).toMatchObject({
      input_tokens: 3,
      cache_read_input_tokens: 9,
      output_tokens: 1,
    });
    expect(first([{ type: 'start' }])['usage']).toMatchObject({ input_tokens: 17, output_tokens: 1 });
  });

  test('carries svc without a cost', () => {
    expect(first([])['svc']).toEqual({
      request_id: meta.request_id,
      provider: 'anthropic',
      endpoint_id: 'ep_01TEST',
      cost: null,
      warnings: [],
    });
  });
});

describe('reasoning of other families', () => {
  const events = unfoldAnswer({
    candidates: [
      {
        index: 0,
        content: [
          {
            type: 'reasoning',
            text: 'why',
            kind: 'summary',
            data: 'enc',
            id: 'rs_1',
            format: 'openai-responses-v1',
          },
          {
            type: 'tool_call',
            id: 'c1',
            name: 'f',
            arguments: '{}',
            kind: 'function',
            signature: 'gs',
            format: 'google-gemini-v1',
          },
        ],
        stop: { reason: 'tool_use' },
      },
    ],
    usage: null,
    upstream_model: 'up-1',
  });

  test('comes back whole with the next turn', () => {
    const content = finalMessage(stream(events)).message?.['content'] as Record<string, unknown>[];
    expect(content.map((block) => block['type'])).toEqual(['thinking', 'thinking', 'tool_use']);
    expect(unwrapState(String(content[0]?.['signature']))).toEqual({
      f: 'openai-responses-v1',
      m: 'up-1',
      d: 'enc',
      i: 'rs_1',
    });
    const again = messagesDialect.read(
      {
        model: 'a/b',
        max_tokens: 1,
        messages: [
          {
            role: 'assistant',
            content: content.map((block) => (block['type'] === 'tool_use' ? { ...block, input: {} } : block)),
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'r' }] },
        ],
      },
      {},
    );
    expect(again.messages[0]?.content).toMatchObject([
      {
        type: 'reasoning',
        text: 'why',
        kind: 'summary',
        data: 'enc',
        id: 'rs_1',
        format: 'openai-responses-v1',
      },
      { type: 'tool_call', id: 'c1', signature: 'gs', format: 'google-gemini-v1' },
    ]);
  });

  test('is left out when the caller excludes it', () => {
    const content = finalMessage(stream(events, { reasoning: 'exclude' })).message?.['content'] as unknown[];
    expect(content).not.toContainEqual(expect.objectContaining({ thinking: 'why' }));
  });
});

test('a part that cannot be shown is reported in the warnings', () => {
  const content: Part[] = [{ type: 'image', src: { url: 'https://x.example/i.png' } }];
  const given: CanonicalAnswer = {
    candidates: [{ index: 0, content, stop: { reason: 'end_turn' } }],
    usage: null,
  };
  const reported = { svc: { warnings: [{ code: 'content_dropped' }] }, content: [] };
  expect(finalMessage(stream(unfoldAnswer(given))).message).toMatchObject(reported);
  expect(JSON.parse(messagesDialect.write(given, meta, paid(counted)))).toMatchObject(reported);
});

test.each([
  ['end_turn', 'end_turn'],
  ['max_tokens', 'max_tokens'],
  ['tool_use', 'tool_use'],
  ['content_filter', 'refusal'],
  ['refusal', 'refusal'],
  ['pause', 'pause_turn'],
  ['context_window', 'model_context_window_exceeded'],
  ['compaction', 'compaction'],
  ['malformed', 'end_turn'],
] as const)('stop reason %s is told as %s', (reason, word) => {
  const { message } = finalMessage(stream([{ type: 'stop', candidate: 0, stop: { reason } }]));
  expect(message).toMatchObject({ stop_reason: word });
  const warned = (message as { svc: { warnings: { code: string }[] } } | null)?.svc.warnings.map(
    (warning) => warning.code,
  );
  expect(warned).toEqual(reason === 'malformed' ? ['malformed_output'] : []);
});

test('usage is reported with every key, writes without a lifetime as 5m', () => {
  const usage = {
    ...counted,
    cache_write_tokens: 30,
    cache_write_1h_tokens: 10,
    reasoning_tokens: 2,
    search_units: 1,
  };
  const given: CanonicalAnswer = { candidates: [], usage: null, service_tier: 'default' };
  expect(JSON.parse(messagesDialect.write(given, meta, paid(usage))).usage).toEqual({
    input_tokens: 7,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
    output_tokens: 5,
    output_tokens_details: { thinking_tokens: 2 },
    server_tool_use: { web_fetch_requests: 0, web_search_requests: 1 },
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  });
});
