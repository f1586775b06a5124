// The cross cells: a caller of messages on an endpoint of the other family. What is carried keeps its
// meaning both ways; what is not is a warning or an exclusion, never silence.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatFixtures, chatTarget } from '../../../test/grammar/chat-fixtures.ts';
import { encode, losses, png, type Wire } from '../../../test/grammar/cross-cases.ts';
import { checkMessagesStream } from '../../../test/grammar/messages.ts';
import { cutUp, finalMessage, meta, runRelay, target } from '../../../test/grammar/messages-cases.ts';
import type { Relay } from '../canonical/contract.ts';
import { canonicalRelay } from '../canonical/relay.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { messagesDialect } from './anthropic-messages/caller/index.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';

describe('messages on openai_chat', () => {
  const body = { model: 'a/b', max_tokens: 100, messages: [{ role: 'user', content: 'q' }] };
  const request = (change: object = {}, headers: Record<string, string> = {}): CanonicalRequest =>
    messagesDialect.read({ ...body, ...change }, headers);
  const relay = (flags: readonly string[] = []): Relay =>
    canonicalRelay(openaiChat.decoder(request(), chatTarget(flags)), messagesDialect.writer(meta));
  const bytesOf = (name: string): Buffer =>
    Buffer.from(chatFixtures().find((item) => item.name === name)?.sse ?? '');
  const read = (name: string): Wire => finalMessage(runRelay(relay(), [bytesOf(name)])).message;

  test.each(chatFixtures().map((item) => [item.name, item] as const))(
    '%s: a stream of the messages grammar, whatever the split',
    (_name, { sse, flags }) => {
      const expected = runRelay(relay(flags), [Buffer.from(sse)]);
      expect(checkMessagesStream(expected)).toEqual([]);
      fc.assert(
        fc.property(fc.array(fc.nat(sse.length), { maxLength: 10 }), (cuts) => {
          expect(runRelay(relay(flags), cutUp(sse, cuts))).toBe(expected);
        }),
        { numRuns: 15 },
      );
    },
  );

  test('parallel calls are blocks of their own, in order, with whole arguments', () => {
    for (const name of ['tools-parallel', 'tools-interleaved', 'text-then-tools']) {
      const calls = read(name).content.filter((block: Wire) => block.type === 'tool_use');
      expect(calls.length).toBeGreaterThan(name === 'text-then-tools' ? 0 : 1);
      for (const call of calls) {
        expect(JSON.parse(call.input)).toBeTypeOf('object');
        expect(call).toMatchObject({ id: expect.stringMatching(/./), caller: { type: 'direct' } });
      }
      expect(read(name).stop_reason).toBe('tool_use');
    }
  });

  test.each([
    ['text', 'end_turn'],
    ['length', 'max_tokens'],
    ['content-filter', 'refusal'],
    ['refusal', 'refusal'],
    ['tool-single', 'tool_use'],
  ])('finish of %s is %s', (name, reason) => {
    expect(read(name).stop_reason).toBe(reason);
  });

  test('buckets of usage are disjoint', () => {
    expect(read('usage-buckets').usage).toMatchObject({
      input_tokens: 2_048 - 1_024 - 512,
      cache_read_input_tokens: 1_024,
      cache_creation_input_tokens: 512,
      output_tokens: 300,
      output_tokens_details: { thinking_tokens: 256 },
    });
  });

  test('plain reasoning is a thinking block whose envelope says that it is nobody’s to continue', () => {
    const message = read('deepseek-reasoning');
    expect(message.content[0]).toMatchObject({
      type: 'thinking',
      signature: expect.stringMatching(/^svc1\./),
    });
    const next = request({
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: message.content },
        { role: 'user', content: 'n' },
      ],
    });
    expect(losses(anthropicMessages, next, target())).toEqual(['hint:reasoning_signature_dropped']);
    expect(losses(openaiChat, next, chatTarget())).toEqual(['hint:reasoning_signature_dropped']);
    expect(losses(openaiChat, next, chatTarget([], ['reasoning_content_in']))).toEqual([]);
  });

  test('reasoning of its own format keeps its signature through a compatible server', () => {
    const [thinking, redacted] = read('openrouter-details').content;
    expect(thinking).toEqual({ type: 'thinking', thinking: 'Hmm.', signature: 'EqQBCgIYAh==' });
    expect(redacted).toEqual({ type: 'redacted_thinking', data: 'EmwKAhgB' });
    const next = request({
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [thinking, redacted] },
        { role: 'user', content: 'n' },
      ],
    });
    expect(encode(anthropicMessages, next, target()).messages[1].content).toEqual([thinking, redacted]);
  });

  test('a signature of a call survives the round trip', () => {
    const message = read('gemini-compatible');
    const carrier = message.content.filter((block: Wire) => block.type === 'thinking');
    const calls = message.content.filter((block: Wire) => block.type === 'tool_use');
    expect(carrier[0]).toMatchObject({ thinking: '', signature: expect.stringMatching(/^svc1\./) });
    const next = request({
      messages: [
        { role: 'user', content: 'q' },
        {
          role: 'assistant',
          content: message.content.map((block: Wire) =>
            'input' in block ? { ...block, input: JSON.parse(block.input) } : block,
          ),
        },
        {
          role: 'user',
          content: calls.map((call: Wire) => ({ type: 'tool_result', tool_use_id: call.id, content: 'r' })),
        },
      ],
    });
    const sent = encode(openaiChat, next, { ...chatTarget(), upstream_model: 'gemini-3-pro' });
    expect(JSON.stringify(sent.messages[1].tool_calls)).toContain('thought_signature');
    expect(sent.messages[1].tool_calls).toHaveLength(calls.length);
  });

  test('an error after content is the dialect’s error event', () => {
    const { error } = finalMessage(runRelay(relay(), [bytesOf('error-mid')]));
    expect(error).toMatchObject({
      type: 'error',
      error: { details: { error_code: 'upstream_error' } },
      request_id: meta.request_id,
    });
  });

  test('a whole conversation is carried without loss', () => {
    const given = request({
      system: 'S',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'image', source: { type: 'url', url: 'https://x.example/i.png' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'calling' },
            { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 't2', name: 'g', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'one' },
            {
              type: 'tool_result',
              tool_use_id: 't2',
              content: [{ type: 'text', text: 'two' }],
              is_error: true,
            },
            { type: 'text', text: 'go on' },
          ],
        },
      ],
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true }],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      stop_sequences: ['a'],
      temperature: 0.5,
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    expect(losses(openaiChat, given, chatTarget())).toEqual([]);
    expect(encode(openaiChat, given, chatTarget())).toMatchObject({
      messages: [
        { role: 'system', content: 'S' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            { type: 'image_url', image_url: { url: 'https://x.example/i.png' } },
          ],
        },
        {
          role: 'assistant',
          content: 'calling',
          tool_calls: [
            { id: 't1', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 't2', function: { name: 'g', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 't1', content: 'one' },
        { role: 'tool', tool_call_id: 't2', content: 'Error: two' },
        { role: 'user', content: 'go on' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      stop: ['a'],
      temperature: 0.5,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema' },
    });
  });

  test.each([
    [{ top_k: 3 }, ['behaviour:sampling_dropped']],
    [{ container: { skills: [] } }, ['content:unsupported_parameter']],
    [{ mcp_servers: [] }, ['content:unsupported_parameter']],
    [{ odd_field: 1 }, ['behaviour:unknown_parameter_dropped']],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, ['behaviour:server_tool_dropped']],
    [{ tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, ['behaviour:server_tool_dropped']],
    [{ tools: [{ name: 'f', input_schema: {}, defer_loading: true }] }, ['hint:tool_option_dropped']],
    [{ stop_sequences: ['1', '2', '3', '4', '5'] }, ['content:stop_too_many']],
    [
      { messages: [...body.messages, { role: 'assistant', content: 'A: ' }] },
      ['content:prefill_unsupported'],
    ],
    [
      {
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
          },
          ...body.messages,
        ],
      },
      ['content:server_tool_unsupported'],
    ],
    [
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                source: { type: 'text', media_type: 'text/plain', data: 'T' },
                citations: { enabled: true },
              },
            ],
          },
        ],
      },
      ['behaviour:document_flattened', 'behaviour:citations_unsupported'],
    ],
  ])('%j is reported', (change, reported) => {
    expect(losses(openaiChat, request(change), chatTarget())).toEqual(reported);
  });

  test('betas are reported as ignored', () => {
    expect(
      losses(openaiChat, request({}, { 'anthropic-beta': 'context-1m-2025-08-07' }), chatTarget()),
    ).toEqual(['hint:beta_ignored']);
  });
});
