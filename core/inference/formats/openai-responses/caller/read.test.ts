// Every member of a responses request but `input`.
import { describe, expect, test } from 'vitest';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { chat } from '../../openai-chat/caller/index.ts';
import { responses } from './index.ts';
import { withResponses } from './on-chat.ts';

type Json = Record<string, unknown>;
const base = { model: 'a/b', input: 'Hi' };

function read(change: Json = {}, headers: Record<string, string> = {}): CanonicalRequest {
  return responses.read({ ...base, ...change }, headers);
}

function refusal(change: Json, headers: Record<string, string> = {}): unknown {
  try {
    read(change, headers);
  } catch (error) {
    return error;
  }
  return expect.fail('was accepted');
}

const user = { role: 'user', content: 'Hi' };

describe('what needs a stored conversation', () => {
  test.each<[string, Json]>([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: { id: 'conv_1' } }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['background', { background: true }],
    ['input[1]', { input: [user, { type: 'item_reference', id: 'msg_1' }] }],
    ['input[0]', { input: [{ id: 'msg_1' }] }],
  ])('%s is refused', (param, change) => {
    expect(refusal(change)).toMatchObject({
      ...{ code: 'unsupported_parameter', param, details: { reason: 'stateless' } },
    });
  });

  test('reasoning that is only referred to is left out, as clients that count on a store refer to it', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
    const result = { type: 'function_call_output', call_id: 'c1', output: 'ok' };
    const { messages } = read({ input: [user, { type: 'item_reference', id: 'rs_1' }, call, result] });
    expect(messages[1]?.content.map((part) => [part.type, 'text' in part ? part.text : null])).toEqual([
      ['reasoning', ''],
      ['tool_call', null],
    ]);
  });

  test('store true is reported, background false is nothing', () => {
    expect(read({ store: true }).warnings.map(({ code }) => code)).toEqual(['store_ignored']);
    expect(read({ store: false, background: false }).warnings).toEqual([]);
  });
});

test('include: state and logprobs are ours, what only the family can add is kept for it, the rest refused', () => {
  expect(read({ include: ['reasoning.encrypted_content'] }).echo?.encrypted_reasoning).toBe(true);
  expect(read().echo?.encrypted_reasoning).toBe(false);
  expect(read({ include: ['message.output_text.logprobs'] }).generation).toEqual({ logprobs: 0 });
  const raw = [
    'web_search_call.action.sources',
    'computer_call_output.output.image_url',
    'message.input_image.image_url',
  ];
  expect(read({ include: raw }).ext).toEqual({ include: raw });
  expect(refusal({ include: ['reasoning.encrypted_content', 'all'] })).toMatchObject({
    ...{ code: 'unsupported_parameter', param: 'include[1]' },
  });
});

describe('generation', () => {
  test('cap, sampling and log probabilities', () => {
    const given = { max_output_tokens: 100, temperature: 1.5, top_p: 0.5, top_logprobs: 3 };
    expect(read(given).generation).toEqual({ max_tokens: 100, temperature: 1.5, top_p: 0.5, logprobs: 3 });
    expect(read({ top_logprobs: 0 }).generation).toEqual({});
  });

  test.each([
    ['max_output_tokens', 0],
    ['max_output_tokens', 1.5],
    ['temperature', 2.1],
    ['top_p', -1],
    ['top_logprobs', 21],
    ['parallel_tool_calls', 'yes'],
    ['stream', 'yes'],
    ['user', 5],
    ['service_tier', 5],
    ['truncation', 'middle'],
    ['instructions', ['x']],
    ['include', 'all'],
    ['stream_options', 5],
  ])('%s = %j is refused', (param, value) => {
    expect(refusal({ [param]: value })).toMatchObject({ code: 'invalid_request', param });
  });

  test('reasoning: effort and summary are preferences, context and mode are kept for the family', () => {
    expect(read({ reasoning: { effort: 'high', summary: 'auto' } }).reasoning).toEqual({
      ...{ effort: 'high', display: 'summary' },
    });
    expect(read({ reasoning: { effort: 'none' } }).reasoning).toEqual({ effort: 'none', mode: 'off' });
    expect(read({ reasoning: { generate_summary: 'concise' } }).reasoning).toEqual({ display: 'summary' });
    expect(read({ reasoning: { context: 'all', mode: 'x' } })).toMatchObject({
      ext: { reasoning: { context: 'all', mode: 'x' } },
    });
    expect(refusal({ reasoning: { effort: 'huge' } })).toMatchObject({ param: 'reasoning.effort' });
  });

  test('text: format and verbosity, and what of them has no name here', () => {
    const schema = { type: 'object' };
    expect(
      read({ text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema, strict: true } } })
        .output,
    ).toEqual({ verbosity: 'low', format: { type: 'json_schema', name: 'n', schema, strict: true } });
    expect(read({ text: { format: { type: 'json_object' } } }).output).toEqual({ format: { type: 'json' } });
    expect(read({ text: { format: { type: 'text' } } }).output).toEqual({ format: { type: 'text' } });
    expect(read({ text: { format: { type: 'json_schema', name: 'n', description: 'd' } } }).ext).toEqual({
      text: { format: { description: 'd' } },
    });
    expect(refusal({ text: { format: { type: 'xml' } } })).toMatchObject({ param: 'text.format.type' });
    expect(refusal({ text: { format: { type: 'json_schema' } } })).toMatchObject({
      param: 'text.format.name',
    });
    expect(refusal({ text: 'x' })).toMatchObject({ param: 'text' });
  });

  test('truncation disabled is how it is anyway; auto is the family’s own', () => {
    expect(read({ truncation: 'disabled' })).not.toHaveProperty('ext');
    expect(read({ truncation: 'auto' }).ext).toEqual({ truncation: 'auto' });
  });

  test('cache key and retention are hints', () => {
    expect(read({ prompt_cache_key: 'k', prompt_cache_retention: '24h' })).toMatchObject({
      cache: { key: 'k', hint: { ttl: '24h' } },
    });
    expect(read({ prompt_cache_options: { ttl: '30m' } }).cache).toEqual({ hint: { ttl: '30m' } });
    expect(read({ prompt_cache_key: 'k' })).not.toHaveProperty('ext');
  });

  test('fields of other surfaces go where they belong', () => {
    const given = { user: 'u', safety_identifier: 's', service_tier: 'flex', parallel_tool_calls: false };
    expect(read(given)).toMatchObject({ user: 'u', service_tier: 'flex', parallel_tools: false });
    expect(read({ safety_identifier: 's' }).user).toBe('s');
    expect(read({ max_tool_calls: 3, moderation: {}, context_management: [], odd: 1 }).ext).toEqual({
      ...{ max_tool_calls: 3, moderation: {}, context_management: [], odd: 1 },
    });
    for (const name of ['api_key', 'base_url', 'extra_headers']) {
      expect(refusal({ [name]: 'x' })).toMatchObject({ code: 'unsupported_parameter', param: name });
    }
    expect(refusal({ provider: {} })).toMatchObject({ code: 'unsupported_parameter', param: 'provider' });
  });
});

describe('tools', () => {
  test('the flat form: function, custom, and hosted tools for their own family', () => {
    const hosted = { type: 'web_search', search_context_size: 'low' };
    const { tools } = read({
      tools: [
        {
          type: 'function',
          name: 'f',
          description: 'd',
          parameters: { type: 'object' },
          strict: null,
          async: true,
        },
        { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
        hosted,
      ],
    });
    expect(tools).toEqual([
      { kind: 'function', name: 'f', description: 'd', schema: { type: 'object' }, ext: { async: true } },
      { kind: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      {
        ...{ kind: 'server', name: 'web_search', family: 'openai_responses', payload: hosted },
        search: { context: 'low' },
      },
    ]);
  });

  test.each<[unknown, unknown]>([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    [
      { type: 'function', name: 'f' },
      { type: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', name: 'c' },
      { type: 'tool', name: 'c' },
    ],
    [{ type: 'web_search' }, { type: 'tool', name: 'web_search' }],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }, { type: 'mcp' }] },
      { type: 'required', names: ['f', 'mcp'] },
    ],
  ])('tool_choice %j', (given, meant) => {
    expect(read({ tool_choice: given }).tool_choice).toEqual(meant);
  });

  test.each<[Json, string]>([
    [{ tools: {} }, 'tools'],
    [{ tools: [{ name: 'f' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ tools: [{ type: 'function', name: 'f', parameters: 'x' }] }, 'tools[0].parameters'],
    [{ tool_choice: 'maybe' }, 'tool_choice'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'allowed_tools', tools: [{}] } }, 'tool_choice.tools[0].type'],
  ])('%j is refused', (change, param) => {
    expect(refusal(change)).toMatchObject({ code: 'invalid_request', param });
  });
});

test('svc, metadata and the headers that stand in for them', () => {
  const request = read(
    { metadata: { a: '1', b: '1' }, svc: { metadata: { b: '2' }, compat: 'strict' } },
    {
      'x-svc-app': 'app',
      'x-svc-session': 's',
      'x-svc-route': '{"sort":"price"}',
      'x-svc-metadata': '{"c":"3"}',
    },
  );
  expect(request.svc).toMatchObject({
    ...{ metadata: { a: '1', b: '2', c: '3' }, compat: 'strict', app: 'app', session: 's' },
    route: { sort: 'price' },
  });
  expect(refusal({ svc: { rout: {} } })).toMatchObject({ param: 'svc.rout' });
});

test('what the reply repeats is as sent, with defaults for the rest, and nothing of the input', () => {
  const tools = [{ type: 'function', name: 'f', parameters: null, strict: true }];
  expect(read({ instructions: 'I', tools, text: { verbosity: 'low' }, user: 'u' }).echo?.members).toEqual({
    ...{
      instructions: 'I',
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      parallel_tool_calls: true,
    },
    ...{ prompt_cache_key: null, reasoning: { effort: null, summary: null }, safety_identifier: null },
    ...{
      temperature: null,
      text: { verbosity: 'low', format: { type: 'text' } },
      tool_choice: 'auto',
      tools,
    },
    ...{ top_logprobs: 0, top_p: null, truncation: 'disabled', user: 'u' },
  });
});

describe('sent to chat completions', () => {
  const both = withResponses(chat);

  test('a body with input and no messages is read here, request for usage included', () => {
    const body = { ...base, instructions: 'I', stream: true, stream_options: { include_usage: true } };
    const request = both.read(body, {});
    expect(request).toMatchObject({ dialect: 'responses', include_usage: true, stream: true });
    expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('messages win where both are there', () => {
    const request = both.read({ ...base, messages: [user] }, {});
    expect(request).toMatchObject({ dialect: 'chat', ext: { input: 'Hi' } });
  });

  test('neither is reported as a chat fault', () => {
    expect(() => both.read({ model: 'a/b' }, {})).toThrow("'messages' is required.");
  });
});
