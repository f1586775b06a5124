// Every way of reading an answer counts its tool calls, and all ways agree.
import { describe, expect, test } from 'vitest';
import {
  chatFixtures,
  chatMeta,
  chatRequest,
  chatTarget,
  splitAt,
} from '../../../test/grammar/chat-fixtures.ts';
import { cutUp, fixture, fixtures, meta, request, target } from '../../../test/grammar/messages-cases.ts';
import type { Relay } from '../canonical/contract.ts';
import { canonicalRelay } from '../canonical/relay.ts';
import { messagesDialect, messagesRawLane } from './anthropic-messages/caller/index.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { chat, rawChat } from './openai-chat/caller/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';

function countOf(relay: Relay, reads: readonly Buffer[]): number {
  for (const read of reads) relay.push(read);
  relay.close();
  return relay.state.tool_calls;
}

describe('of a chat stream', () => {
  const counts = new Map<string, number>();

  test.each(chatFixtures().map((item) => [item.name, item] as const))(
    '%s: both lanes count the same, whatever the split',
    (name, { sse, flags }) => {
      const canonical = canonicalRelay(
        openaiChat.decoder(chatRequest(), chatTarget(flags)),
        chat.writer(chatMeta()),
      );
      const count = countOf(canonical, [Buffer.from(sse)]);
      counts.set(name, count);
      for (const reads of [[Buffer.from(sse)], splitAt(sse, [...sse.keys()])]) {
        expect(countOf(rawChat.relay(chatMeta(), chatRequest(), chatTarget(flags)), reads)).toBe(count);
      }
    },
  );

  test('the count is that of the calls in it', () => {
    const expected = {
      ...{
        text: 0,
        refusal: 0,
        'tool-single': 1,
        'text-then-tools': 1,
        'custom-tool': 1,
        'mistral-tools': 2,
      },
      ...{ 'legacy-function': 1, 'tools-parallel': 2, 'tools-interleaved': 2, 'tools-index-zero': 2 },
    };
    expect(Object.fromEntries([...counts].filter(([name]) => name in expected))).toEqual(expected);
  });
});

describe('of a messages stream', () => {
  const counts = new Map<string, number>();

  test.each(fixtures('.sse'))('%s: both lanes count the same, whatever the split', (name) => {
    const sse = fixture(`${name}.sse`);
    const canonical = canonicalRelay(
      anthropicMessages.decoder(request(), target()),
      messagesDialect.writer(meta),
    );
    const count = countOf(canonical, [Buffer.from(sse)]);
    counts.set(name, count);
    for (const reads of [[Buffer.from(sse)], cutUp(sse, [...sse.keys()])]) {
      expect(countOf(messagesRawLane.relay(meta, request(), target()), reads)).toBe(count);
    }
  });

  test('the count is that of the calls in it; a tool that the provider runs is none', () => {
    const expected = { text: 0, 'server-tool': 0, tool: 1, 'tools-parallel': 3 };
    expect(Object.fromEntries([...counts].filter(([name]) => name in expected))).toEqual(expected);
  });
});

describe('of a whole answer', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const choice = (index: number, message: object) => ({
    index,
    message: { role: 'assistant', content: null, ...message },
    finish_reason: 'tool_calls',
  });

  test.each([
    [0, [choice(0, { content: 'x' })]],
    [2, [choice(0, { tool_calls: [call('a'), call('b')] })]],
    [3, [choice(0, { tool_calls: [call('a')] }), choice(1, { tool_calls: [call('b'), call('c')] })]],
    [1, [choice(0, { function_call: { name: 'f', arguments: '{}' } })]],
  ])('of chat: %i', (count, choices) => {
    const body = Buffer.from(JSON.stringify({ choices }));
    expect(rawChat.whole(body, chatRequest(), chatTarget()).tool_calls).toBe(count);
  });

  test.each([
    [0, [{ type: 'text', text: '"type":"tool_use"' }]],
    [0, [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }]],
    [
      2,
      [
        { type: 'tool_use', id: 'a', name: 'f', input: { type: 'tool_use' } },
        { id: 'b', name: 'g', input: {}, type: 'tool_use' },
      ],
    ],
  ])('of messages: %i', (count, content) => {
    const body = Buffer.from(JSON.stringify({ type: 'message', content, stop_reason: 'tool_use' }));
    const excluding = request({ svc: { ...request().svc, reasoning: 'exclude' } });
    expect(messagesRawLane.whole(body, request(), target()).tool_calls).toBe(count);
    expect(messagesRawLane.whole(body, excluding, target()).tool_calls).toBe(count);
  });
});
