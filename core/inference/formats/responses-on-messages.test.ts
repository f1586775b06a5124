// The cross cells: a caller of responses on an endpoint of the messages family.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encode, losses, png, type Wire } from '../../../test/grammar/cross-cases.ts';
import { cutUp, fixture, fixtures, runRelay, target } from '../../../test/grammar/messages-cases.ts';
import { checkResponsesStream } from '../../../test/grammar/responses.ts';
import { clientsResponse, finalResponse, meta } from '../../../test/grammar/responses-cases.ts';
import type { Relay } from '../canonical/contract.ts';
import { canonicalRelay } from '../canonical/relay.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { responses } from './openai-responses/caller/index.ts';

describe('responses on anthropic_messages', () => {
  const body = { model: 'a/b', max_output_tokens: 4_096, input: [{ role: 'user', content: 'q' }] };
  const request = (change: object = {}): CanonicalRequest => responses.read({ ...body, ...change }, {});
  const relay = (given = request()): Relay =>
    canonicalRelay(anthropicMessages.decoder(given, target()), responses.writer(meta));
  const read = (name: string): Wire => finalResponse(runRelay(relay(), [fixture(`${name}.sse`)]));

  test.each(fixtures('.sse'))(
    '%s: a stream of the grammar, whatever the split, that the official client reads as we meant it',
    async (name) => {
      const sse = fixture(`${name}.sse`);
      const expected = runRelay(relay(), [Buffer.from(sse)]);
      expect(checkResponsesStream(expected)).toEqual([]);
      const { output, status } = finalResponse(expected);
      const read = await clientsResponse(expected);
      expect(read.status).toBe(status);
      expect(read.output).toMatchObject(output);
      fc.assert(
        fc.property(fc.array(fc.nat(sse.length), { maxLength: 10 }), (cuts) => {
          expect(runRelay(relay(), cutUp(sse, cuts))).toBe(expected);
        }),
        { numRuns: 12 },
      );
    },
  );

  test('signed thinking goes back byte for byte, redacted thinking as it was', () => {
    const sse = (blocks: string[]) =>
      `${[
        '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}',
        ...blocks,
        '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}',
        '{"type":"message_stop"}',
      ]
        .map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}`)
        .join('\n\n')}\n\n`;
    const stream = sse([
      '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"One.\\n\\nTwo \\u2028."}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB=="}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwK"}}',
      '{"type":"content_block_stop","index":1}',
      '{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}',
      '{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Calling."}}',
      '{"type":"content_block_stop","index":2}',
      '{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}',
      '{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\\"n\\":9007199254740993}"}}',
      '{"type":"content_block_stop","index":3}',
    ]);
    const { output } = finalResponse(runRelay(relay(), [Buffer.from(stream)]));
    expect(output.map(({ type }: Wire) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'function_call',
    ]);
    const next = request({
      input: [...body.input, ...output, { type: 'function_call_output', call_id: 'toolu_1', output: 'r' }],
    });
    expect(losses(anthropicMessages, next, target())).toEqual([]);
    const sent = anthropicMessages.encode(next, target(), {
      ...{ stream: true, max_tokens: 4_096, user: null, cache_key: null, extra: {} },
    });
    expect(sent.body.toString()).toContain('{"n":9007199254740993}');
    expect(JSON.parse(sent.body.toString()).messages[1].content.slice(0, 3)).toEqual([
      { type: 'thinking', thinking: 'One.\n\nTwo \u2028.', signature: 'EqQB==' },
      { type: 'redacted_thinking', data: 'EmwK' },
      { type: 'text', text: 'Calling.' },
    ]);
  });

  test('a custom tool is emulated there, and is one again for the caller', () => {
    const given = request({ tools: [{ type: 'custom', name: 'run', description: 'd' }] });
    expect(losses(anthropicMessages, given, target())).toEqual(['behaviour:custom_tool_emulated']);
    const events = [
      '{"type":"message_start","message":{"id":"m","role":"assistant","model":"claude","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"run","input":{}}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"input\\":\\"ls -la\\"}"}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}',
      '{"type":"message_stop"}',
    ];
    const sse = events.map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`).join('');
    const written = runRelay(relay(given), [Buffer.from(sse)]);
    expect(checkResponsesStream(written)).toEqual([]);
    expect(finalResponse(written).output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'toolu_1', name: 'run', input: 'ls -la' },
    ]);
  });

  test('an answer that the model refused to go on with ends in a refusal', () => {
    expect(read('refusal')).toMatchObject({
      status: 'completed',
      output: [
        {
          type: 'message',
          content: [
            { type: 'output_text', text: 'I cannot' },
            { type: 'refusal', refusal: 'Not this.' },
          ],
        },
      ],
    });
  });

  test('an error in the stream is a failed response', () => {
    expect(read('error-mid')).toMatchObject({ status: 'failed', svc: { error: { code: 'upstream_error' } } });
  });

  test('a whole conversation is carried without loss', () => {
    const given = request({
      instructions: 'S',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'look' },
            { type: 'input_image', image_url: `data:image/png;base64,${png}` },
          ],
        },
        { role: 'assistant', content: [{ type: 'output_text', text: 'calling', annotations: [] }] },
        { type: 'function_call', call_id: 't1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call', call_id: 't2', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 't2', output: 'two' },
        { type: 'function_call_output', call_id: 't1', output: 'one' },
        { role: 'user', content: 'go on' },
      ],
      tools: [{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object' } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      temperature: 0.5,
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } },
    });
    expect(losses(anthropicMessages, given, target())).toEqual([]);
    expect(encode(anthropicMessages, given, target())).toMatchObject({
      system: [{ type: 'text', text: 'S' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'calling' },
            { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 't2', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't2' },
            { type: 'tool_result', tool_use_id: 't1' },
            { type: 'text', text: 'go on' },
          ],
        },
      ],
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      temperature: 0.5,
    });
  });

  test.each([
    [{ top_logprobs: 2 }, ['content:logprobs_unsupported']],
    [{ text: { verbosity: 'low' } }, ['behaviour:verbosity_dropped']],
    [{ text: { format: { type: 'json_object' } } }, ['behaviour:json_object_as_instruction']],
    [{ max_tool_calls: 3 }, ['content:unsupported_parameter']],
    [{ truncation: 'auto' }, ['content:unsupported_parameter']],
    [{ reasoning: { mode: 'x' } }, ['behaviour:unknown_parameter_dropped']],
    [{ odd_field: 1 }, ['behaviour:unknown_parameter_dropped']],
    [{ service_tier: 'flex' }, ['behaviour:service_tier_ignored']],
    [{ temperature: 1.5 }, ['behaviour:temperature_clamped']],
    [{ tools: [{ type: 'web_search' }] }, ['behaviour:server_tool_dropped']],
    [
      {
        tools: [{ type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }],
      },
      ['content:custom_tool_grammar'],
    ],
  ])('%j is reported', (change, reported) => {
    expect(losses(anthropicMessages, request(change), target())).toEqual(reported);
  });
});
