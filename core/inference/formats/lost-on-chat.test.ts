// What of a messages request has no place on an OpenAI-type endpoint, and used to vanish in silence.
import { describe, expect, test } from 'vitest';
import { chatTarget } from '../../../test/grammar/chat-fixtures.ts';
import type { Target } from '../canonical/contract.ts';
import { messagesDialect } from './anthropic-messages/caller/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';

const user = { role: 'user', content: 'q' };
const body = { model: 'a/b', max_tokens: 100, messages: [user] };
const mark = { cache_control: { type: 'ephemeral' } };

function lossesOf(change: object, to: Target = chatTarget()): string[] {
  const request = messagesDialect.read({ ...body, ...change }, {});
  return openaiChat.losses(request, to).map((loss) => `${loss.class}:${loss.code}:${loss.param}`);
}

const said = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const text = { type: 'text', text: 'x' };

test('a warm-up of the cache: only its own family knows one, so the endpoint is not asked', () => {
  expect(lossesOf({ max_tokens: 0 })).toEqual(['content:cache_warmup_unsupported:max_tokens']);
  expect(lossesOf({ max_tokens: 1 })).toEqual([]);
});

describe('a field that the canonical form does not name', () => {
  test.each([
    ['of a block', said({ ...text, zzz: 1 }), 'messages[0].content[0]'],
    ['of a message', { messages: [{ ...user, zzz: 1 }] }, 'messages[0]'],
    [
      'of a block in a document',
      said({ type: 'document', source: { type: 'url', url: 'https://e.com/a.pdf' }, zzz: 1 }),
      'messages[0].content[0]',
    ],
  ])('%s is reported', (_name, change, param) => {
    expect(lossesOf(change)).toEqual([`behaviour:unknown_parameter_dropped:${param}`]);
  });

  test('in a tool result is reported with its path', () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] };
    const result = { type: 'tool_result', tool_use_id: 't', content: [{ ...text, zzz: 1 }] };
    expect(lossesOf({ messages: [user, call, { role: 'user', content: [result] }] })).toEqual([
      'behaviour:unknown_parameter_dropped:messages[2].content[0].content[0]',
    ]);
  });

  test('is not what a document was read from: its text is carried', () => {
    const source = { type: 'content', content: [text] };
    expect(lossesOf(said({ type: 'document', source }))).toEqual([
      'behaviour:document_flattened:messages[0].content[0]',
    ]);
  });
});

describe('a cache hint', () => {
  const hint = 'hint:cache_hint_dropped:cache_control';
  const tool = { name: 'f', input_schema: { type: 'object' } };
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} };
  const result = { type: 'tool_result', tool_use_id: 't', content: [text] };
  const turn = (one: object, two: object) => ({
    messages: [user, { role: 'assistant', content: [one] }, { role: 'user', content: [two] }],
  });
  const marked = {
    'the request': mark,
    'a tool': { tools: [{ ...tool, ...mark }] },
    'the system prompt': { system: [{ ...text, ...mark }] },
    'a text': said({ ...text, ...mark }),
    'a text in a tool result': turn(call, { ...result, content: [{ ...text, ...mark }] }),
    'a tool call': turn({ ...call, ...mark }, result),
    'a tool result': turn(call, { ...result, ...mark }),
  };
  const withoutCache = chatTarget();
  withoutCache.capabilities = { ...withoutCache.capabilities, cache: false };

  test.each(Object.entries(marked))('on %s is reported once where there is no cache', (_name, change) => {
    expect(lossesOf({ ...change, ...said({ ...text, ...mark }), ...change }, withoutCache)).toEqual([hint]);
  });

  test.each(Object.entries(marked))(
    'on %s is no loss where the endpoint caches by itself',
    (_name, change) => {
      expect(lossesOf(change)).toEqual([]);
    },
  );

  test.each(['cache_control', 'prompt_cache_breakpoint'])(
    'is reported on an endpoint that accepts %s but not in that place',
    (parameter) => {
      const lost = Object.entries(marked).filter(
        ([, change]) => lossesOf(change, chatTarget([], [parameter])).length > 0,
      );
      expect(lost.map(([name]) => name)).toEqual(['the request', 'a tool', 'a tool call', 'a tool result']);
    },
  );

  test('that was not given is not missed', () => {
    expect(lossesOf({}, withoutCache)).toEqual([]);
  });
});
