// Column `bedrock_converse` of docs/compatibility.md: what is written, and what is named as lost.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Part } from '../../../canonical/types.ts';
import { conversePath, encodeRequest } from './encode.ts';
import { findLosses } from './losses.ts';
import { cleanName } from './media.ts';
import { requestOf, saying, targetOf } from './test-kit.ts';

const options: EncodeOptions = { stream: true, max_tokens: null, user: null, cache_key: null, extra: {} };

function sent(request: CanonicalRequest, target = targetOf(), more: Partial<EncodeOptions> = {}): JsonObject {
  return JSON.parse(encodeRequest(request, target, { ...options, ...more }).body.toString()) as JsonObject;
}
function textOf(request: CanonicalRequest, target = targetOf()): string {
  return encodeRequest(request, target, options).body.toString();
}
function lost(request: CanonicalRequest, target: Target = targetOf()): string[] {
  return findLosses(request, target).map((loss) => `${loss.class} ${loss.code} ${loss.param}`);
}
const text = (words: string, more: object = {}): Part => ({ type: 'text', text: words, ...more });
const png = { base64: 'aGk=', media_type: 'image/png' };
const other = targetOf({}, { upstream_model: 'meta.llama3-70b-instruct-v1:0' });

test('options of the caller leave the output cap as it was held for', () => {
  const extra = { inferenceConfig: { topP: 0.5, maxTokens: 9_000 } };
  expect(sent(requestOf(), targetOf(), { max_tokens: 10, extra })['inferenceConfig']).toEqual({
    maxTokens: 10,
    topP: 0.5,
  });
});

test('thousands of documents of one name take no longer to name than to write', () => {
  const document: Part = { type: 'document', src: { text: 'x' }, name: 'same' };
  const started = performance.now();
  sent(saying(Array.from({ length: 50_000 }, () => document)));
  expect(performance.now() - started).toBeLessThan(5_000);
});

describe('messages', () => {
  test('an id with colons and slashes is one segment of the path', () => {
    expect(conversePath('arn:aws:bedrock:x/y:0', false)).toBe(
      '/model/arn%3Aaws%3Abedrock%3Ax%2Fy%3A0/converse',
    );
  });

  test('leading instructions are the system; later ones stay where the model lists the role, else are folded', () => {
    const request = requestOf({
      messages: [
        { role: 'system', content: [text('first')] },
        { role: 'user', content: [text('Hi')] },
        { role: 'system', content: [text('later')] },
      ],
    });
    expect(sent(request)).toMatchObject({
      system: [{ text: 'first' }],
      messages: [{ role: 'user', content: [{ text: 'Hi' }, { text: '[system]\nlater' }] }],
    });
    expect(lost(request)).toEqual(['behaviour system_position_changed messages[2]']);
    const listed = targetOf({ parameters: ['system_role'] });
    expect(sent(request, listed)['messages']).toMatchObject([{ role: 'user' }, { role: 'system' }]);
    expect(lost(request, listed)).toEqual([]);
  });

  test('adjacent turns are merged, results stand first, text without a visible character is left out', () => {
    const request = requestOf({
      messages: [
        { role: 'user', content: [text('a'), text(' \n')] },
        { role: 'user', content: [text('b')] },
        {
          role: 'assistant',
          content: [{ type: 'tool_call', id: 'c', name: 'f', arguments: '', kind: 'function' }],
        },
        { role: 'user', content: [text('and')] },
        {
          role: 'tool',
          content: [{ type: 'tool_result', tool_call_id: 'c', content: [text('ok')], is_error: true }],
        },
      ],
      tools: [{ kind: 'function', name: 'f' }],
    });
    expect(sent(request)['messages']).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c', name: 'f', input: {} } }] },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c', content: [{ text: 'ok' }], status: 'error' } },
          { text: 'and' },
        ],
      },
    ]);
    expect(lost(request)).toEqual([]);
  });

  test('arguments keep their digits, and ids that the pattern refuses change alike in call and result', () => {
    const id = 'call.1/2';
    const request = requestOf({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'tool_call', id, name: 'f', arguments: '{"n":9007199254740993}', kind: 'function' },
          ],
        },
        { role: 'tool', content: [{ type: 'tool_result', tool_call_id: id, content: [] }] },
      ],
      tools: [{ kind: 'function', name: 'f' }],
    });
    const wire = textOf(request);
    expect(wire).toContain('{"n":9007199254740993}');
    const ids = [...wire.matchAll(/"toolUseId":"([^"]+)"/g)].map((match) => match[1]);
    expect(ids[0]).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(ids).size).toBe(1);
  });

  test('images, audio, video and documents are bytes with a format; addresses are fetched before', () => {
    const parts: Part[] = [
      { type: 'image', src: png, detail: 'high' },
      { type: 'audio', src: { base64: 'QQ==', media_type: 'audio/wav' }, format: 'mp3' },
      { type: 'video', src: { base64: 'QQ==', media_type: 'video/3gpp' } },
      {
        type: 'document',
        src: { base64: 'QQ==', media_type: 'application/pdf' },
        name: 'a.pdf',
        citations: true,
      },
      { type: 'document', src: { text: 'words' }, title: 'a', context: 'why' },
    ];
    expect(sent(saying(parts))['messages']).toEqual([
      {
        role: 'user',
        content: [
          { text: '[document]' },
          { image: { format: 'png', source: { bytes: 'aGk=' } } },
          { audio: { format: 'mp3', source: { bytes: 'QQ==' } } },
          { video: { format: 'three_gp', source: { bytes: 'QQ==' } } },
          { document: { name: 'a', format: 'pdf', source: { bytes: 'QQ==' }, citations: { enabled: true } } },
          { document: { name: 'a 2', format: 'txt', source: { text: 'words' }, context: 'why' } },
        ],
      },
    ]);
    expect(lost(saying(parts))).toEqual(['hint image_detail_dropped messages[0].content[0].detail']);
    expect(lost(saying([{ type: 'image', src: { url: 'https://x.test/a.png' } }]))).toEqual([]);
  });

  test.each([
    ['Q3 report_final (v1.2).pdf', 'Q3 report-final (v1-2)'],
    ['  Grüße\n\n[draft]  ', 'Gruse [draft]'],
    ['日本語', 'document'],
    ['../../etc/passwd', 'etc-passwd'],
  ])('the name of a document %j becomes %j', (name, clean) => {
    expect(cleanName(name)).toMatch(/^(?!.*\s\s)[a-zA-Z0-9\s\-()[\]]{1,100}$/);
    if (name.includes('ß')) expect(cleanName(name)).toMatch(/^Gru-e \[draft\]$/);
    else expect(cleanName(name)).toBe(clean);
  });

  test('what an endpoint or the provider cannot take is content that would vanish', () => {
    const bare = targetOf({ vision: false, audio: false, pdf: false, parameters: [] });
    const media = (part: Part) => lost(saying([part]), bare)[0];
    expect(media({ type: 'image', src: png })).toBe('content image_unsupported messages[0].content[0]');
    expect(media({ type: 'audio', src: png })).toMatch(/^content audio_unsupported/);
    expect(media({ type: 'video', src: png })).toMatch(/^content video_unsupported/);
    const pdf = { base64: 'QQ==', media_type: 'application/pdf' };
    expect(media({ type: 'document', src: pdf })).toMatch(/^content document_unsupported/);
    expect(lost(saying([{ type: 'image', src: { base64: 'QQ==', media_type: 'image/tiff' } }]))).toEqual([
      'content image_format_unsupported messages[0].content[0]',
    ]);
    expect(lost(saying([{ type: 'image', src: { file_id: 'f', family: 'openai_chat' } }]))[0]).toMatch(
      /^content file_/,
    );
    expect(lost(saying([{ type: 'image', src: png }], 'assistant'))[0]).toMatch(/^content image_unsupported/);
    expect(lost(saying([text('x')], 'assistant'), targetOf({ prefill: false }))[0]).toMatch(
      /^content prefill_/,
    );
  });

  test('a type that only the fetch brought to light is refused by its name', () => {
    const fetched = saying([{ type: 'image', src: { base64: 'QQ==', media_type: 'image/svg+xml' } }]);
    expect(() => encodeRequest(fetched, targetOf(), options)).toThrow(
      expect.objectContaining({ code: 'invalid_media' }),
    );
  });

  test('search results and citations keep their form', () => {
    const cited = [
      { kind: 'page', document: 1, start: 2, end: 3, cited_text: 'q', title: 't' },
      { kind: 'url', url: 'https://x.test' },
    ] as const;
    const request = requestOf({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'search_result', source: 's', title: 't', content: [text('r')], citations: true },
          ],
        },
        { role: 'assistant', content: [text('so', { citations: cited })] },
        { role: 'user', content: [text('and?')] },
      ],
    });
    expect(sent(request)['messages']).toMatchObject([
      {
        content: [
          {
            searchResult: { source: 's', title: 't', content: [{ text: 'r' }], citations: { enabled: true } },
          },
        ],
      },
      {
        content: [
          {
            citationsContent: {
              content: [{ text: 'so' }],
              citations: [
                {
                  title: 't',
                  sourceContent: [{ text: 'q' }],
                  location: { documentPage: { documentIndex: 1, start: 2, end: 3 } },
                },
                { location: { web: { url: 'https://x.test' } } },
              ],
            },
          },
        ],
      },
      {},
    ]);
    expect(lost(request)).toEqual([]);
  });

  test('reasoning goes back signed or sealed to its own makers, unsigned where the endpoint lists it', () => {
    const signed: Part = {
      type: 'reasoning',
      text: 't',
      kind: 'full',
      signature: 's',
      format: 'anthropic-claude-v1',
    };
    const sealed: Part = {
      type: 'reasoning',
      text: '',
      kind: 'encrypted',
      data: 'ZA==',
      format: 'anthropic-claude-v1',
    };
    const foreign: Part = { type: 'reasoning', text: 'u', kind: 'full', format: 'unknown' };
    const request = saying([signed, sealed, foreign, text('so')], 'assistant');
    const blocks = (target: Target) => (sent(request, target)['messages'] as JsonObject[])[0]?.['content'];
    expect(blocks(targetOf())).toEqual([
      { reasoningContent: { reasoningText: { text: 't', signature: 's' } } },
      { reasoningContent: { redactedContent: 'ZA==' } },
      { text: 'so' },
    ]);
    expect(lost(request)).toEqual(['hint reasoning_signature_dropped messages[0].content[2]']);
    expect(blocks(other)).toEqual([{ text: 'so' }]);
    const listing = targetOf(
      { parameters: ['reasoning_content_in'] },
      { upstream_model: 'deepseek.r1-v1:0' },
    );
    expect(blocks(listing)).toContainEqual({ reasoningContent: { reasoningText: { text: 'u' } } });
  });

  test('cache hints become cache points with their lifetime, the last four of them', () => {
    const hint = (ttl?: '5m' | '1h' | '24h') => ({ cache: ttl === undefined ? {} : { ttl } });
    const request = requestOf({
      messages: [
        { role: 'system', content: [text('a', hint()), text('b', hint('5m'))] },
        { role: 'user', content: [text('c', hint('24h'))] },
      ],
      tools: [{ kind: 'function', name: 'f', cache: {} }],
      cache: { hint: { ttl: '1h' } },
    });
    const wire = sent(request);
    expect((wire['toolConfig'] as JsonObject)['tools']).toHaveLength(1);
    expect(wire['system']).toEqual([
      { text: 'a' },
      { cachePoint: { type: 'default' } },
      { text: 'b' },
      { cachePoint: { type: 'default', ttl: '5m' } },
    ]);
    const hour = { cachePoint: { type: 'default', ttl: '1h' } };
    expect(wire['messages']).toEqual([{ role: 'user', content: [{ text: 'c' }, hour, hour] }]);
    expect(lost(request)).toEqual(['hint cache_hint_dropped cache_control']);
    expect(textOf(request, targetOf({ cache: false }))).not.toContain('cachePoint');
  });
});

describe('tools', () => {
  const tools: CanonicalRequest['tools'] = [
    { kind: 'function', name: 'f', description: '', schema: { properties: {} }, strict: true },
    { kind: 'function', name: 'g' },
  ];
  test('are specs with an object schema; strict only where listed', () => {
    expect(sent(requestOf({ tools }))['toolConfig']).toEqual({
      tools: [
        { toolSpec: { name: 'f', inputSchema: { json: { type: 'object', properties: {} } }, strict: true } },
        { toolSpec: { name: 'g', inputSchema: { json: { type: 'object', properties: {} } } } },
      ],
    });
    expect(lost(requestOf({ tools }), targetOf({ parameters: [] }))).toEqual([
      'behaviour strict_dropped tools[0].strict',
    ]);
  });

  test.each([
    [{ type: 'auto' }, { auto: {} }],
    [{ type: 'required' }, { any: {} }],
    [{ type: 'tool', name: 'g' }, { tool: { name: 'g' } }],
  ] as const)('choice %j is %j', (tool_choice, choice) => {
    expect(sent(requestOf({ tools, tool_choice }))['toolConfig']).toMatchObject({ toolChoice: choice });
  });

  test('none takes the tools away, and only a history with calls keeps them, reported as a loss', () => {
    const none = { type: 'none' } as const;
    expect(sent(requestOf({ tools, tool_choice: none }))['toolConfig']).toBeUndefined();
    const history = requestOf({
      tool_choice: none,
      messages: [
        { role: 'user', content: [text('x')] },
        {
          role: 'assistant',
          content: [{ type: 'tool_call', id: 'c', name: 'h', arguments: '{}', kind: 'function' }],
        },
        { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c', content: [text('r')] }] },
      ],
    });
    expect(sent(history)['toolConfig']).toMatchObject({ tools: [{ toolSpec: { name: 'h' } }] });
    expect(lost(history)).toEqual(['behaviour tool_choice_dropped tool_choice']);
  });

  test('one call at a time is said in Anthropic’s words to its models and lost on others', () => {
    const request = requestOf({ tools, parallel_tools: false, tool_choice: { type: 'required' } });
    expect(sent(request)['additionalModelRequestFields']).toEqual({
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    });
    expect(lost(request, other)).toContain('behaviour parallel_dropped parallel_tool_calls');
  });

  test('custom tools are emulated, grammars and server tools are content', () => {
    const custom = requestOf({ tools: [{ kind: 'custom', name: 'c' }] });
    expect(textOf(custom)).toContain('"required":["input"]');
    expect(lost(custom)).toEqual(['behaviour custom_tool_emulated tools[0]']);
    const grammar = requestOf({ tools: [{ kind: 'custom', name: 'c', format: { type: 'grammar' } }] });
    expect(lost(grammar)).toEqual(['content custom_tool_grammar tools[0].format']);
    const server = requestOf({
      tools: [{ kind: 'server', name: 'web_search', family: 'anthropic_messages' }],
    });
    expect(lost(server)).toEqual(['behaviour server_tool_dropped tools[0]']);
  });
});
