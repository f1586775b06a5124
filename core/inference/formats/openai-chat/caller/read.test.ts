import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../kernel/index.ts';
import { wrapState } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { chat } from './index.ts';

const hello = [{ role: 'user', content: 'Hi' }];

function read(body: object, headers: Record<string, string> = {}): CanonicalRequest {
  return chat.read({ model: 'acme/fast-1', messages: hello, ...body }, headers);
}

function refusal(body: object): [string, string | null] {
  try {
    read(body);
  } catch (error) {
    if (error instanceof ServiceError) return [error.code, error.param];
    throw error;
  }
  return ['accepted', null];
}

describe('reading a chat request', () => {
  it('reads the smallest request', () => {
    expect(read({})).toEqual({
      model: 'acme/fast-1',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      generation: {},
      stream: false,
      include_usage: false,
      svc: { route: {}, metadata: {}, compat: 'warn', provider_options: {}, reasoning: 'include' },
      dialect: 'chat',
      warnings: [],
    });
  });

  it('counts a null field as absent', () => {
    const names = [
      'max_tokens',
      'stop',
      'tools',
      'tool_choice',
      'stream',
      'stream_options',
      'response_format',
      'user',
    ];
    const more = [
      'reasoning_effort',
      'reasoning',
      'metadata',
      'store',
      'logit_bias',
      'n',
      'models',
      'zzz',
      'functions',
    ];
    const nulls = Object.fromEntries([...names, ...more].map((name) => [name, null]));
    expect(read(nulls)).toEqual(read({}));
  });

  it('reads every generation field under its own name', () => {
    const generation = {
      ...{ temperature: 0.5, top_p: 0.9, top_k: 40, min_p: 0.1, top_a: 0.2, repetition_penalty: 1.1 },
      ...{ frequency_penalty: -1, presence_penalty: 1, seed: 7, logit_bias: { 50256: -100 } },
    };
    expect(
      read({ ...generation, max_completion_tokens: 9, stop: 'x', n: 2, logprobs: true, top_logprobs: 3 })
        .generation,
    ).toEqual({ ...generation, max_tokens: 9, stop: ['x'], candidates: 2, logprobs: 3 });
    expect(read({ max_tokens: 9, max_completion_tokens: 9, logprobs: true }).generation).toEqual({
      max_tokens: 9,
      logprobs: 0,
    });
  });

  it.each([
    [{ model: null }, 'model'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [
      {
        messages: [
          ...hello,
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/a.png' } }] },
        ],
      },
      'messages[1].content[0].image_url.url',
    ],
    [{ messages: [{ role: 'tool', content: 'x', tool_call_id: 'none' }] }, 'messages[0]'],
    [{ max_tokens: 5, max_completion_tokens: 6 }, 'max_tokens'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ temperature: 3 }, 'temperature'],
    [{ n: 9 }, 'n'],
    [{ stop: Array(17).fill('x') }, 'stop'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ reasoning_effort: 'huge' }, 'reasoning_effort'],
    [{ reasoning_effort: 'low', reasoning: { effort: 'high' } }, 'reasoning'],
    [{ reasoning_effort: 'none', thinking: { type: 'enabled', budget_tokens: 2000 } }, 'thinking'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ tool_choice: { type: 'function', function: {} } }, 'tool_choice.function.name'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [{ stream: 'yes' }, 'stream'],
    [{ svc: { rout: {} } }, 'svc.rout'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  ])('refuses %j naming its path', (body, param) => {
    expect(refusal(body)).toEqual(['invalid_request', param]);
  });

  it.each([
    'models',
    'provider',
    'plugins',
    'search_parameters',
    'transforms',
    'route',
    'api_key',
    'api_base',
    'previous_response_id',
  ])('refuses the foreign field %s instead of ignoring the preference', (name) => {
    expect(refusal({ [name]: ['x'] })).toEqual(['unsupported_parameter', name]);
  });

  it('reads every kind of content part', () => {
    const content = [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      {
        type: 'image_url',
        image_url: { url: 'https://e.com/a.png' },
        prompt_cache_breakpoint: { mode: 'explicit' },
      },
      { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'video_url', video_url: { url: 'https://e.com/a.mp4' } },
      { type: 'hologram', hologram: 1 },
    ];
    expect(read({ messages: [{ role: 'user', content }] }).messages[0]!.content).toEqual([
      { type: 'text', text: 'a', cache: { ttl: '1h' } },
      { type: 'image', src: { base64: 'AAAA', media_type: 'image/png' }, detail: 'low' },
      { type: 'image', src: { url: 'https://e.com/a.png' }, cache: {} },
      { type: 'audio', src: { base64: 'BBBB', media_type: 'audio/mp3' }, format: 'mp3' },
      { type: 'document', src: { base64: 'CCCC', media_type: 'application/pdf' }, name: 'a.pdf' },
      { type: 'document', src: { file_id: 'file-1', family: 'openai_chat' } },
      { type: 'video', src: { url: 'https://e.com/a.mp4' } },
      {
        type: 'server_tool',
        family: 'openai_chat',
        name: 'hologram',
        payload: { type: 'hologram', hologram: 1 },
      },
    ]);
  });

  it('reads system and developer, names, tool calls and their results', () => {
    const messages = [
      { role: 'developer', content: 'd' },
      { role: 'user', name: 'ann', content: 'u' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'c2', type: 'custom', custom: { name: 'g', input: 'x' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'one' }] },
    ];
    expect(read({ messages }).messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'd' }], ext: { role: 'developer' } },
      { role: 'user', name: 'ann', content: [{ type: 'text', text: 'u' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}', kind: 'function' },
          { type: 'tool_call', id: 'c2', name: 'g', arguments: 'x', kind: 'custom' },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: 'c1', content: [{ type: 'text', text: 'one' }] }],
      },
    ]);
  });

  it('reads the older function form as calls with ids of its own, one at a time', () => {
    const messages = [
      { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'r1' },
      { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'r2' },
    ];
    const request = read({
      messages,
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
    });
    expect(request).toMatchObject({
      legacy_functions: true,
      parallel_tools: false,
      tool_choice: { type: 'tool', name: 'f' },
      tools: [{ kind: 'function', name: 'f', schema: { type: 'object' } }],
    });
    const ids = request.messages.flatMap(({ content }) =>
      content.map((part) => {
        if (part.type === 'tool_call') return part.id;
        return part.type === 'tool_result' ? part.tool_call_id : '';
      }),
    );
    expect(ids).toEqual(['call_f_0', 'call_f_0', 'call_f_1', 'call_f_1']);
  });

  it('reads reasoning of earlier turns with its signatures, opening our own envelopes', () => {
    const format = 'anthropic-claude-v1';
    const wrapped = wrapState({ f: 'google-gemini-v1', m: 'g', s: 'real' });
    const reasoning_details = [
      { type: 'reasoning.text', text: 'a', format, index: 0 },
      { type: 'reasoning.text', text: 'b', format, index: 0 },
      { type: 'reasoning.text', text: '', signature: 'sig', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'zz', id: 'r', format, index: 1 },
      { type: 'reasoning.summary', summary: 's', format: 'openai-responses-v1', index: 2 },
      { type: 'reasoning.text', text: 'c', signature: wrapped, format: 'unknown', index: 3 },
    ];
    const messages = [
      ...hello,
      { role: 'assistant', content: 'x', reasoning_content: 'ab', reasoning_details },
    ];
    expect(read({ messages }).messages[1]!.content).toEqual([
      { type: 'reasoning', text: 'ab', kind: 'full', signature: 'sig', format },
      { type: 'reasoning', text: '', kind: 'encrypted', data: 'zz', id: 'r', format },
      { type: 'reasoning', text: 's', kind: 'summary', format: 'openai-responses-v1' },
      { type: 'reasoning', text: 'c', kind: 'full', signature: 'real', format: 'google-gemini-v1' },
      { type: 'text', text: 'x' },
    ]);
    const plain = [...hello, { role: 'assistant', content: 'x', reasoning_content: 'ab' }];
    expect(read({ messages: plain }).messages[1]!.content[0]).toEqual({
      type: 'reasoning',
      text: 'ab',
      kind: 'full',
      format: 'unknown',
    });
  });

  it('reads the three ways to ask for reasoning', () => {
    expect(read({ reasoning_effort: 'none' }).reasoning).toEqual({ mode: 'off', effort: 'none' });
    expect(read({ reasoning: { effort: 'high', summary: 'auto' } }).reasoning).toEqual({
      effort: 'high',
      display: 'summary',
    });
    expect(read({ reasoning: { enabled: false } }).reasoning).toEqual({ mode: 'off' });
    expect(read({ thinking: { type: 'enabled', budget_tokens: 2048 } }).reasoning).toEqual({
      mode: 'enabled',
      max_tokens: 2048,
    });
    expect(read({ reasoning_effort: 'low', reasoning: { effort: 'low', max_tokens: 10 } }).reasoning).toEqual(
      {
        effort: 'low',
        max_tokens: 10,
      },
    );
    expect(read({ reasoning: { exclude: true } }).svc.reasoning).toBe('exclude');
  });

  it('reads tools and choices of every form', () => {
    const fn = {
      type: 'function',
      function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
    };
    const custom = { type: 'custom', custom: { name: 'g', format: { type: 'text' } } };
    const hosted = { type: 'browser_search' };
    expect(read({ tools: [fn, custom, hosted] }).tools).toEqual([
      { kind: 'function', name: 'f', description: 'd', schema: { type: 'object' }, strict: true },
      { kind: 'custom', name: 'g', format: { type: 'text' } },
      { kind: 'server', name: 'browser_search', family: 'openai_chat', payload: hosted },
    ]);
    const named = { type: 'function', function: { name: 'f' } };
    expect(read({ tool_choice: 'required' }).tool_choice).toEqual({ type: 'required' });
    expect(read({ tool_choice: named }).tool_choice).toEqual({ type: 'tool', name: 'f' });
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } };
    expect(read({ tool_choice: allowed }).tool_choice).toEqual({ type: 'required', names: ['f'] });
  });

  it('reads output preferences and keeps what it does not know for the raw lane', () => {
    const schema = { name: 's', schema: { type: 'object' }, strict: true };
    const request = read({
      response_format: { type: 'json_schema', json_schema: schema },
      verbosity: 'low',
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'wav' },
      prediction: { type: 'content', content: 'x' },
      zzz: 1,
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      service_tier: 'flex',
      user: 'u',
      safety_identifier: 's',
      store: true,
      stream: true,
      stream_options: { include_usage: true },
      metadata: { team: 'a' },
    });
    expect(request).toMatchObject({
      output: {
        format: { type: 'json_schema', ...schema },
        verbosity: 'low',
        modalities: ['text', 'audio'],
        audio: { voice: 'alloy' },
      },
      ext: { prediction: { type: 'content', content: 'x' }, zzz: 1, prompt_cache_retention: '24h' },
      cache: { key: 'k', hint: { ttl: '24h' } },
      service_tier: 'flex',
      user: 'u',
      stream: true,
      include_usage: true,
      warnings: [{ code: 'store_ignored' }],
    });
    expect(request.svc.metadata).toEqual({ team: 'a' });
    expect(read({ response_format: { type: 'json_object' } }).output).toEqual({ format: { type: 'json' } });
  });
});
