import { responsesRequest, responsesTarget } from '@svc/test/grammar/openai-responses-fixtures.ts';
import { describe, expect, it } from 'vitest';
import type { EncodeOptions } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Message, Part } from '../../../canonical/types.ts';
import { openaiResponses } from './index.ts';

const options: EncodeOptions = { stream: true, max_tokens: 100, user: null, cache_key: null, extra: {} };
type Change = Parameters<typeof responsesTarget>[0];

function encode(
  change: Partial<CanonicalRequest>,
  target: Change = {},
  how: Partial<EncodeOptions> = {},
  // biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
): any {
  const request = responsesRequest({ dialect: 'messages', ...change });
  const { path, body } = openaiResponses.encode(request, responsesTarget(target), { ...options, ...how });
  expect(path).toBe('/responses');
  return JSON.parse(body.toString());
}

function losses(change: Partial<CanonicalRequest>, target: Change = {}): string[] {
  const request = responsesRequest({ dialect: 'messages', ...change });
  return openaiResponses
    .losses(request, responsesTarget(target))
    .map(({ class: kind, code, param }) => `${kind} ${code} ${param}`);
}

const text = (words: string, more: object = {}): Part => ({ type: 'text', text: words, ...more });
const user = (...content: Part[]): Message => ({ role: 'user', content });
const assistant = (...content: Part[]): Message => ({ role: 'assistant', content });
const call = (id: string, more: object = {}): Part => ({
  ...{ type: 'tool_call', id, name: 'f', arguments: '{}', kind: 'function' },
  ...more,
});
const result = (id: string, ...content: Part[]): Message => ({
  role: 'tool',
  content: [{ type: 'tool_result', tool_call_id: id, content }],
});
const sealed = (more: object = {}): Part =>
  ({
    ...{
      type: 'reasoning',
      text: 'S',
      kind: 'summary',
      data: 'gAAA',
      id: 'rs_1',
      format: 'openai-responses-v1',
    },
    ...(more as object),
  }) as Part;

describe('writing a response request', () => {
  it('is stateless, asks for encrypted reasoning, and names nobody but by hash', () => {
    expect(encode({}, {}, { user: 'h', cache_key: 'k' })).toEqual({
      model: 'fast-1-upstream',
      input: [{ type: 'message', role: 'user', content: 'Hi' }],
      max_output_tokens: 100,
      store: false,
      include: ['reasoning.encrypted_content'],
      safety_identifier: 'h',
      prompt_cache_key: 'k',
      stream: true,
    });
  });

  it('asks no model that does not reason for its reasoning, which the provider would refuse', () => {
    const target = responsesTarget();
    const plain = { ...target, capabilities: { ...target.capabilities, reasoning: false } };
    const { body } = openaiResponses.encode(responsesRequest(), plain, options);
    expect(JSON.parse(body.toString()).include).toEqual([]);
  });

  it('puts the first system message into instructions and later ones into items', () => {
    const system = (words: string): Message => ({ role: 'system', content: [text(words), text('!')] });
    const { instructions, input } = encode({ messages: [system('A'), user(text('x')), system('B')] });
    expect(instructions).toBe('A\n\n!');
    expect(input.map(({ role }: { role: string }) => role)).toEqual(['user', 'developer']);
    // Input may not be empty.
    expect(encode({ messages: [system('A')] })).toMatchObject({ input: [{ role: 'developer' }] });
  });

  it('writes media and documents', () => {
    const content: Part[] = [
      { type: 'image', src: { base64: 'AA', media_type: 'image/png' }, detail: 'low' },
      { type: 'image', src: { url: 'https://e.com/a' } },
      { type: 'document', src: { base64: 'BB', media_type: 'application/pdf' }, name: 'n.pdf' },
      { type: 'document', src: { url: 'https://e.com/b' }, title: 'T' },
      { type: 'document', src: { text: 'body' }, title: 'N', context: 'c' },
      { type: 'search_result', source: 's', title: 't', content: [text('found')] },
      { type: 'image', src: { file_id: 'file_1', family: 'openai_responses' } },
    ];
    expect(encode({ messages: [user(...content)] }).input[0].content).toEqual([
      { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
      { type: 'input_image', image_url: 'https://e.com/a', detail: 'auto' },
      { type: 'input_file', filename: 'n.pdf', file_data: 'data:application/pdf;base64,BB' },
      { type: 'input_text', text: '[document: T]' },
      { type: 'input_file', file_url: 'https://e.com/b' },
      { type: 'input_text', text: '[document: N; c]\nbody' },
      { type: 'input_text', text: '[search result: t (s)]' },
      { type: 'input_text', text: 'found' },
      { type: 'input_image', file_id: 'file_1', detail: 'auto' },
    ]);
  });

  it('writes a turn of the model as its items, in order, reasoning with its state', () => {
    const messages = [
      user(text('q')),
      assistant(
        sealed(),
        text('a', { ext: { phase: 'commentary' } }),
        text('b'),
        call('c1'),
        call('c2', { kind: 'custom', arguments: 'x' }),
      ),
      result('c1', text('r1')),
      result('c2', text('r2')),
    ];
    expect(encode({ messages }).input.slice(1)).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'S' }],
        encrypted_content: 'gAAA',
      },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'a' }],
        phase: 'commentary',
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'f', input: 'x' },
      { type: 'function_call_output', call_id: 'c1', output: 'r1' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'r2' },
    ]);
    expect(losses({ messages })).toEqual([]);
  });

  it('makes one item again of a summary and its state that a dialect carried apart', () => {
    const summary = { ...sealed(), data: undefined } as unknown as Part;
    delete (summary as { data?: string }).data;
    const state = sealed({ kind: 'encrypted', text: '' });
    expect(
      encode({ messages: [user(text('q')), assistant(summary, state, text('a')), user(text('x'))] }).input[1],
    ).toEqual({
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'S' }],
      encrypted_content: 'gAAA',
    });
  });

  it('never sends reasoning that the provider could not read', () => {
    const foreign: Part = {
      type: 'reasoning',
      text: 'T',
      kind: 'full',
      signature: 's',
      format: 'anthropic-claude-v1',
    };
    const bare: Part = {
      type: 'reasoning',
      text: 'T',
      kind: 'summary',
      id: 'rs_1',
      format: 'openai-responses-v1',
    };
    for (const part of [foreign, bare]) {
      const messages = [user(text('q')), assistant(part, text('a')), user(text('b'))];
      expect(encode({ messages }).input.map(({ type }: { type: string }) => type)).not.toContain('reasoning');
      expect(losses({ messages })).toEqual(['hint reasoning_signature_dropped messages[1].content[0]']);
    }
  });

  it('gives results as they are, media included, and marks errors', () => {
    const image: Part = { type: 'image', src: { url: 'https://e.com/a' } };
    const failed: Message = {
      role: 'tool',
      content: [{ type: 'tool_result', tool_call_id: 'c1', is_error: true, content: [text('no'), image] }],
    };
    const messages = [user(text('q')), assistant(call('c1')), failed];
    expect(encode({ messages }).input.at(-1).output).toEqual([
      { type: 'input_text', text: 'Error: no' },
      { type: 'input_image', image_url: 'https://e.com/a', detail: 'auto' },
    ]);
    expect(losses({ messages })).toEqual([]);
  });

  it('fits ids of calls and their results alike', () => {
    const id = 'x'.repeat(70);
    const { input } = encode({ messages: [user(text('q')), assistant(call(id)), result(id, text('r'))] });
    expect(input[1].call_id).toMatch(/^[0-9A-Za-z]{40}$/);
    expect(input[2].call_id).toBe(input[1].call_id);
  });

  it('writes tools flat, not strict unless they are, and choices', () => {
    const tools: CanonicalRequest['tools'] = [
      { kind: 'function', name: 'f', schema: { type: 'object' }, description: 'd' },
      { kind: 'function', name: 's', strict: true },
      {
        kind: 'custom',
        name: 'g',
        format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } },
      },
      { kind: 'server', name: 'web_search', family: 'openai_responses', payload: { type: 'web_search' } },
    ];
    const allowed = { type: 'required' as const, names: ['f', 'g'] };
    const body = encode(
      { tools, tool_choice: allowed, parallel_tools: false },
      { server_tools: ['web_search'] },
    );
    expect(body).toMatchObject({
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'g' },
        ],
      },
      parallel_tool_calls: false,
    });
    expect(body.tools).toEqual([
      { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: false },
      { type: 'function', name: 's', parameters: { type: 'object', properties: {} }, strict: true },
      { type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      { type: 'web_search' },
    ]);
    expect(encode({ tools, tool_choice: { type: 'tool', name: 's' } }).tool_choice).toEqual({
      type: 'function',
      name: 's',
    });
    expect(encode({ tool_choice: { type: 'none' } })).not.toHaveProperty('tool_choice');
  });

  it('writes effort, summary, format, verbosity and log probabilities', () => {
    const preferences: Partial<CanonicalRequest> = {
      reasoning: { mode: 'enabled', max_tokens: 8_000 },
      output: {
        format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
        verbosity: 'low',
      },
      generation: { temperature: 1, logprobs: 3 },
    };
    expect(encode(preferences)).toMatchObject({
      reasoning: { effort: 'medium', summary: 'auto' },
      text: {
        format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
        verbosity: 'low',
      },
      temperature: 1,
      top_logprobs: 3,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    });
    expect(encode({ reasoning: { mode: 'off' } }).reasoning).toEqual({ effort: 'none' });
    expect(encode({ reasoning: { effort: 'high', display: 'omitted' } }).reasoning).toEqual({
      effort: 'high',
    });
    expect(encode(preferences, { flags: ['no_reasoning_summary'] }).reasoning).toEqual({ effort: 'medium' });
    expect(encode({ output: { format: { type: 'json' } } }).text).toEqual({
      format: { type: 'json_object' },
    });
  });

  it('puts a breakpoint where the endpoint knows one', () => {
    const messages = [user(text('a', { cache: {} }))];
    const breakpoint = { parameters: ['prompt_cache_breakpoint'] };
    expect(encode({ messages }, breakpoint).input[0].content).toEqual([
      { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
    ]);
    expect(encode({ messages }).input[0].content).toBe('a');
    expect(losses({ messages })).toEqual([]);
  });

  it('takes provider options last', () => {
    expect(encode({}, {}, { extra: { truncation: 'auto' } }).truncation).toBe('auto');
  });
});

describe('losses on an endpoint of the Responses API', () => {
  const media = (part: Part): Partial<CanonicalRequest> => ({ messages: [user(part)] });
  const at = 'messages[0].content[0]';

  it.each<[string, Partial<CanonicalRequest>, string[]]>([
    ['nothing special', {}, []],
    ['stop sequences', { generation: { stop: ['x'] } }, ['content stop_unsupported stop']],
    ['candidates', { generation: { candidates: 2 } }, ['content candidates_unsupported n']],
    ['a small cap', { generation: { max_tokens: 15 } }, ['content max_tokens_too_small max_tokens']],
    [
      'no cap but warming',
      { generation: { max_tokens: 0 } },
      ['content cache_warmup_unsupported max_tokens'],
    ],
    ['top_k', { generation: { top_k: 5 } }, ['behaviour sampling_dropped top_k']],
    ['seed', { generation: { seed: 5 } }, ['behaviour sampling_dropped seed']],
    ['penalties', { generation: { frequency_penalty: 1 } }, ['behaviour sampling_dropped frequency_penalty']],
    ['logit_bias', { generation: { logit_bias: { a: 1 } } }, ['behaviour sampling_dropped logit_bias']],
    [
      'audio',
      media({ type: 'audio', src: { base64: 'x', media_type: 'audio/wav' } }),
      [`content audio_unsupported ${at}`],
    ],
    ['video', media({ type: 'video', src: { url: 'https://e.com/v' } }), [`content video_unsupported ${at}`]],
    [
      'document text',
      media({ type: 'document', src: { text: 'x' } }),
      [`behaviour document_flattened ${at}`],
    ],
    [
      'a search result',
      media({ type: 'search_result', source: 's', title: 't', content: [] }),
      [`behaviour document_flattened ${at}`],
    ],
    [
      'what is inside a search result',
      media({
        ...{ type: 'search_result', source: 's', title: 't' },
        content: [{ type: 'audio', src: { base64: 'x', media_type: 'audio/wav' } }],
      }),
      [`behaviour document_flattened ${at}`, `content audio_unsupported ${at}.content[0]`],
    ],
    [
      'document citations',
      media({ type: 'document', src: { base64: 'x', media_type: 'application/pdf' }, citations: true }),
      [`behaviour citations_unsupported ${at}`],
    ],
    [
      'a file elsewhere',
      media({ type: 'image', src: { file_id: 'f', family: 'anthropic_messages' } }),
      [`content file_unsupported ${at}`],
    ],
    [
      'a block of another family',
      media({ type: 'server_tool', family: 'gemini', name: 'x', payload: {} }),
      [`content server_tool_unsupported ${at}`],
    ],
    ['a name', { messages: [{ ...user(text('a')), name: 'bob' }] }, ['hint name_dropped messages[0].name']],
    [
      'a tool of another family',
      { tools: [{ kind: 'server', name: 'w', family: 'gemini' }] },
      ['behaviour server_tool_dropped tools[0]'],
    ],
    [
      'a tool not listed',
      {
        tools: [
          { kind: 'server', name: 'web_search', family: 'openai_responses', payload: { type: 'web_search' } },
        ],
      },
      ['behaviour server_tool_dropped tools[0].type'],
    ],
    ['prefill', { messages: [assistant(text('a'))] }, ['content prefill_unsupported messages']],
    ['an unknown member', { ext: { zzz: 1 } }, ['behaviour unknown_parameter_dropped zzz']],
    ['betas', { anthropic: { betas: ['b'] } }, ['hint beta_ignored anthropic-beta']],
    ['a tier', { service_tier: 'flex' }, ['behaviour service_tier_ignored service_tier']],
    ['audio out', { output: { modalities: ['text', 'audio'] } }, ['content modality_unsupported modalities']],
  ])('of %s', (_name, change, expected) => {
    expect(losses(change)).toEqual(expected);
  });

  it('are fewer where an endpoint lists more', () => {
    const preferences = { generation: { stop: ['x'], top_k: 1, max_tokens: 5 }, service_tier: 'flex' };
    expect(
      losses(preferences, { parameters: ['stop', 'top_k', 'service_tier'], flags: ['small_cap'] }),
    ).toEqual([]);
  });

  it('name sampling on models that refuse it, and leave it out', () => {
    const change = { generation: { temperature: 1, top_p: 0.5 } };
    const target = { flags: ['rejects_sampling'] };
    expect(losses(change, target)).toHaveLength(2);
    expect(losses({ ...change, dialect: 'responses' }, target)).toHaveLength(2);
    expect(encode(change, target)).not.toHaveProperty('temperature');
  });

  it('are few for a caller of the same dialect, whose fields go up as they are', () => {
    const all = { dialect: 'responses' as const, ext: { zzz: 1 }, generation: { max_tokens: 5 } };
    expect(losses(all)).toEqual([]);
    const bare: Part = { type: 'reasoning', text: '', kind: 'summary', format: 'unknown' };
    expect(losses({ ...all, messages: [assistant(bare)] })).toEqual([
      'hint reasoning_signature_dropped input',
    ]);
    const hosted = {
      kind: 'server' as const,
      name: 'mcp',
      family: 'openai_responses' as const,
      payload: { type: 'mcp' },
    };
    expect(losses({ ...all, tools: [hosted] })).toEqual(['behaviour server_tool_dropped tools[0].type']);
    const local = {
      ...hosted,
      name: 'local_shell',
      payload: { type: 'local_shell' },
      by_caller: true as const,
    };
    expect(losses({ ...all, tools: [local] })).toEqual([]);
  });
});
