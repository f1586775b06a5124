// The family's column of docs/compatibility.md: what is written and what is lost.
import { describe, expect, test } from 'vitest';
import { request, target } from '../../../../../test/grammar/messages-cases.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import type { EncodeOptions, Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Part } from '../../../canonical/types.ts';
import { anthropicMessages } from './index.ts';

const options: EncodeOptions = { stream: true, max_tokens: 4_096, user: null, cache_key: null, extra: {} };
const chat = (change: Partial<CanonicalRequest>): CanonicalRequest => request({ dialect: 'chat', ...change });
const user = (...content: Part[]): CanonicalRequest['messages'] => [{ role: 'user', content }];
const say = (text: string): Part => ({ type: 'text', text });

function wire(
  change: Partial<CanonicalRequest>,
  to: Target = target(),
  more: Partial<EncodeOptions> = {},
): Record<string, unknown> {
  const sent = anthropicMessages.encode(chat(change), to, { ...options, ...more });
  expect(sent.path).toBe('/messages');
  return JSON.parse(sent.body.toString('utf8'));
}

function codes(change: Partial<CanonicalRequest>, to: Target = target()): string[] {
  return anthropicMessages.losses(chat(change), to).map((loss) => `${loss.class}:${loss.code}`);
}

describe('content', () => {
  test('leading system messages become system blocks, later ones are folded and reported', () => {
    const messages: CanonicalRequest['messages'] = [
      { role: 'system', content: [say('one')] },
      { role: 'system', content: [say('two')] },
      ...user(say('q')),
      { role: 'assistant', content: [say('a')] },
      { role: 'system', content: [say('be brief')] },
      ...user(say('go')),
    ];
    expect(wire({ messages })).toMatchObject({
      system: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      messages: [
        { role: 'user', content: [{ text: 'q' }] },
        { role: 'assistant', content: [{ text: 'a' }] },
        { role: 'user', content: [{ text: '[system]\nbe brief' }, { text: 'go' }] },
      ],
    });
    expect(codes({ messages })).toEqual(['behaviour:system_position_changed']);
    const listed = target({ parameters: ['system_role'] });
    expect(wire({ messages }, listed)['messages']).toMatchObject([
      {},
      {},
      { role: 'system' },
      { role: 'user' },
    ]);
    expect(codes({ messages }, listed)).toEqual([]);
  });

  test('adjacent turns of one role are merged, results first, empty texts left out', () => {
    const messages: CanonicalRequest['messages'] = [
      ...user(say('a'), say('  ')),
      ...user(say('b')),
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: '', kind: 'function' }],
      },
      ...user(say('meanwhile')),
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: 'c1', content: [say('r')], is_error: true }],
      },
    ];
    expect(wire({ messages })).toMatchObject({
      messages: [
        { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ text: 'r' }], is_error: true },
            { text: 'meanwhile' },
          ],
        },
      ],
      // The history's tool is declared, or the family refuses the body, and may not be called again.
      tools: [{ name: 'f' }],
      tool_choice: { type: 'none' },
    });
  });

  test('images, documents and arguments keep their meaning; arguments keep their digits', () => {
    const messages: CanonicalRequest['messages'] = [
      ...user(
        { type: 'image', src: { base64: 'AA==', media_type: 'image/png' }, detail: 'high' },
        { type: 'image', src: { url: 'https://x.example/i.png' } },
        { type: 'document', src: { base64: 'JVBE', media_type: 'application/pdf' }, name: 'n.pdf' },
        {
          type: 'document',
          src: { base64: Buffer.from('plain').toString('base64'), media_type: 'text/plain' },
        },
      ),
      {
        role: 'assistant',
        content: [
          {
            type: 'tool_call',
            id: 'c',
            name: 'f',
            arguments: '{"n":12345678901234567890}',
            kind: 'function',
          },
        ],
      },
      { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c', content: [] }] },
    ];
    const sent = anthropicMessages.encode(chat({ messages }), target(), options).body.toString('utf8');
    expect(sent).toContain('"input":{"n":12345678901234567890}');
    expect(JSON.parse(sent).messages[0].content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      { type: 'image', source: { type: 'url', url: 'https://x.example/i.png' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
        title: 'n.pdf',
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
    ]);
    expect(codes({ messages })).toEqual(['hint:image_detail_dropped']);
  });

  test('ids that the family refuses become the same fitting id in call and result', () => {
    const id = 'call:1/x';
    const sent = wire({
      messages: [
        ...user(say('q')),
        {
          role: 'assistant',
          content: [{ type: 'tool_call', id, name: 'f', arguments: '{}', kind: 'function' }],
        },
        { role: 'tool', content: [{ type: 'tool_result', tool_call_id: id, content: [say('r')] }] },
      ],
    });
    const [, call, result] = sent['messages'] as { content: Record<string, string>[] }[];
    expect(call?.content[0]?.['id']).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(call?.content[0]?.['id']).toBe(result?.content[0]?.['tool_use_id']);
  });

  test('arguments that are no object are kept below a key', () => {
    const messages: CanonicalRequest['messages'] = [
      ...user(say('q')),
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'c', name: 'f', arguments: '{"cut', kind: 'function' }],
      },
      { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c', content: [say('r')] }] },
    ];
    expect(wire({ messages })['messages']).toMatchObject([
      {},
      { content: [{ input: { arguments: '{"cut' } }] },
      {},
    ]);
  });

  test('own reasoning is sent back signed, other reasoning is left out and reported', () => {
    const content: Part[] = [
      { type: 'reasoning', text: 'r', kind: 'full', signature: 'Eq==', format: 'anthropic-claude-v1' },
      { type: 'reasoning', text: '', kind: 'encrypted', data: 'D', format: 'anthropic-claude-v1' },
      { type: 'reasoning', text: 'x', kind: 'full', signature: 's', format: 'google-gemini-v1' },
      { type: 'reasoning', text: 'unsigned', kind: 'full', format: 'anthropic-claude-v1' },
      say('a'),
    ];
    const messages = [...user(say('q')), { role: 'assistant' as const, content }, ...user(say('n'))];
    expect(wire({ messages })['messages']).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'r', signature: 'Eq==' },
          { type: 'redacted_thinking', data: 'D' },
          { type: 'text', text: 'a' },
        ],
      },
      {},
    ]);
    expect(codes({ messages })).toEqual([
      'hint:reasoning_signature_dropped',
      'hint:reasoning_signature_dropped',
    ]);
  });

  test('cache hints become breakpoints; the last four of more are kept and the rest reported', () => {
    const parts = [1, 2, 3, 4, 5].map(
      (n): Part => ({ type: 'text', text: `t${n}`, cache: n === 5 ? { ttl: '24h' } : {} }),
    );
    const [turn] = wire({ messages: user(...parts) })['messages'] as { content: Record<string, unknown>[] }[];
    expect(turn?.content.map((block) => block['cache_control'])).toEqual([
      undefined,
      { type: 'ephemeral' },
      { type: 'ephemeral' },
      { type: 'ephemeral' },
      { type: 'ephemeral', ttl: '1h' },
    ]);
    expect(codes({ messages: user(...parts) })).toEqual(['hint:cache_hint_dropped']);
    expect(JSON.stringify(wire({ messages: user(...parts) }, target({ cache: false })))).not.toContain(
      'cache_control',
    );
  });
});

describe('tools and preferences', () => {
  const tools: CanonicalRequest['tools'] = [
    { kind: 'function', name: 'f', description: 'd', schema: { properties: {} }, strict: true },
    { kind: 'function', name: 'g', schema: { type: 'object' } },
  ];

  test.each([
    [{ tools }, undefined],
    [{ tools, tool_choice: { type: 'auto' as const } }, { type: 'auto' }],
    [{ tools, tool_choice: { type: 'required' as const } }, { type: 'any' }],
    [{ tools, tool_choice: { type: 'none' as const } }, { type: 'none' }],
    [
      { tools, tool_choice: { type: 'tool' as const, name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
    [
      { tools, parallel_tools: false },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
  ])('choice %#', (change, choice) => {
    expect(wire(change)['tool_choice']).toEqual(choice);
  });

  test('schemas are objects, strict stays, a list of allowed names filters', () => {
    expect(wire({ tools })['tools']).toEqual([
      { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} }, strict: true },
      { name: 'g', input_schema: { type: 'object' } },
    ]);
    expect(wire({ tools, tool_choice: { type: 'auto', names: ['g'] } })['tools']).toMatchObject([
      { name: 'g' },
    ]);
  });

  test('a custom tool is emulated with one text field, there and back', () => {
    const custom = chat({ tools: [{ kind: 'custom', name: 'c' }] });
    expect(
      JSON.parse(anthropicMessages.encode(custom, target(), options).body.toString('utf8')).tools,
    ).toMatchObject([{ name: 'c', input_schema: { required: ['input'] } }]);
    const events = [
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'i', name: 'c', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"input":"a\\n' },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: 'b"}' } },
      { type: 'content_block_stop', index: 0 },
    ];
    const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    const { answer } = foldEvents(anthropicMessages.decoder(custom, target()).push(bytes));
    expect(answer.candidates[0]?.content).toMatchObject([{ kind: 'custom', arguments: 'a\nb' }]);
    expect(codes({ tools: [{ kind: 'custom', name: 'c', format: { type: 'grammar' } }] })).toEqual([
      'content:custom_tool_grammar',
    ]);
  });

  test.each([
    [['budget', 'off'], { effort: 'low' }, { type: 'enabled', budget_tokens: 1_024 }, undefined],
    [['budget', 'off'], { max_tokens: 9_999 }, { type: 'enabled', budget_tokens: 4_095 }, undefined],
    [['budget', 'off'], { effort: 'none' }, { type: 'disabled' }, undefined],
    [['adaptive', 'effort'], { effort: 'high' }, { type: 'adaptive', display: 'summarized' }, 'high'],
    [['adaptive', 'effort'], { max_tokens: 2_000 }, { type: 'adaptive', display: 'summarized' }, 'medium'],
    [['adaptive', 'effort'], { effort: 'none' }, undefined, 'low'],
    [['adaptive', 'effort'], { effort: 'minimal' }, { type: 'adaptive', display: 'summarized' }, 'low'],
    [[], { effort: 'high' }, undefined, undefined],
  ] as const)('controls %j and preference %j', (reasoning_controls, reasoning, thinking, effort) => {
    const to = target({ reasoning_controls: [...reasoning_controls] });
    const sent = wire({ reasoning }, to);
    if (thinking === undefined) expect(sent['thinking']).toBeUndefined();
    else expect(sent['thinking']).toMatchObject(thinking);
    expect((sent['output_config'] as { effort?: string } | undefined)?.effort).toBe(effort);
  });

  test.each([
    [
      { reasoning: { effort: 'none' as const } },
      target({ reasoning_controls: ['adaptive', 'effort'] }),
      'reasoning_not_disabled',
    ],
    [
      { reasoning: { effort: 'minimal' as const } },
      target({ reasoning_controls: ['adaptive', 'effort'] }),
      'effort_adjusted',
    ],
    [{ reasoning: { effort: 'low' as const } }, target({ reasoning_controls: [] }), 'reasoning_dropped'],
    [
      { reasoning: { effort: 'low' as const }, tools, tool_choice: { type: 'required' as const } },
      target(),
      'reasoning_dropped',
    ],
  ])('what a reasoning preference becomes is told: %#', (change, to, code) => {
    expect(codes(change, to)).toContain(`behaviour:${code}`);
  });

  test('a fixed budget is not asked for in a turn whose calls were not signed', () => {
    const messages: CanonicalRequest['messages'] = [
      ...user(say('q')),
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'c', name: 'f', arguments: '{}', kind: 'function' }],
      },
      { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c', content: [say('r')] }] },
    ];
    expect(wire({ messages, reasoning: { effort: 'high' } })['thinking']).toBeUndefined();
    expect(codes({ messages, reasoning: { effort: 'high' } })).toEqual(['behaviour:reasoning_dropped']);
  });

  test('sampling is clamped, dropped while thinking and dropped where refused; each is reported', () => {
    const generation = { max_tokens: 4_096, temperature: 1.5, top_p: 0.5, top_k: 4, stop: ['x'] };
    expect(wire({ generation })).toMatchObject({
      temperature: 1,
      top_p: 0.5,
      top_k: 4,
      stop_sequences: ['x'],
    });
    expect(codes({ generation })).toEqual(['behaviour:temperature_clamped']);
    const thinks = { generation, reasoning: { effort: 'low' as const } };
    for (const key of ['temperature', 'top_p', 'top_k']) expect(wire(thinks)).not.toHaveProperty(key);
    expect(codes(thinks)).toEqual(Array(3).fill('behaviour:sampling_dropped'));
    expect(wire({ generation }, target({}, ['rejects_sampling']))).not.toHaveProperty('top_k');
    expect(codes({ generation }, target({}, ['rejects_sampling']))).toEqual(
      Array(3).fill('behaviour:sampling_dropped'),
    );
  });

  test('what the family has no field for is reported with its class', () => {
    expect(
      codes({
        generation: { seed: 1, frequency_penalty: 1, logit_bias: {}, logprobs: 2, candidates: 2 },
        output: { modalities: ['audio'], verbosity: 'low', format: { type: 'json' } },
        service_tier: 'flex',
        ext: { prediction: {}, moderation: {}, odd: 1 },
        messages: [
          {
            role: 'user',
            name: 'n',
            content: [{ type: 'audio', src: { base64: '', media_type: 'audio/wav' } }],
          },
        ],
      }).sort(),
    ).toEqual(
      [
        'behaviour:json_object_as_instruction',
        'behaviour:sampling_dropped',
        'behaviour:sampling_dropped',
        'behaviour:sampling_dropped',
        'behaviour:service_tier_ignored',
        'behaviour:unknown_parameter_dropped',
        'behaviour:verbosity_dropped',
        'content:audio_unsupported',
        'content:candidates_unsupported',
        'content:logprobs_unsupported',
        'content:modality_unsupported',
        'content:unsupported_parameter',
        'hint:name_dropped',
        'hint:prediction_dropped',
      ].sort(),
    );
  });

  test('output contract, user, cap and provider options', () => {
    const format = { type: 'json_schema' as const, name: 'n', schema: { type: 'object' } };
    const sent = wire({ output: { format } }, target(), {
      user: 'hash',
      max_tokens: null,
      extra: { top_k: 9 },
    });
    expect(sent).toMatchObject({
      model: 'claude-opus-4-5-20251101',
      max_tokens: 1_024,
      stream: true,
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      metadata: { user_id: 'hash' },
      top_k: 9,
    });
    expect(wire({ output: { format: { type: 'json' } } })['system']).toMatchObject([{ type: 'text' }]);
    expect(codes({ output: { format } }, target({ json_schema: false }))).toEqual([
      'content:json_schema_unsupported',
    ]);
  });
});
