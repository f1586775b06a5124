import { chatRequest, chatTarget } from '@svc/test/grammar/chat-fixtures.ts';
import { describe, expect, it } from 'vitest';
import type { EncodeOptions } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Part } from '../../../canonical/types.ts';
import { classify, streamFault } from '../words/classify.ts';
import { readUsage } from '../words/usage.ts';
import { openaiChat } from './index.ts';

const options: EncodeOptions = { stream: true, max_tokens: 100, user: null, cache_key: null, extra: {} };

function encode(
  change: Partial<CanonicalRequest>,
  parameters: string[] = [],
  how: Partial<EncodeOptions> = {},
  // biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
): any {
  const request = chatRequest({ dialect: 'messages', ...change });
  const { path, body } = openaiChat.encode(request, chatTarget([], parameters), { ...options, ...how });
  expect(path).toBe('/chat/completions');
  return JSON.parse(body.toString());
}

function losses(
  change: Partial<CanonicalRequest>,
  parameters: string[] = [],
  flags: string[] = [],
): string[] {
  const request = chatRequest({ dialect: 'messages', ...change });
  return openaiChat
    .losses(request, chatTarget(flags, parameters))
    .map(({ class: kind, code }) => `${kind} ${code}`);
}

const user = (...content: Part[]): Partial<CanonicalRequest> => ({ messages: [{ role: 'user', content }] });
const text = (value: string): Part => ({ type: 'text', text: value });

describe('writing an OpenAI-type request', () => {
  it('streams with usage, the cap, and hashed identities only', () => {
    expect(encode({}, ['max_completion_tokens', 'store'], { user: 'h', cache_key: 'k' })).toEqual({
      model: 'fast-1-upstream',
      messages: [{ role: 'user', content: 'Hi' }],
      max_completion_tokens: 100,
      store: false,
      safety_identifier: 'h',
      prompt_cache_key: 'k',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('writes media and documents of other dialects', () => {
    const content: Part[] = [
      { type: 'image', src: { base64: 'AA', media_type: 'image/png' } },
      { type: 'document', src: { base64: 'BB', media_type: 'application/pdf' }, title: 'T' },
      { type: 'document', src: { text: 'body' }, title: 'N', context: 'c' },
      { type: 'search_result', source: 's', title: 't', content: [text('found')] },
    ];
    expect(encode(user(...content)).messages[0].content).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
      { type: 'text', text: '[document: T]' },
      { type: 'file', file: { filename: 'T', file_data: 'data:application/pdf;base64,BB' } },
      { type: 'text', text: '[document: N; c]\nbody' },
      { type: 'text', text: '[search result: t (s)]' },
      { type: 'text', text: 'found' },
    ]);
  });

  it('moves media of a tool result into a user message behind it and marks errors', () => {
    const result: Part = {
      type: 'tool_result',
      tool_call_id: 'c1',
      is_error: true,
      content: [text('broken'), { type: 'image', src: { url: 'https://e.com/a' } }],
    };
    const call: Part = { type: 'tool_call', id: 'c1', name: 'f', arguments: '{}', kind: 'function' };
    const messages: CanonicalRequest['messages'] = [
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result] },
    ];
    expect(encode({ messages }).messages).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Error: broken' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://e.com/a' } }] },
    ]);
    expect(losses({ messages })).toEqual(['behaviour tool_media_moved']);
  });

  it('sends reasoning of earlier turns only where it is listed', () => {
    const reasoning: Part = { type: 'reasoning', text: 'hm', kind: 'full', format: 'unknown' };
    const messages: CanonicalRequest['messages'] = [
      { role: 'assistant', content: [reasoning, text('a')] },
      { role: 'user', content: [text('b')] },
    ];
    expect(encode({ messages }).messages[0]).toEqual({ role: 'assistant', content: 'a' });
    expect(encode({ messages }, ['reasoning_content_in']).messages[0]).toEqual({
      role: 'assistant',
      content: 'a',
      reasoning_content: 'hm',
    });
    expect(losses({ messages })).toEqual(['hint reasoning_signature_dropped']);
    expect(losses({ messages }, ['reasoning_content_in'])).toEqual([]);
  });

  it('writes tools, choices and effort', () => {
    const tools: CanonicalRequest['tools'] = [
      { kind: 'function', name: 'f', schema: { type: 'object' }, strict: true },
      { kind: 'custom', name: 'g' },
    ];
    const written = encode({
      tools,
      tool_choice: { type: 'required', names: ['f', 'g'] },
      parallel_tools: false,
    });
    expect(written).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
        { type: 'custom', custom: { name: 'g' } },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [
            { type: 'function', function: { name: 'f' } },
            { type: 'custom', custom: { name: 'g' } },
          ],
        },
      },
      parallel_tool_calls: false,
    });
    expect(encode({ tools, tool_choice: { type: 'tool', name: 'g' } }).tool_choice).toEqual({
      type: 'custom',
      custom: { name: 'g' },
    });
    expect(encode({ tool_choice: { type: 'none' } })).not.toHaveProperty('tool_choice');
    expect(encode({ reasoning: { mode: 'enabled', max_tokens: 8_000 } }).reasoning_effort).toBe('medium');
    expect(encode({ reasoning: { mode: 'off' } }).reasoning_effort).toBe('none');
  });

  it('puts a breakpoint where the endpoint knows one, and reports none as lost elsewhere', () => {
    const content: Part[] = [{ type: 'text', text: 'a', cache: { ttl: '1h' } }];
    expect(encode(user(...content), ['prompt_cache_breakpoint']).messages[0].content).toEqual([
      { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
    ]);
    expect(encode(user(...content), ['cache_control']).messages[0].content[0].cache_control).toEqual({
      type: 'ephemeral',
      ttl: '1h',
    });
    expect(encode(user(...content)).messages[0].content).toBe('a');
    expect(losses(user(...content))).toEqual([]);
  });

  it('fits tool-call ids to endpoints that take nine characters, call and result alike', () => {
    const messages: CanonicalRequest['messages'] = [
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'toolu_01', name: 'f', arguments: '{}', kind: 'function' }],
      },
      { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'toolu_01', content: [text('r')] }] },
    ];
    const request = chatRequest({ dialect: 'messages', messages });
    const { body } = openaiChat.encode(request, chatTarget(['tool_id_9']), options);
    const [call, result] = JSON.parse(body.toString()).messages;
    expect(call.tool_calls[0].id).toMatch(/^[0-9A-Za-z]{9}$/);
    expect(result.tool_call_id).toBe(call.tool_calls[0].id);
  });
});

describe('losses on OpenAI-type endpoints', () => {
  it.each<[string, Partial<CanonicalRequest>, string[]]>([
    ['nothing special', {}, []],
    ['five stop sequences', { generation: { stop: ['1', '2', '3', '4', '5'] } }, ['content stop_too_many']],
    ['top_k', { generation: { top_k: 5 } }, ['behaviour sampling_dropped']],
    ['document text', user({ type: 'document', src: { text: 'x' } }), ['behaviour document_flattened']],
    [
      'what is inside a search result',
      user({
        ...{ type: 'search_result', source: 's', title: 't' },
        content: [{ type: 'audio', src: { base64: 'x', media_type: 'audio/flac' }, format: 'flac' }],
      }),
      ['behaviour document_flattened', 'content audio_format_unsupported'],
    ],
    [
      'document citations',
      user({ type: 'document', src: { base64: 'x', media_type: 'application/pdf' }, citations: true }),
      ['behaviour citations_unsupported'],
    ],
    [
      'flac',
      user({ type: 'audio', src: { base64: 'x', media_type: 'audio/flac' }, format: 'flac' }),
      ['content audio_format_unsupported'],
    ],
    ['video', user({ type: 'video', src: { url: 'https://e.com/v' } }), ['content video_unsupported']],
    [
      'a file elsewhere',
      user({ type: 'image', src: { file_id: 'f', family: 'anthropic_messages' } }),
      ['content file_unsupported'],
    ],
    [
      'server tool of another family',
      { tools: [{ kind: 'server', name: 'web', family: 'anthropic_messages' }] },
      ['behaviour server_tool_dropped'],
    ],
    ['prefill', { messages: [{ role: 'assistant', content: [text('a')] }] }, ['content prefill_unsupported']],
    ['unknown member', { ext: { zzz: 1 } }, ['behaviour unknown_parameter_dropped']],
    ['betas', { anthropic: { betas: ['b'] } }, ['hint beta_ignored']],
    ['tier', { service_tier: 'flex' }, ['behaviour service_tier_ignored']],
    ['audio out', { output: { modalities: ['text', 'audio'] } }, ['content modality_unsupported']],
  ])('of %s', (_name, change, expected) => {
    expect(losses(change)).toEqual(expected);
  });

  it('are none for a chat caller, whose fields go up as they are, but for the tier', () => {
    const all = { dialect: 'chat' as const, ext: { zzz: 1 }, generation: { top_k: 5 }, service_tier: 'flex' };
    expect(losses(all)).toEqual(['behaviour service_tier_ignored']);
    expect(losses(all, ['service_tier'])).toEqual([]);
  });

  it('name sampling on models that refuse it, and leave it out', () => {
    const change = { generation: { temperature: 1, top_p: 0.5 } };
    expect(losses(change, [], ['rejects_sampling'])).toEqual([
      'behaviour sampling_dropped',
      'behaviour sampling_dropped',
    ]);
    const request = chatRequest({ dialect: 'messages', ...change });
    const { body } = openaiChat.encode(request, chatTarget(['rejects_sampling']), options);
    expect(JSON.parse(body.toString())).not.toHaveProperty('temperature');
  });
});

describe('classes of OpenAI-type faults', () => {
  const of = (status: number, error: object | string, headers = {}): ReturnType<typeof classify> =>
    classify(status, headers, Buffer.from(typeof error === 'string' ? error : JSON.stringify({ error })));

  it.each<[string, number, object | string]>([
    ['context_length', 400, { message: 'too long', code: 'context_length_exceeded' }],
    ['context_length', 400, { message: "This model's maximum context length is 8192 tokens." }],
    ['context_length', 422, { message: 'prompt is too long' }],
    ['content_filter', 400, { message: 'x', code: 'content_filter' }],
    ['client', 400, { message: 'bad', type: 'invalid_request_error', param: 'messages' }],
    ['client', 422, '{"detail":[{"loc":["body"],"msg":"field required"}]}'],
    ['client', 404, { message: 'no such thing', param: 'tools' }],
    ['model_missing', 404, { message: 'The model `x` does not exist', code: 'model_not_found' }],
    ['auth', 401, { message: 'bad key' }],
    ['auth', 403, { message: 'no' }],
    ['quota', 429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }],
    ['quota', 402, { message: 'Insufficient Balance' }],
    ['rate_limit', 429, { message: 'slow down', code: 'rate_limit_exceeded' }],
    ['too_large', 413, 'x'],
    // The one request is larger than a minute's allowance: waiting does not help it, and no other call is at fault.
    [
      'too_large',
      429,
      { message: 'Request too large for gpt-4o on tokens per min (TPM): Limit 3, Requested 4.' },
    ],
    ['server', 500, { message: 'oops' }],
    ['server', 408, ''],
    ['server', 409, ''],
    ['overloaded', 503, '<html>busy</html>'],
    ['overloaded', 529, ''],
    ['overloaded', 500, { message: 'The engine is currently overloaded' }],
  ])('%s for %i %j', (kind, status, body) => {
    expect(of(status, body).class).toBe(kind);
  });

  it('keep the texts, bound them, and never take them from a page of a proxy', () => {
    expect(of(400, { message: 'm', type: 't', code: 'c', param: 'p' })).toEqual({
      class: 'client',
      status: 400,
      message: 'm',
      type: 't',
      code: 'c',
      param: 'p',
    });
    expect(of(400, { message: 'x'.repeat(5_000) }).message).toHaveLength(2_000);
    expect(of(502, '<html><body>Bad gateway</body></html>').message).toBe('');
    expect(of(400, '{"error":"just words"}').message).toBe('just words');
    expect(of(400, '[{"error":{"message":"listed"}}]').message).toBe('listed');
  });

  it('read how long to wait', () => {
    expect(of(429, {}, { 'retry-after': '2' }).retry_after_ms).toBe(2_000);
    expect(of(429, {}, { 'retry-after': '2', 'retry-after-ms': '150' }).retry_after_ms).toBe(150);
    expect(of(429, {}, { 'retry-after': 'Wed, 21 Oct 2026' }).retry_after_ms).toBeUndefined();
  });

  it('inside a stream are what the same error would be as an answer', () => {
    const inner = (error: object): unknown => streamFault({ error }).inner;
    expect(inner({ code: 429, message: 'x' })).toBe('rate_limit');
    expect(inner({ code: 'rate_limit_exceeded' })).toBe('rate_limit');
    expect(inner({ type: 'overloaded_error' })).toBe('overloaded');
    expect(inner({ type: 'server_error', message: 'x' })).toBe('server');
    expect(inner({ code: 'context_length_exceeded' })).toBe('context_length');
    expect(inner({ type: 'invalid_request_error', message: 'x' })).toBe('client');
  });
});

describe('usage', () => {
  const details = { prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 } };
  const base = {
    prompt_tokens: 100,
    completion_tokens: 20,
    completion_tokens_details: { reasoning_tokens: 8 },
    ...details,
  };

  it('is disjoint on the input side, whatever the flags say is outside', () => {
    expect(readUsage(base, [])).toMatchObject({
      input_tokens: 60,
      cache_read_tokens: 30,
      cache_write_tokens: 10,
      output_tokens: 20,
    });
    expect(readUsage(base, ['cached_outside_prompt'])).toMatchObject({
      input_tokens: 90,
      cache_read_tokens: 30,
    });
    expect(readUsage(base, ['write_outside_prompt'])).toMatchObject({
      input_tokens: 70,
      cache_write_tokens: 10,
    });
    expect(readUsage(base, ['reasoning_outside_completion'])).toMatchObject({
      output_tokens: 28,
      reasoning_tokens: 8,
    });
  });

  it('is none when the totals are no counts, so that the answer is counted instead', () => {
    for (const value of [
      null,
      5,
      {},
      { prompt_tokens: -1, completion_tokens: 2 },
      { prompt_tokens: 1.5, completion_tokens: 2 },
    ]) {
      expect(readUsage(value, [])).toBeNull();
    }
  });
});
