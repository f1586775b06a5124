// The cross cells: a caller of responses on an endpoint of the chat family. What is carried keeps its meaning both
// ways; what is not is a warning or an exclusion, never silence.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatFixtures, chatTarget } from '../../../test/grammar/chat-fixtures.ts';
import { encode, losses, png, type Wire } from '../../../test/grammar/cross-cases.ts';
import { cutUp, runRelay } from '../../../test/grammar/messages-cases.ts';
import { checkResponsesStream } from '../../../test/grammar/responses.ts';
import { clientsResponse, finalResponse, meta } from '../../../test/grammar/responses-cases.ts';
import type { Relay } from '../canonical/contract.ts';
import { canonicalRelay } from '../canonical/relay.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';
import { responses } from './openai-responses/caller/index.ts';

describe('responses on openai_chat', () => {
  const body = { model: 'a/b', input: [{ role: 'user', content: 'q' }] };
  const request = (change: object = {}): CanonicalRequest => responses.read({ ...body, ...change }, {});
  const relay = (flags: readonly string[] = []): Relay =>
    canonicalRelay(openaiChat.decoder(request(), chatTarget(flags)), responses.writer(meta));
  const bytesOf = (name: string): Buffer =>
    Buffer.from(chatFixtures().find((item) => item.name === name)?.sse ?? '');
  const read = (name: string): Wire => finalResponse(runRelay(relay(), [bytesOf(name)]));
  /** The next turn: the items of `output` as they came, results for its calls, a word of the user. */
  const next = (output: Wire[]): CanonicalRequest =>
    request({
      input: [
        ...body.input,
        ...output,
        ...output
          .filter(({ type }) => type === 'function_call')
          .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'r' })),
        { role: 'user', content: 'n' },
      ],
    });

  test.each(chatFixtures().map((item) => [item.name, item] as const))(
    '%s: a stream of the grammar, whatever the split, that the official client reads as we meant it',
    async (_name, { sse, flags }) => {
      const expected = runRelay(relay(flags), [Buffer.from(sse)]);
      expect(checkResponsesStream(expected)).toEqual([]);
      const { output, status } = finalResponse(expected);
      const read = await clientsResponse(expected);
      expect(read.status).toBe(status);
      expect(read.output).toMatchObject(output);
      fc.assert(
        fc.property(fc.array(fc.nat(sse.length), { maxLength: 10 }), (cuts) => {
          expect(runRelay(relay(flags), cutUp(sse, cuts))).toBe(expected);
        }),
        { numRuns: 12 },
      );
    },
  );

  test('parallel calls are items of their own, in order, with whole arguments', () => {
    for (const name of ['tools-parallel', 'tools-interleaved', 'text-then-tools']) {
      const { output, status } = read(name);
      const calls = output.filter(({ type }: Wire) => type === 'function_call');
      expect(calls.length).toBeGreaterThan(name === 'text-then-tools' ? 0 : 1);
      expect(new Set(calls.map((call: Wire) => call.call_id)).size).toBe(calls.length);
      for (const call of calls) expect(JSON.parse(call.arguments)).toBeTypeOf('object');
      expect(status).toBe('completed');
    }
  });

  test.each([
    ['text', 'completed', null],
    ['length', 'incomplete', 'max_output_tokens'],
    ['content-filter', 'incomplete', 'content_filter'],
    ['refusal', 'completed', null],
    ['tool-single', 'completed', null],
    ['error-mid', 'failed', null],
  ])('the end of %s is %s', (name, status, reason) => {
    const response = read(name);
    expect([response.status, response.incomplete_details?.reason ?? null]).toEqual([status, reason]);
  });

  test('a refusal is a part of its own', () => {
    const [message] = read('refusal').output;
    expect(message.content.at(-1)).toMatchObject({ type: 'refusal', refusal: expect.stringMatching(/./) });
  });

  test('usage buckets add up to the input', () => {
    expect(read('usage-buckets').usage).toEqual({
      ...{ input_tokens: 2_048, input_tokens_details: { cached_tokens: 1_024, cache_write_tokens: 512 } },
      ...{ output_tokens: 300, output_tokens_details: { reasoning_tokens: 256 }, total_tokens: 2_348 },
    });
  });

  test('plain reasoning is a summary, and goes back only where the endpoint takes it', () => {
    const { output } = read('deepseek-reasoning');
    expect(output[0]).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text' }] });
    expect(losses(openaiChat, next(output), chatTarget())).toEqual(['hint:reasoning_signature_dropped']);
    const to = chatTarget([], ['reasoning_content_in']);
    expect(losses(openaiChat, next(output), to)).toEqual([]);
    expect(encode(openaiChat, next(output), to).messages[1].reasoning_content).toBe(
      output[0].summary[0].text,
    );
  });

  test('the signature of a call survives the round trip', () => {
    const { output } = read('gemini-compatible');
    expect(output[0]).toMatchObject({
      type: 'reasoning',
      encrypted_content: expect.stringMatching(/^svc1\./),
    });
    const sent = encode(openaiChat, next(output), { ...chatTarget(), upstream_model: 'gemini-3-pro' });
    expect(JSON.stringify(sent.messages[1].tool_calls)).toContain('thought_signature');
  });

  test('a whole conversation is carried without loss', () => {
    const given = request({
      instructions: 'S',
      input: [
        { role: 'developer', content: 'D' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'look' },
            { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'low' },
            { type: 'input_file', file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
          ],
        },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'calling', annotations: [] }],
        },
        { type: 'function_call', call_id: 't1', name: 'f', arguments: '{"a":1}' },
        { type: 'custom_tool_call', call_id: 't2', name: 'g', input: 'free' },
        { type: 'custom_tool_call_output', call_id: 't2', output: 'two' },
        { type: 'function_call_output', call_id: 't1', output: [{ type: 'input_text', text: 'one' }] },
        { role: 'user', content: 'go on' },
      ],
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
        { type: 'custom', name: 'g' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      parallel_tool_calls: false,
      temperature: 0.5,
      top_logprobs: 2,
      reasoning: { effort: 'low' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } },
    });
    expect(losses(openaiChat, given, chatTarget())).toEqual([]);
    expect(encode(openaiChat, given, chatTarget())).toMatchObject({
      messages: [
        { role: 'system', content: 'S' },
        { role: 'developer', content: 'D' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
          ],
        },
        {
          role: 'assistant',
          content: 'calling',
          tool_calls: [
            { id: 't1', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 't2', type: 'custom', custom: { name: 'g', input: 'free' } },
          ],
        },
        { role: 'tool', tool_call_id: 't2', content: 'two' },
        { role: 'tool', tool_call_id: 't1', content: 'one' },
        { role: 'user', content: 'go on' },
      ],
      tools: [
        { function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } },
        { type: 'custom', custom: { name: 'g' } },
      ],
      tool_choice: { type: 'allowed_tools' },
      parallel_tool_calls: false,
      temperature: 0.5,
      logprobs: true,
      top_logprobs: 2,
      reasoning_effort: 'low',
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n' } },
    });
  });

  test.each([
    [{ max_tool_calls: 3 }, ['content:unsupported_parameter']],
    [{ moderation: {} }, ['content:unsupported_parameter']],
    [{ context_management: [] }, ['content:unsupported_parameter']],
    [{ truncation: 'auto' }, ['content:unsupported_parameter']],
    [{ reasoning: { context: 'all' } }, ['behaviour:unknown_parameter_dropped']],
    [{ include: ['web_search_call.results'] }, ['behaviour:unknown_parameter_dropped']],
    [{ odd_field: 1 }, ['behaviour:unknown_parameter_dropped']],
    [{ tools: [{ type: 'web_search' }] }, ['behaviour:server_tool_dropped']],
    [{ tools: [{ type: 'local_shell' }] }, ['content:server_tool_unsupported']],
    [{ tools: [{ type: 'function', name: 'f', defer_loading: true }] }, ['hint:tool_option_dropped']],
    [{ input: [{ type: 'web_search_call', id: 'ws' }, ...body.input] }, ['content:server_tool_unsupported']],
    [
      { input: [...body.input, { role: 'assistant', content: 'A', phase: 'commentary' }, ...body.input] },
      ['behaviour:unknown_parameter_dropped'],
    ],
    [
      {
        input: [
          ...body.input,
          { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'gAAA' },
          { role: 'assistant', content: 'A' },
          ...body.input,
        ],
      },
      ['hint:reasoning_signature_dropped'],
    ],
  ])('%j is reported', (change, reported) => {
    expect(losses(openaiChat, request(change), chatTarget())).toEqual(reported);
  });
});
