// The family's column of docs/compatibility.md: what is written and what is lost.
import { describe, expect, test } from 'vitest';
import { asked, codes, options, target, wire } from '../../../../../test/grammar/gemini-cases.ts';
import type { Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Part, Tool } from '../../../canonical/types.ts';
import { gemini } from './index.ts';

const say = (text: string): Part => ({ type: 'text', text });
const user = (...content: Part[]): CanonicalRequest['messages'] => [{ role: 'user', content }];
const hi = user(say('Hi'));
const call = (id: string, more: object = {}): Part => ({
  ...{ type: 'tool_call', id, name: 'look', arguments: '{"id":12345678901234567890}', kind: 'function' },
  ...more,
});
const result = (id: string, ...content: Part[]): Part => ({ type: 'tool_result', tool_call_id: id, content });
const look = (more: Partial<Tool> = {}): Tool => ({
  ...{ kind: 'function', name: 'look', description: 'Looks.', schema: { type: 'object' } },
  ...more,
});
const png: Part = { type: 'image', src: { base64: 'aWs=', media_type: 'image/png' } };

describe('the request', () => {
  test('has its model and manner in the path, and no member for either', () => {
    const path = (model: string, stream: boolean) =>
      gemini.encode(asked(), { ...target(), upstream_model: model }, { ...options, stream }).path;
    expect(path('gemini-2.5-pro', true)).toBe('/models/gemini-2.5-pro:streamGenerateContent?alt=sse');
    expect(path('gemini-2.5-pro', false)).toBe('/models/gemini-2.5-pro:generateContent');
    expect(path('tunedModels/mine', false)).toBe('/tunedModels/mine:generateContent');
    expect(path('a b?c', false)).toBe('/models/a%20b%3Fc:generateContent');
    expect(Object.keys(wire({}))).toEqual(['contents', 'generationConfig']);
  });

  test('neither user nor cache key nor metadata leaves, hashed or not', () => {
    expect(JSON.stringify(wire({ user: 'me', cache: { key: 'k' } }))).not.toContain('hash');
  });

  test("the caller's options are merged, but not over what was held for", () => {
    const generationConfig = { maxOutputTokens: 1, candidateCount: 9, topK: 3 };
    const extra = { safetySettings: [{ threshold: 'OFF' }], generationConfig };
    expect(wire({}, target(), { extra })).toMatchObject({
      safetySettings: [{ threshold: 'OFF' }],
      generationConfig: { maxOutputTokens: 4_096, topK: 3 },
    });
    expect(wire({}, target(), { extra })['generationConfig']).not.toHaveProperty('candidateCount');
  });

  test('the other spelling of the configuration adds to it instead of standing beside it', () => {
    const extra = { generation_config: { max_output_tokens: 9, top_k: 3 } };
    const sent = wire({}, target(), { extra });
    expect(sent).not.toHaveProperty('generation_config');
    expect(sent['generationConfig']).toEqual({ ...(wire({})['generationConfig'] as object), top_k: 3 });
  });
});

describe('content', () => {
  test('leading system messages become the instruction, later ones are folded and reported', () => {
    const messages: CanonicalRequest['messages'] = [
      { role: 'system', content: [say('one')] },
      { role: 'system', content: [say('two')] },
      ...hi,
      { role: 'assistant', content: [say('a')] },
      { role: 'system', content: [say('be brief')] },
      ...user(say('go')),
    ];
    expect(wire({ messages })).toMatchObject({
      systemInstruction: { parts: [{ text: 'one' }, { text: 'two' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [{ text: 'a' }] },
        { role: 'user', parts: [{ text: '[system]\nbe brief' }, { text: 'go' }] },
      ],
    });
    expect(codes({ messages })).toEqual(['behaviour:system_position_changed']);
  });

  test('a conversation of instructions alone still has a turn', () => {
    const messages: CanonicalRequest['messages'] = [{ role: 'system', content: [say('only')] }];
    expect(wire({ messages })['contents']).toEqual([{ role: 'user', parts: [{ text: 'only' }] }]);
    expect(codes({ messages })).toEqual([]);
  });

  test('adjacent turns of one role are merged, empty texts left out', () => {
    const messages = [...user(say('')), ...user(say('a')), ...user(say('b'))];
    expect(wire({ messages })['contents']).toEqual([{ role: 'user', parts: [{ text: 'a' }, { text: 'b' }] }]);
  });

  test('media are inline; a video page is an address', () => {
    const messages = user(
      png,
      { type: 'audio', src: { base64: 'AAAA', media_type: 'audio/wav' }, format: 'wav' },
      { type: 'video', src: { url: 'https://www.youtube.com/watch?v=x' } },
      { type: 'document', src: { base64: 'JVBERi0=', media_type: 'application/pdf' } },
    );
    expect(wire({ messages })['contents'][0].parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'aWs=' } },
      { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=x' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
    ]);
    expect(codes({ messages })).toEqual([]);
    expect(gemini.inlines?.('video', 'https://youtu.be/x')).toBe(false);
    expect(gemini.inlines?.('video', 'https://youtube.com.evil.example/watch?v=x')).toBe(true);
    // Else a caller could have files of the pool's account read by naming them.
    const file = 'https://generativelanguage.googleapis.com/v1beta/files/abc';
    expect(gemini.inlines?.('document', file)).toBe(true);
    expect(codes({ messages }, target({ vision: false, audio: false, pdf: false }))).toEqual([
      ...['content:image_unsupported', 'content:audio_unsupported', 'content:document_unsupported'],
    ]);
  });

  test('the file name of a document stands before it, and is nothing lost', () => {
    const src = { base64: 'JVBERi0=', media_type: 'application/pdf' };
    const messages = user({ type: 'document', src, name: 'oder.pdf' });
    expect(wire({ messages })['contents'][0].parts).toEqual([
      { text: '[document: oder.pdf]' },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
    ]);
    expect(codes({ messages })).toEqual([]);
  });

  test('documents and search results become text with a header', () => {
    const messages = user(
      { type: 'document', src: { text: 'body' }, title: 'T', context: 'C', citations: true },
      { type: 'document', src: { base64: 'Ym9keQ==', media_type: 'text/plain' } },
      { type: 'search_result', source: 'https://s.example', title: 'S', content: [say('found')] },
    );
    expect(wire({ messages })['contents'][0].parts).toEqual([
      { text: '[document: T; C]\nbody' },
      { text: '[document]\nbody' },
      { text: '[search result: S (https://s.example)]' },
      { text: 'found' },
    ]);
    expect(codes({ messages })).toEqual([
      ...['behaviour:document_flattened', 'behaviour:citations_unsupported'],
      ...['behaviour:document_flattened', 'behaviour:document_flattened'],
    ]);
  });

  test('the finest image detail goes for all', () => {
    const image = (detail: 'low' | 'high'): Part => ({ ...png, detail }) as Part;
    const low = user(image('low'));
    const both = user(image('low'), image('high'));
    expect(wire({ messages: low })['generationConfig'].mediaResolution).toBe('MEDIA_RESOLUTION_LOW');
    expect(wire({ messages: both })['generationConfig'].mediaResolution).toBe('MEDIA_RESOLUTION_HIGH');
    expect([codes({ messages: low }), codes({ messages: both })]).toEqual([
      [],
      ['hint:image_detail_dropped'],
    ]);
  });

  test("another provider's files and server tools exclude the endpoint", () => {
    const messages = user(
      { type: 'document', src: { file_id: 'f', family: 'openai_chat' } },
      { type: 'server_tool', family: 'anthropic_messages', name: 'web_search', payload: {} },
    );
    expect(codes({ messages })).toEqual(['content:file_unsupported', 'content:server_tool']);
  });
});

describe('tools', () => {
  test('are function declarations with their schema as it is', () => {
    const schema = { type: 'object', properties: { a: { const: 1 } }, additionalProperties: false };
    const body = wire({ tools: [look({ schema }), { kind: 'function', name: 'bare' }] });
    expect(body['tools']).toEqual([
      {
        functionDeclarations: [
          { name: 'look', description: 'Looks.', parametersJsonSchema: schema },
          { name: 'bare' },
        ],
      },
    ]);
    expect(body).not.toHaveProperty('toolConfig');
  });

  test.each([
    [{ type: 'auto' }, { mode: 'AUTO' }],
    [{ type: 'none' }, { mode: 'NONE' }],
    [{ type: 'required' }, { mode: 'ANY' }],
    [
      { type: 'tool', name: 'look' },
      { mode: 'ANY', allowedFunctionNames: ['look'] },
    ],
  ] as const)('choice %o', (tool_choice, expected) => {
    expect(wire({ tools: [look()], tool_choice })['toolConfig']).toEqual({ functionCallingConfig: expected });
  });

  test('the choice among some leaves the others out', () => {
    const tools = [look(), look({ name: 'other' })];
    const body = wire({ tools, tool_choice: { type: 'required', names: ['other'] } });
    expect(body['tools'][0].functionDeclarations).toMatchObject([{ name: 'other' }]);
  });

  test('are validated where all are strict; where only some are, those lose it unless a call is forced', () => {
    const strict = look({ strict: true });
    const mixed = [strict, look({ name: 'other' })];
    expect(wire({ tools: [strict] })['toolConfig'].functionCallingConfig.mode).toBe('VALIDATED');
    expect(codes({ tools: [strict] })).toEqual([]);
    expect(wire({ tools: mixed })).not.toHaveProperty('toolConfig');
    expect(codes({ tools: mixed })).toEqual(['behaviour:strict_dropped']);
    expect(codes({ tools: mixed, tool_choice: { type: 'required' } })).toEqual([]);
  });

  test('custom ones are emulated, grammars and foreign server tools exclude, own server tools go as they are', () => {
    const custom: Tool = { kind: 'custom', name: 'c' };
    expect(wire({ tools: [custom] })['tools'][0].functionDeclarations[0].parametersJsonSchema).toMatchObject({
      required: ['input'],
    });
    expect(codes({ tools: [custom] })).toEqual(['behaviour:custom_tool_emulated']);
    expect(codes({ tools: [{ ...custom, format: { type: 'grammar' } }] })).toEqual([
      'content:custom_tool_grammar',
    ]);
    const search: Tool = {
      ...{ kind: 'server', name: 'google_search', family: 'gemini', payload: { googleSearch: {} } },
    };
    expect(wire({ tools: [search, look()] })['tools']).toMatchObject([
      { functionDeclarations: [{ name: 'look' }] },
      { googleSearch: {} },
    ]);
    expect(codes({ tools: [search] })).toEqual([]);
    expect(codes({ tools: [search] }, target({ server_tools: [] }))).toEqual([
      'behaviour:server_tool_dropped',
    ]);
    expect(codes({ tools: [look()] }, target({ tools: false }))).toEqual(['content:tools_unsupported']);
  });

  test('called one at a time cannot be asked for', () => {
    expect(codes({ tools: [look()], parallel_tools: false })).toEqual(['behaviour:parallel_dropped']);
    expect(codes({ parallel_tools: false })).toEqual([]);
  });

  test('results repeat the name of their call, stand together and tell an error as one', () => {
    const messages: CanonicalRequest['messages'] = [
      ...hi,
      { role: 'assistant', content: [call('c1'), call('c2')] },
      { role: 'tool', content: [result('c1', say('one'), say('two'))] },
      { role: 'tool', content: [{ ...result('c2', say('gone')), is_error: true } as Part] },
      ...user(say('well?')),
    ];
    expect(wire({ messages })['contents'][2]).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { id: 'c1', name: 'look', response: { output: 'one\ntwo' } } },
        { functionResponse: { id: 'c2', name: 'look', response: { error: 'gone' } } },
        { text: 'well?' },
      ],
    });
    const { body } = gemini.encode(asked({ messages }), target(), options);
    expect(body.toString()).toContain('"args":{"id":12345678901234567890}');
  });

  test('media of a result stand behind all results, or inside where listed', () => {
    const messages: CanonicalRequest['messages'] = [
      ...hi,
      { role: 'assistant', content: [call('c1'), call('c2')] },
      { role: 'tool', content: [result('c1', say('see'), png)] },
      { role: 'tool', content: [result('c2', { type: 'document', src: { text: 'T' } })] },
    ];
    const inline = { inlineData: { mimeType: 'image/png', data: 'aWs=' } };
    const second = { functionResponse: { id: 'c2', response: { output: '[document]\nT' } } };
    expect(wire({ messages })['contents'][2].parts).toMatchObject([
      ...[{ functionResponse: { id: 'c1', response: { output: 'see' } } }, second, inline],
    ]);
    expect(codes({ messages })).toEqual(['behaviour:tool_media_moved', 'behaviour:document_flattened']);
    const listed = target({ parameters: ['function_response_parts'] });
    expect(wire({ messages }, listed)['contents'][2].parts).toMatchObject([
      ...[{ functionResponse: { id: 'c1', parts: [inline] } }, second],
    ]);
    expect(codes({ messages }, listed)).toEqual(['behaviour:document_flattened']);
  });

  test('arguments that are no object go below a key', () => {
    const messages = [{ role: 'assistant' as const, content: [call('c', { arguments: '[1' })] }];
    expect(wire({ messages })['contents'][0].parts[0].functionCall.args).toEqual({ arguments: '[1' });
  });
});

describe('reasoning', () => {
  const plan = (reasoning: CanonicalRequest['reasoning'], to?: Target, max_tokens = 4_096) => {
    const change = reasoning === undefined ? {} : { reasoning };
    return wire(change, to, { max_tokens })['generationConfig'].thinkingConfig;
  };
  const budgets = target({ reasoning_controls: ['budget', 'off'] });

  test('a level where the model takes levels', () => {
    expect(plan(undefined)).toBeUndefined();
    expect(plan({ effort: 'medium' })).toEqual({ thinkingLevel: 'MEDIUM', includeThoughts: true });
    expect(plan({ max_tokens: 800 })).toEqual({ thinkingLevel: 'LOW', includeThoughts: true });
    expect(plan({ mode: 'enabled' })).toEqual({ includeThoughts: true });
    expect(plan({ effort: 'low', display: 'omitted' })).toEqual({ thinkingLevel: 'LOW' });
    expect(plan({ effort: 'minimal' }, target({ parameters: ['minimal_thinking'] })).thinkingLevel).toBe(
      'MINIMAL',
    );
  });

  test.each(['minimal', 'xhigh', 'max'] as const)(
    'a level that the model lacks is adjusted and reported (%s)',
    (effort) => {
      expect(plan({ effort }).thinkingLevel).toBe(effort === 'minimal' ? 'LOW' : 'HIGH');
      expect(codes({ reasoning: { effort } })).toEqual(['behaviour:effort_adjusted']);
    },
  );

  test('a budget where it takes budgets, within what every such model takes and below the cap', () => {
    expect(plan({ effort: 'medium' }, budgets)).toEqual({ thinkingBudget: 2_048, includeThoughts: true });
    expect(plan({ max_tokens: 2_000 }, budgets).thinkingBudget).toBe(2_000);
    expect(plan({ max_tokens: 9_000 }, budgets).thinkingBudget).toBe(4_095);
    expect(plan({ max_tokens: 90_000 }, budgets, 60_000).thinkingBudget).toBe(24_576);
    expect(plan({ mode: 'enabled' }, budgets).thinkingBudget).toBe(-1);
    expect(codes({ reasoning: { max_tokens: 90_000 } }, budgets)).toEqual(['behaviour:effort_adjusted']);
  });

  test('off where it can be, else the lowest and reported', () => {
    expect(plan({ mode: 'off' }, budgets)).toEqual({ thinkingBudget: 0 });
    expect(codes({ reasoning: { mode: 'off' } }, budgets)).toEqual([]);
    expect(plan({ effort: 'none' })).toEqual({ thinkingLevel: 'LOW' });
    expect(codes({ reasoning: { effort: 'none' } })).toEqual(['behaviour:reasoning_not_disabled']);
    const plain = target({ reasoning: false, reasoning_controls: [] });
    expect([plan({ mode: 'off' }, plain), codes({ reasoning: { mode: 'off' } }, plain)]).toEqual([
      undefined,
      [],
    ]);
    expect(codes({ reasoning: { effort: 'high' } }, plain)).toEqual(['behaviour:reasoning_dropped']);
  });

  test('own thoughts are sent back in their place, signatures byte for byte; others are left out', () => {
    const thought = { type: 'reasoning', kind: 'full' } as const;
    const format = 'google-gemini-v1' as const;
    const content: Part[] = [
      { ...thought, text: 'foreign', signature: 'x', format: 'anthropic-claude-v1' },
      { ...thought, text: 'hm', format },
      { ...thought, text: '', signature: 'A+/=', format },
      say('so'),
      call('c1', { signature: 'B+/=', format }),
      call('c2'),
      { ...thought, text: '', signature: 'C+/=', format },
    ];
    const messages: CanonicalRequest['messages'] = [
      ...hi,
      { role: 'assistant', content },
      { role: 'tool', content: [result('c1'), result('c2')] },
    ];
    expect(wire({ messages })['contents'][1].parts).toMatchObject([
      { text: 'hm', thought: true },
      { text: 'so', thoughtSignature: 'A+/=' },
      { functionCall: { id: 'c1' }, thoughtSignature: 'B+/=' },
      { functionCall: { id: 'c2' } },
      { text: '', thoughtSignature: 'C+/=' },
    ]);
    expect(wire({ messages })['contents'][1].parts[3]).not.toHaveProperty('thoughtSignature');
    expect(codes({ messages })).toEqual(['hint:reasoning_signature_dropped']);
  });

  test("another model's call carries the word that stands for one, where signatures are wanted", () => {
    const messages: CanonicalRequest['messages'] = [
      ...hi,
      { role: 'assistant', content: [call('c1', { signature: 'x', format: 'unknown' }), call('c2')] },
      { role: 'tool', content: [result('c1'), result('c2')] },
    ];
    const [first, second] = wire({ messages })['contents'][1].parts;
    expect(first.thoughtSignature).toBe('skip_thought_signature_validator');
    expect(second).not.toHaveProperty('thoughtSignature');
    expect(wire({ messages }, budgets)['contents'][1].parts[0]).not.toHaveProperty('thoughtSignature');
  });
});
