// Histories of agents: calls and results in every order that a dialect takes, written for a family that takes one order
// only; and histories so long that anything but one pass over them would stop the process for everybody.
import { describe, expect, test } from 'vitest';
import { chatTarget } from '../../../test/grammar/chat-fixtures.ts';
import { encode, type Wire } from '../../../test/grammar/cross-cases.ts';
import { responsesTarget } from '../../../test/grammar/openai-responses-fixtures.ts';
import type { Dialect } from '../canonical/contract.ts';
import { messagesDialect } from './anthropic-messages/caller/index.ts';
import { builtIn } from './index.ts';
import { chat } from './openai-chat/caller/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';
import { responses } from './openai-responses/caller/index.ts';
import { openaiResponses } from './openai-responses/upstream/index.ts';

const native = builtIn.dialects.get('/v1/svc/generate') as Dialect;

const url = 'https://e.com/shot.png';

/** The roles of what the chat family is sent, with the ids of calls and results. */
function sent(dialect: Dialect, body: object): string[] {
  const request = dialect.read({ model: 'a/b', max_tokens: 100, ...body }, {});
  return encode(openaiChat, request, chatTarget()).messages.map((message: Wire) => {
    const ids = message.tool_calls?.map(({ id }: Wire) => id) ?? [message.tool_call_id];
    return [message.role, ...ids].filter(Boolean).join(' ');
  });
}

describe('on a chat endpoint nothing stands between calls and their results', () => {
  test('images of parallel results follow the last of them (responses)', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
    const output = [{ type: 'input_image', image_url: url }];
    const result = (id: string) => ({ type: 'function_call_output', call_id: id, output });
    const input = [{ role: 'user', content: 'q' }, call('a'), call('b'), result('a'), result('b')];
    const { messages } = encode(openaiChat, responses.read({ model: 'a/b', input }, {}), chatTarget());
    expect(messages.map(({ role }: Wire) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(messages.at(-1).content).toHaveLength(2);
  });

  test('the same of the native dialect, with one message for each result', () => {
    const call = (id: string) => ({ type: 'tool_call', id, name: 'f', arguments: '{}', kind: 'function' });
    const image = { type: 'image', src: { url } };
    const result = (id: string) => ({
      role: 'tool',
      content: [{ type: 'tool_result', tool_call_id: id, content: [image] }],
    });
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [call('a'), call('b')] },
      ...[result('a'), result('b')],
      { role: 'user', content: 'n' },
    ];
    const { max_tokens: _none, ...native_body } = { max_tokens: 1, messages };
    const request = native.read({ model: 'a/b', ...native_body }, {});
    const roles = encode(openaiChat, request, chatTarget()).messages.map(({ role }: Wire) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'user', 'user']);
  });

  const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
  const result = (id: string, ...content: object[]) => ({ type: 'tool_result', tool_use_id: id, content });
  const image = { type: 'image', source: { type: 'url', url } };
  const text = { type: 'text', text: 'and' };
  test.each([
    [
      'results in several messages, with words between them',
      [
        { role: 'assistant', content: [call('a'), call('b')] },
        { role: 'user', content: [result('a', image), text] },
        { role: 'user', content: [result('b')] },
      ],
      ['assistant a b', 'tool a', 'tool b', 'user', 'user'],
    ],
    [
      'a system message before the result',
      [
        { role: 'assistant', content: [call('a')] },
        { role: 'system', content: 'note' },
        { role: 'user', content: [result('a')] },
      ],
      ['assistant a', 'tool a', 'system'],
    ],
    [
      'calls of one turn in several messages, with words behind them',
      [
        { role: 'assistant', content: [call('a')] },
        { role: 'assistant', content: [call('b')] },
        { role: 'assistant', content: 'done' },
        { role: 'user', content: [result('b'), result('a')] },
      ],
      ['assistant a b', 'tool b', 'tool a'],
    ],
  ])('%s (messages)', (_name, messages, expected) => {
    expect(sent(messagesDialect, { messages })).toEqual(expected);
  });
});

describe('a history as long as a body may be is read in one pass', () => {
  test('turns with a call each', () => {
    const messages = Array.from({ length: 250_000 }, (_, i) => [
      { role: 'assistant', tool_calls: [{ id: `c${i}`, type: 'function', function: { name: 'f' } }] },
      { role: 'tool', tool_call_id: `c${i}`, content: '' },
    ]).flat();
    expect(chat.read({ model: 'a/b', messages }, {}).messages).toHaveLength(messages.length);
  });

  test('reasoning of one turn, and what of it is lost', () => {
    const details = Array.from({ length: 120_000 }, (_, index) => ({
      ...{ type: 'reasoning.text', text: 'x', index },
    }));
    const messages = [
      { role: 'assistant', content: 'a', reasoning_details: details },
      { role: 'user', content: 'q' },
    ];
    const request = chat.read({ model: 'a/b', messages }, {});
    expect(openaiResponses.losses(request, responsesTarget())).toHaveLength(details.length);
  });
});
