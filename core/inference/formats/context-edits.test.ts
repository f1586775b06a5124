// Edits of the conversation that a caller of messages leaves to the provider, where the gateway does them: by the rules
// that the API documents, and told in the answer.
import { describe, expect, test } from 'vitest';
import { chatTarget } from '../../../test/grammar/chat-fixtures.ts';
import { encode, losses, type Wire } from '../../../test/grammar/cross-cases.ts';
import { meta, target } from '../../../test/grammar/messages-cases.ts';
import { edited } from '../call/attempt/edits.ts';
import { CLEARED } from '../canonical/edits/edits.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { messagesDialect } from './anthropic-messages/caller/index.ts';
import { messagesRawLane } from './anthropic-messages/raw/index.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';

const CHAT = { adapter: openaiChat, target: chatTarget() };
const LONG = 'word '.repeat(400);
const thought = (thinking: string) => ({ type: 'thinking', thinking, signature: 'c2ln' });
const called = (n: number, name = 'look') => ({ type: 'tool_use', id: `t${n}`, name, input: { at: n } });
const result = (n: number) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: `${n} ${LONG}` }],
});
const use = (n: number, name?: string) => [{ role: 'assistant', content: [called(n, name)] }, result(n)];
const history = [{ role: 'user', content: 'q' }, ...use(1), ...use(2, 'keep_me'), ...use(3), ...use(4)];

function ask(edits: unknown, messages: object[] = history, more: object = {}): CanonicalRequest {
  const body = { model: 'a/b', max_tokens: 100, messages, context_management: { edits }, ...more };
  return messagesDialect.read(body, {});
}

/** The results, the arguments and what was cleared, as a chat endpoint gets them. */
function sent(edits: unknown, messages: object[] = history) {
  const request = ask(edits, messages);
  const { sent: after, applied } = edited(request, JSON.stringify(messages).length, CHAT);
  const wire: Wire = encode(openaiChat, after, chatTarget());
  const results = wire.messages.filter(({ role }: Wire) => role === 'tool');
  const calls = wire.messages.flatMap(({ tool_calls = [] }: Wire) => tool_calls);
  return {
    applied,
    cleared: results.map(({ content }: Wire) => content === CLEARED),
    inputs: calls.map((call: Wire) => call.function.arguments),
    wire,
  };
}

const uses = (more: object = {}) => [
  { type: 'clear_tool_uses_20250919', trigger: { type: 'tool_uses', value: 3 }, ...more },
];
const KEEP_ONE = { keep: { type: 'tool_uses', value: 1 } };

describe('clear_tool_uses_20250919', () => {
  test('keeps the last three results, above 100,000 tokens alone, where nothing else is said', () => {
    const bare = [{ type: 'clear_tool_uses_20250919' }];
    expect(sent(bare).applied).toEqual([]);
    const long = history.map((message) => ({ ...message }));
    long[0] = { role: 'user', content: 'x'.repeat(400_000) };
    expect(sent(bare, long).cleared).toEqual([true, false, false, false]);
  });

  test('clears the oldest, but those of tools that are excluded', () => {
    const { cleared, applied, inputs } = sent(uses({ ...KEEP_ONE, exclude_tools: ['keep_me'] }));
    expect(cleared).toEqual([true, false, true, false]);
    expect(applied).toEqual([
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: expect.any(Number) },
    ]);
    // Two results of 2,002 bytes, four bytes a token, less what stands in their place.
    expect(applied?.[0]?.cleared_input_tokens).toBe(2 * (501 - Math.ceil(CLEARED.length / 4)));
    expect(inputs).toEqual(['{"at":1}', '{"at":2}', '{"at":3}', '{"at":4}']);
  });

  test('clears arguments where that is asked for, of all tools or of some', () => {
    expect(sent(uses({ ...KEEP_ONE, clear_tool_inputs: true })).inputs.slice(0, 3)).toEqual([
      '{}',
      '{}',
      '{}',
    ]);
    const some = sent(uses({ ...KEEP_ONE, clear_tool_inputs: ['keep_me'] }));
    expect(some.inputs).toEqual(['{"at":1}', '{}', '{"at":3}', '{"at":4}']);
  });

  test('does nothing where it would clear less than is worth it, or nothing is due', () => {
    const little = uses({ ...KEEP_ONE, clear_at_least: { type: 'input_tokens', value: 5_000 } });
    expect(sent(little)).toMatchObject({ applied: [], cleared: [false, false, false, false] });
    expect(sent(uses({ trigger: { type: 'tool_uses', value: 4 }, ...KEEP_ONE })).applied).toEqual([]);
    expect(sent(uses({ trigger: { type: 'input_tokens', value: 1_000 }, ...KEEP_ONE })).applied).toHaveLength(
      1,
    );
  });
});

describe('clear_thinking_20251015', () => {
  const talk = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: [thought('first '.repeat(20)), { type: 'text', text: 'A' }] },
    { role: 'user', content: 'b' },
    { role: 'assistant', content: [thought('second'), called(1)] },
    result(1),
    { role: 'assistant', content: [thought('third'), { type: 'text', text: 'B' }] },
    { role: 'user', content: 'c' },
  ];
  const kept = (edit: object) => {
    const { sent: after, applied } = edited(
      ask([{ type: 'clear_thinking_20251015', ...edit }], talk),
      100,
      CHAT,
    );
    const texts = after.messages.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'reasoning' ? [part.text.slice(0, 6)] : [])),
    );
    return { texts: texts.map((text) => text.trim()), applied };
  };

  test('keeps the reasoning of the last turn, with all of its calls', () => {
    expect(kept({})).toEqual({
      texts: ['second', 'third'],
      applied: [{ type: 'clear_thinking_20251015', cleared_thinking_turns: 1, cleared_input_tokens: 30 }],
    });
  });

  test.each([
    [{ keep: { type: 'thinking_turns', value: 2 } }],
    [{ keep: 'all' }],
    [{ keep: { type: 'all' } }],
  ])('%j removes nothing', (edit) => {
    expect(kept(edit)).toEqual({ texts: ['first', 'second', 'third'], applied: [] });
  });

  test('counts what it has cleared before the next edit is due', () => {
    const trigger = { type: 'input_tokens', value: 90 };
    const both = [
      { type: 'clear_thinking_20251015' },
      { type: 'clear_tool_uses_20250919', trigger, keep: { type: 'tool_uses', value: 0 } },
    ];
    const names = (bytes: number) => edited(ask(both, talk), bytes, CHAT).applied?.map(({ type }) => type);
    expect(names(4 * 110)).toEqual(['clear_thinking_20251015']);
    expect(names(4 * 130)).toEqual(['clear_thinking_20251015', 'clear_tool_uses_20250919']);
  });
});

test('what keeps all is a hint, what removes is no loss, and what is not known is one with its place', () => {
  const lost = (edits: unknown) =>
    openaiChat.losses(ask(edits), chatTarget()).map((loss) => `${loss.class}:${loss.code}:${loss.param}`);
  expect(lost([{ type: 'clear_thinking_20251015', keep: 'all' }])).toEqual([
    'hint:context_edit_dropped:context_management.edits[0]',
  ]);
  expect(lost([{ type: 'clear_thinking_20251015' }, ...uses()])).toEqual([]);
  const other = 'content:unsupported_parameter:context_management.edits';
  expect(lost([...uses(), { type: 'compact_20260112' }])).toEqual([`${other}[1]`]);
  expect(lost([{ type: 'clear_thinking_20251015', keep: 'some' }])).toEqual([`${other}[0]`]);
  expect(lost('all')).toEqual([`${other}[0]`]);
});

test('its own family edits where the beta is listed; elsewhere the gateway does, and sends no edits', () => {
  const request = ask(uses(KEEP_ONE));
  const at = (betas: string[]) => target({ betas });
  expect(messagesRawLane.serves?.(at(['*']), request)).toBe(true);
  expect(messagesRawLane.serves?.(at([]), request)).toBe(false);
  expect(losses(anthropicMessages, request, at([]))).toEqual([]);
  const { sent: after } = edited(request, 100, CHAT);
  const wire: Wire = encode(anthropicMessages, after, at([]));
  expect(wire).not.toHaveProperty('context_management');
  expect(JSON.stringify(wire.messages)).toContain(CLEARED);
});

test('the answer names the edits that were made, streamed and whole', () => {
  const applied_edits = [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 1, cleared_input_tokens: 9 }];
  const usage = { ...{ input_tokens: 1, output_tokens: 1 }, cache_read_tokens: 0, cache_write_tokens: 0 };
  const end = {
    usage: { ...usage, reasoning_tokens: 0, source: 'provider' as const },
    ...{ cost: { lines: [], total_micro_usd: 0, discount_micro_usd: 0 } as never, warnings: [] },
  };
  const answer = { candidates: [{ content: [], stop: { reason: 'end_turn' as const } }], usage: null };
  const whole = (more: object) =>
    JSON.parse(messagesDialect.write(answer as never, { ...meta, ...more }, end)) as Wire;
  expect(whole({ applied_edits }).context_management).toEqual({ applied_edits });
  expect(whole({})).not.toHaveProperty('context_management');
  const writer = messagesDialect.writer({ ...meta, applied_edits });
  const delta = writer
    .end(end)
    .split('\n')
    .find((line) => line.includes('"message_delta"'));
  expect(JSON.parse(delta?.slice(6) ?? '')).toMatchObject({ context_management: { applied_edits } });
});
