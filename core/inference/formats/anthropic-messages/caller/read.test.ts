// Every member of a messages request: what it becomes, and what is refused.
import { describe, expect, test } from 'vitest';
import { wrapState } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { parseExact } from '../../../wire/exact.ts';
import { messagesDialect } from './index.ts';

const base = { model: 'a/b', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };

function read(change: Record<string, unknown> = {}, headers: Record<string, string> = {}): CanonicalRequest {
  return messagesDialect.read({ ...base, ...change }, headers);
}

function refusal(change: Record<string, unknown>, headers: Record<string, string> = {}): unknown {
  try {
    read(change, headers);
  } catch (error) {
    return error;
  }
  return expect.fail('was accepted');
}

function user(...content: unknown[]): Record<string, unknown> {
  return { messages: [{ role: 'user', content }] };
}

const call = { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } };
const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' };

describe('messages', () => {
  test('a string is one text part, null fields count as absent', () => {
    const request = read({ system: null, tools: null, stream: null, temperature: null, thinking: null });
    expect(request.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
    expect(request).toMatchObject({ stream: false, generation: { max_tokens: 100 } });
    expect(request).not.toHaveProperty('ext');
  });

  test('system and role system become system messages', () => {
    const request = read({
      system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [...base.messages, { role: 'system', content: 'later' }, { role: 'user', content: 'go' }],
    });
    expect(request.messages.map((message) => message.role)).toEqual(['system', 'user', 'system', 'user']);
    expect(request.messages[0]?.content[0]).toMatchObject({ cache: { ttl: '1h' } });
  });

  test('images and documents keep source, title, context and citations', () => {
    const [message] = read(
      user(
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'T' },
          title: 'D',
          context: 'C',
        },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
          citations: { enabled: true },
        },
        {
          type: 'document',
          source: {
            type: 'content',
            content: [
              { type: 'text', text: 'one' },
              { type: 'text', text: 'two' },
            ],
          },
        },
        { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'r' }] },
      ),
    ).messages;
    expect(message?.content).toEqual([
      { type: 'image', src: { base64: 'AAAA', media_type: 'image/png' } },
      { type: 'image', src: { url: 'https://x.example/a.png' } },
      { type: 'document', src: { text: 'T' }, title: 'D', context: 'C' },
      { type: 'document', src: { base64: 'JVBE', media_type: 'application/pdf' }, citations: true },
      expect.objectContaining({ type: 'document', src: { text: 'one\ntwo' } }),
      { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'r' }] },
    ]);
  });

  test('a result goes before the rest of its turn and knows the name of its call', () => {
    const request = read({
      messages: [
        ...base.messages,
        { role: 'assistant', content: [call] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and' },
            { ...result, is_error: true },
          ],
        },
      ],
    });
    expect(request.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 't1', name: 'f', arguments: '{"a":1}', kind: 'function' }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool_result',
            tool_call_id: 't1',
            name: 'f',
            content: [{ type: 'text', text: 'ok' }],
            is_error: true,
          },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'and' }] },
    ]);
  });

  test.each([
    ['an orphan result', [{ role: 'user', content: [result] }], 'messages[0].content[0].tool_use_id'],
    [
      'a missing result',
      [{ role: 'assistant', content: [call] }, ...base.messages],
      'messages[0].content[0]',
    ],
    [
      'a call that ends the history',
      [...base.messages, { role: 'assistant', content: [call] }],
      'messages[1].content[0]',
    ],
    [
      'a late result',
      [
        { role: 'assistant', content: [call] },
        ...base.messages,
        { role: 'assistant', content: 'x' },
        { role: 'user', content: [result] },
      ],
      'messages[0].content[0]',
    ],
    [
      'a second result',
      [
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result, result] },
      ],
      'messages[1].content[1].tool_use_id',
    ],
  ])('%s is refused before any hold', (_name, messages, param) => {
    expect(refusal({ messages })).toMatchObject({ code: 'invalid_request', param });
  });

  test('results of one turn may come in several messages and any order', () => {
    const second = { ...call, id: 't2' };
    expect(
      read({
        messages: [
          { role: 'assistant', content: [call] },
          { role: 'assistant', content: [second] },
          { role: 'user', content: [{ ...result, tool_use_id: 't2' }] },
          { role: 'user', content: [result] },
        ],
      }).messages.map(({ role, content }) => [role, content.length]),
    ).toEqual([
      ['assistant', 2],
      ['tool', 1],
      ['tool', 1],
    ]);
  });

  test('reasoning keeps its signature; an envelope gives back what it holds', () => {
    const foreign = wrapState({ f: 'openai-responses-v1', m: 'o', d: 'enc', i: 'rs_1' });
    const gemini = wrapState({ f: 'google-gemini-v1', m: 'g', s: 'gsig', t: 't1' });
    const [turn] = read({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'own', signature: 'Eq==' },
            { type: 'redacted_thinking', data: 'sealed' },
            { type: 'thinking', thinking: 'summary', signature: foreign },
            { type: 'redacted_thinking', data: foreign },
            { type: 'thinking', thinking: 'bare', signature: '' },
            { type: 'thinking', thinking: '', signature: gemini },
            call,
          ],
        },
        { role: 'user', content: [result] },
      ],
    }).messages;
    expect(turn?.content).toEqual([
      { type: 'reasoning', text: 'own', kind: 'full', signature: 'Eq==', format: 'anthropic-claude-v1' },
      { type: 'reasoning', text: '', kind: 'encrypted', data: 'sealed', format: 'anthropic-claude-v1' },
      {
        type: 'reasoning',
        text: 'summary',
        kind: 'summary',
        data: 'enc',
        id: 'rs_1',
        format: 'openai-responses-v1',
      },
      {
        type: 'reasoning',
        text: '',
        kind: 'encrypted',
        data: 'enc',
        id: 'rs_1',
        format: 'openai-responses-v1',
      },
      { type: 'reasoning', text: 'bare', kind: 'full', format: 'unknown' },
      expect.objectContaining({ type: 'tool_call', signature: 'gsig', format: 'google-gemini-v1' }),
    ]);
  });

  test('server-tool blocks and unknown blocks stay whole for their family', () => {
    const block = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
    const [turn] = read({ messages: [{ role: 'assistant', content: [block, { type: 'sonnet' }] }] }).messages;
    expect(turn?.content).toEqual([
      { type: 'server_tool', family: 'anthropic_messages', name: 'web_search_tool_result', payload: block },
      { type: 'server_tool', family: 'anthropic_messages', name: 'sonnet', payload: { type: 'sonnet' } },
    ]);
  });

  test('the fifth cache breakpoint is refused, wherever the others stand', () => {
    const cache_control = { type: 'ephemeral' };
    const text = { type: 'text', text: 'x', cache_control };
    const tools = [{ name: 'f', input_schema: {}, cache_control }];
    expect(read({ cache_control, tools, system: [text], ...user(text) }).cache).toEqual({ hint: {} });
    expect(refusal({ cache_control, tools, system: [text], ...user(text, text) })).toMatchObject({
      code: 'invalid_request',
      param: 'messages[0].content[1].cache_control',
    });
    expect(refusal(user({ ...text, cache_control: { type: 'ephemeral', ttl: '2h' } }))).toMatchObject({
      param: 'messages[0].content[0].cache_control.ttl',
    });
  });
});

describe('state of a provider account', () => {
  const file = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
  test.each([
    [user(file), 'messages[0].content[0].source.file_id'],
    [user({ type: 'container_upload', file_id: 'f' }), 'messages[0].content[0].file_id'],
    [{ container: 'cont_1' }, 'container'],
    [{ container: { id: 'cont_1' } }, 'container.id'],
    [{ billing_policy: {} }, 'billing_policy'],
  ])('needs the caller’s own provider key: %j', (change, param) => {
    expect(refusal(change)).toMatchObject({ code: 'unsupported_parameter', param });
    expect(read({ ...change, svc: { route: { byok: 'only' } } }).model).toBe('a/b');
  });

  test('thread is refused with the details by which tool runners fall back', () => {
    const error = refusal({ thread: { id: 't' }, messages: [{ role: 'user', content: [result] }] });
    expect(
      messagesDialect.error(error as never, { request_id: 'R', base_url: 'https://llm.example' }),
    ).toMatchObject({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'unsupported_parameter',
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      },
      request_id: 'R',
    });
    const own = {
      thread: {},
      svc: { route: { byok: 'only' } },
      messages: [{ role: 'user', content: [result] }],
    };
    expect(read(own).ext).toEqual({ thread: {} });
  });

  test('account headers are kept for the own key, else reported as ignored, refused when strict', () => {
    const headers = { 'anthropic-workspace-id': 'wrk_1' };
    expect(read({}, headers).warnings).toMatchObject([
      { code: 'beta_ignored', param: 'anthropic-workspace-id' },
    ]);
    expect(refusal({ svc: { compat: 'strict' } }, headers)).toMatchObject({ code: 'unsupported_parameter' });
    expect(read({ svc: { route: { byok: 'only' } } }, headers).anthropic?.headers).toEqual(headers);
  });

  test.each(['models', 'provider', 'plugins', 'transforms', 'route'])(
    '%s of another gateway is refused',
    (name) => {
      expect(refusal({ [name]: {} })).toMatchObject({ code: 'unsupported_parameter', param: name });
    },
  );
});

describe('preferences', () => {
  test.each([
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { mode: 'enabled', max_tokens: 2000 }],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, { mode: 'adaptive', display: 'omitted' }],
    [{ thinking: { type: 'disabled' } }, { mode: 'off' }],
    [{ thinking: { type: 'between_tools' } }, { mode: 'between_tools' }],
    [{ output_config: { effort: 'xhigh' } }, { effort: 'xhigh' }],
  ])('reasoning %j', (change, preferences) => {
    expect(read(change).reasoning).toEqual(preferences);
  });

  test('tools, choice and output contract', () => {
    const request = read({
      tools: [
        { name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true, defer_loading: true },
        { type: 'bash_20250124', name: 'bash' },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } }, task_budget: 1 },
    });
    expect(request).toMatchObject({
      tools: [
        {
          kind: 'function',
          name: 'f',
          schema: { type: 'object' },
          strict: true,
          ext: { defer_loading: true },
        },
        { kind: 'server', name: 'bash', family: 'anthropic_messages' },
      ],
      tool_choice: { type: 'required' },
      parallel_tools: false,
      output: { format: { type: 'json_schema', schema: { type: 'object' } } },
      ext: { output_config: { task_budget: 1 } },
    });
  });

  test('user, tier, region, version and betas', () => {
    const request = read(
      { metadata: { user_id: 'u' }, service_tier: 'auto', inference_geo: 'us', cache_control: null, odd: 1 },
      { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a-1, b-2,a-1' },
    );
    expect(request).toMatchObject({
      user: 'u',
      service_tier: 'auto',
      svc: { route: { require: { regions: ['us'] } } },
      anthropic: { version: '2023-06-01', betas: ['a-1', 'b-2'] },
      ext: { odd: 1 },
    });
    expect(read({ speed: 'fast' }).service_tier).toBe('fast');
    expect(read({ service_tier: 'standard_only' }).service_tier).toBe('default');
  });

  test('a region outside those required can never be served', () => {
    const svc = { route: { require: { regions: ['eu'] } } };
    expect(refusal({ inference_geo: 'us', svc })).toMatchObject({ param: 'inference_geo' });
    expect(refusal({ inference_geo: 'Mars!' })).toMatchObject({ param: 'inference_geo' });
  });

  test.each([
    [{ max_tokens: null }, 'max_tokens'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ model: 7 }, 'model'],
    [{ messages: [] }, 'messages'],
    [{ messages: {} }, 'messages'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ system: [{ type: 'image', source: { type: 'url', url: 'https://x.example' } }] }, 'system[0].type'],
    [{ tools: [{ name: 'f' }] }, 'tools[0].input_schema'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ stop_sequences: [1] }, 'stop_sequences[0]'],
    [{ svc: { compta: 'drop' } }, 'svc.compta'],
  ])('%j is refused at %s', (change, param) => {
    expect(refusal(change)).toMatchObject({ code: 'invalid_request', param });
  });

  test('a version that is no date is refused', () => {
    expect(refusal({}, { 'anthropic-version': 'latest' })).toMatchObject({ param: 'anthropic-version' });
  });

  test('max_tokens 0 warms the cache', () => {
    expect(read({ max_tokens: 0 }).generation.max_tokens).toBe(0);
  });
});

test('numbers that no double holds survive a parse and a stringify', () => {
  const text =
    '{"a":12345678901234567890,"b":0.1,"c":1e400,"d":1.0,"e":0.30000000000000004,"f":-9007199254740993}';
  expect(JSON.stringify(parseExact(text))).toBe(
    '{"a":12345678901234567890,"b":0.1,"c":1e400,"d":1,"e":0.30000000000000004,"f":-9007199254740993}',
  );
});
