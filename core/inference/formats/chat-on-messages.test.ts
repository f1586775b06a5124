// The cross cells: a caller of chat on an endpoint of the other family. What is carried keeps its
// meaning both ways; what is not is a warning or an exclusion, never silence.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkChatStream } from '../../../test/grammar/chat.ts';
import { chatEnd, chatMeta, type ReadChoice, readChatStream } from '../../../test/grammar/chat-fixtures.ts';
import { encode, losses, png, type Wire } from '../../../test/grammar/cross-cases.ts';
import {
  cutUp,
  finalMessage,
  fixture,
  fixtures,
  meta,
  runRelay,
  target,
} from '../../../test/grammar/messages-cases.ts';
import type { Relay } from '../canonical/contract.ts';
import { canonicalRelay } from '../canonical/relay.ts';
import type { CanonicalAnswer } from '../canonical/types.ts';
import { messagesDialect } from './anthropic-messages/caller/index.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { chat } from './openai-chat/caller/index.ts';

describe('chat on anthropic_messages', () => {
  const relay = (): Relay =>
    canonicalRelay(
      anthropicMessages.decoder(
        chat.read({ model: 'a/b', messages: [{ role: 'user', content: 'q' }] }, {}),
        target(),
      ),
      chat.writer(chatMeta({ include_usage: true })),
    );
  const read = (name: string): { choice: ReadChoice; usage: Wire; svc: Wire; error: Wire } => {
    const stream = readChatStream(runRelay(relay(), [fixture(`${name}.sse`)]));
    return {
      choice: stream.choices[0] as ReadChoice,
      usage: stream.usage,
      svc: stream.svc,
      error: stream.error,
    };
  };

  test.each(fixtures('.sse'))('%s: a stream of the chat grammar, whatever the split', (name) => {
    const bytes = fixture(`${name}.sse`);
    const expected = runRelay(relay(), [Buffer.from(bytes)]);
    expect(checkChatStream(expected, { include_usage: true })).toEqual([]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 10 }), (cuts) => {
        expect(runRelay(relay(), cutUp(bytes, cuts))).toBe(expected);
      }),
      { numRuns: 15 },
    );
  });

  test('text comes whole', () => {
    expect(read('text').choice).toMatchObject({
      content: 'Hello, wörld! 🌍 "quoted"\nback\\slash \u2028 end',
      finish: 'stop',
    });
  });

  test('parallel calls come with their arguments; none is an empty object', () => {
    expect(read('tools-parallel').choice).toMatchObject({
      finish: 'tool_calls',
      calls: [
        { id: 'toolu_01A', name: 'get_weather', arguments: '{"city":"Pune"}' },
        { id: 'toolu_01B', name: 'get_time', arguments: '{"zone":"Asia/Kolkata"}' },
        { id: 'toolu_01C', name: 'ping', arguments: '{}' },
      ],
    });
    expect(read('tool').choice.calls[0]?.arguments).toContain('12345678901234567890');
  });

  test.each([
    ['text', 'stop'],
    ['max-tokens', 'length'],
    ['context-window', 'length'],
    ['stop-sequence', 'stop'],
    ['refusal', 'stop'],
    ['pause', 'stop'],
  ])('stop reason of %s is %s', (name, finish) => {
    expect(read(name).choice.finish).toBe(finish);
  });

  test('an answer that the model refused to go on with is a refusal, streamed and whole', () => {
    expect(read('refusal').choice).toMatchObject({
      content: 'I cannot',
      refusal: 'Not this.',
      finish: 'stop',
    });
    const answer: CanonicalAnswer = {
      candidates: [{ index: 0, content: [], stop: { reason: 'refusal' } }],
      usage: null,
    };
    const { message } = JSON.parse(chat.write(answer, chatMeta(), chatEnd())).choices[0];
    expect(message).toMatchObject({ content: null, refusal: 'The model refused to go on.' });
  });

  test('the prompt is the sum of the disjoint buckets', () => {
    expect(read('cache').usage).toMatchObject({
      prompt_tokens: 21 + 18_000 + 1_248,
      completion_tokens: 393,
      total_tokens: 21 + 18_000 + 1_248 + 393,
      prompt_tokens_details: { cached_tokens: 18_000, cache_write_tokens: 1_248 },
    });
    expect(read('thinking').usage).toMatchObject({ completion_tokens_details: { reasoning_tokens: 120 } });
  });

  test('web citations become annotations, others are reported', () => {
    const { choice, svc } = read('citations');
    expect(choice.annotations).toMatchObject([
      { type: 'url_citation', url_citation: { url: 'https://example.com/sky' } },
    ]);
    expect(svc.warnings).toContainEqual(expect.objectContaining({ code: 'citation_dropped' }));
  });

  test('an error after content is the dialect’s error, without the provider’s words', () => {
    expect(read('error-mid').error).toMatchObject({ code: 'upstream_error', type: 'api_error' });
  });

  test.each(['thinking', 'redacted'])(
    '%s: signed reasoning goes back byte for byte with the next turn',
    (name) => {
      const { choice } = read(name);
      const next = chat.read(
        {
          model: 'a/b',
          messages: [
            { role: 'user', content: 'q' },
            { role: 'assistant', content: choice.content, reasoning_details: choice.details },
            { role: 'user', content: 'n' },
          ],
        },
        {},
      );
      const upstream = finalMessage(
        runRelay(canonicalRelay(anthropicMessages.decoder(next, target()), messagesDialect.writer(meta)), [
          fixture(`${name}.sse`),
        ]),
      ).message?.['content'] as Wire[];
      const sent = encode(anthropicMessages, next, target()).messages[1].content;
      const reasoning = (blocks: Wire[]): Wire[] => blocks.filter((block) => block.type.includes('thinking'));
      expect(reasoning(sent)).toEqual(reasoning(upstream));
      expect(reasoning(sent).length).toBeGreaterThan(0);
      expect(losses(anthropicMessages, next, target())).toEqual([]);
    },
  );

  test('a whole conversation is carried without loss', () => {
    const request = chat.read(
      {
        model: 'a/b',
        messages: [
          { role: 'system', content: 'S' },
          { role: 'developer', content: 'D' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'look', cache_control: { type: 'ephemeral', ttl: '1h' } },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
              { type: 'image_url', image_url: { url: 'https://x.example/i.png' } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
              { id: 'call_2', type: 'function', function: { name: 'g', arguments: '' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_2', content: 'two' },
          { role: 'tool', tool_call_id: 'call_1', content: 'one' },
        ],
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } }],
        tool_choice: 'required',
        parallel_tool_calls: false,
        stop: ['a', 'b'],
        temperature: 0.5,
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
      },
      {},
    );
    expect(losses(anthropicMessages, request, target())).toEqual([]);
    expect(encode(anthropicMessages, request, target())).toMatchObject({
      system: [{ text: 'S' }, { text: 'D' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look', cache_control: { type: 'ephemeral', ttl: '1h' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'image', source: { type: 'url', url: 'https://x.example/i.png' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call_1', input: { a: 1 } },
            { type: 'tool_use', id: 'call_2', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_2' },
            { type: 'tool_result', tool_use_id: 'call_1' },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object' }, strict: true }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['a', 'b'],
      temperature: 0.5,
      output_config: { format: { type: 'json_schema' } },
    });
  });

  test.each([
    [{ reasoning_effort: 'high' }, [], 'thinking'],
    [{ seed: 1 }, ['behaviour:sampling_dropped'], null],
    [{ n: 2 }, ['content:candidates_unsupported'], null],
    [{ logprobs: true }, ['content:logprobs_unsupported'], null],
    [{ verbosity: 'low' }, ['behaviour:verbosity_dropped'], null],
    [{ temperature: 1.7 }, ['behaviour:temperature_clamped'], 'temperature'],
    [{ prediction: { type: 'content', content: '' } }, ['hint:prediction_dropped'], null],
    [{ web_search_options: {} }, ['content:unsupported_parameter'], null],
    [{ response_format: { type: 'json_object' } }, ['behaviour:json_object_as_instruction'], 'system'],
    [{ service_tier: 'flex' }, ['behaviour:service_tier_ignored'], null],
    [{ odd_field: 1 }, ['behaviour:unknown_parameter_dropped'], null],
    [{ tools: [{ type: 'custom', custom: { name: 'c' } }] }, ['behaviour:custom_tool_emulated'], 'tools'],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }] },
        ],
      },
      ['content:audio_unsupported'],
      null,
    ],
    [
      {
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: 'A: ' },
        ],
      },
      ['content:prefill_unsupported'],
      null,
    ],
  ])('%j is sent or reported', (change, reported, member) => {
    const request = chat.read({ model: 'a/b', messages: [{ role: 'user', content: 'q' }], ...change }, {});
    const to = target({ prefill: false });
    expect(losses(anthropicMessages, request, to)).toEqual(reported);
    if (member !== null) expect(encode(anthropicMessages, request, to)).toHaveProperty(member);
  });
});
