// Tools as coding agents send them: in a namespace, or run by a provider that may not be the one that answers.
import { describe, expect, test } from 'vitest';
import { chatEnd, chatTarget } from '../../../test/grammar/chat-fixtures.ts';
import { encode, type Wire } from '../../../test/grammar/cross-cases.ts';
import { target as geminiTarget } from '../../../test/grammar/gemini-cases.ts';
import { target as messagesTarget } from '../../../test/grammar/messages-cases.ts';
import { responsesTarget } from '../../../test/grammar/openai-responses-fixtures.ts';
import { finalResponse, meta } from '../../../test/grammar/responses-cases.ts';
import { edited } from '../call/attempt/edits.ts';
import type { Adapter, Target } from '../canonical/contract.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { gemini } from './gemini/upstream/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';
import { responses } from './openai-responses/caller/index.ts';
import { openaiResponses } from './openai-responses/upstream/index.ts';
import { sandboxAdapter } from './sandbox/upstream/adapter.ts';

const parameters = { type: 'object', properties: {} };
const look = { type: 'function', name: 'look', parameters };
const agents = {
  ...{ type: 'namespace', name: 'agents_v1', description: 'Agents.' },
  tools: [
    { type: 'function', name: 'spawn', parameters },
    { type: 'function', name: 'wait', parameters },
  ],
};
const search = { type: 'web_search', external_web_access: false };

function ask(more: object): CanonicalRequest {
  return responses.read({ model: 'a/b', input: 'Hi', ...more }, {});
}

const chat = { adapter: openaiChat, target: chatTarget() };

function wireOf(request: CanonicalRequest, at: { adapter: Adapter; target: Target } = chat): Wire {
  return encode(at.adapter, edited(request, 100, at).sent, at.target);
}

describe('tools in a namespace', () => {
  const history = [
    { role: 'user', content: 'Go on.' },
    { ...{ type: 'function_call', call_id: 'c1', namespace: 'agents_v1', name: 'spawn' }, arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'ok' },
  ];

  test('are functions with names of both, in the list, in the history and in the choice', () => {
    const tool_choice = { type: 'function', namespace: 'agents_v1', name: 'wait' };
    const request = ask({ tools: [look, agents], input: history, tool_choice });
    expect(openaiChat.losses(request, chat.target)).toEqual([]);
    const wire = wireOf(request);
    const names = wire.tools.map((tool: Wire) => tool.function.name);
    expect(names).toEqual(['look', 'agents_v1__spawn', 'agents_v1__wait']);
    expect(wire.messages[1].tool_calls[0].function.name).toBe('agents_v1__spawn');
    expect(wire.tool_choice.function.name).toBe('agents_v1__wait');
  });

  test('are called back under their own names, streamed and whole', () => {
    const request = ask({ tools: [look, agents] });
    const namespaces = Object.fromEntries(request.namespaces ?? []);
    const own = { ...meta, namespaces };
    const calls = ['agents_v1__spawn', 'look'].map((name, i) => ({
      ...{ type: 'tool_call' as const, id: `c${i}`, name, arguments: '{}', kind: 'function' as const },
    }));
    const stop = { reason: 'tool_calls' as const };
    const whole = JSON.parse(
      responses.write({ candidates: [{ content: calls, stop }], usage: null } as never, own, chatEnd()),
    ) as Wire;
    const writer = responses.writer(own);
    const events = calls.flatMap((content, part) => [
      { type: 'part_start' as const, candidate: 0, part, content },
      { type: 'part_stop' as const, candidate: 0, part },
    ]);
    const stream = events.map((event) => writer.write(event as never)).join('') + writer.end(chatEnd());
    for (const { output } of [whole, finalResponse(stream)]) {
      expect(output[0]).toMatchObject({ type: 'function_call', namespace: 'agents_v1', name: 'spawn' });
      expect(output[1]).toMatchObject({ type: 'function_call', name: 'look' });
      expect(output[1]).not.toHaveProperty('namespace');
    }
  });

  test('keep apart from a function of the same name, and from each other, within 64 characters', () => {
    const long = { type: 'namespace', name: `n${'x'.repeat(60)}`, tools: agents.tools };
    const twice = { ...look, name: 'agents_v1__spawn' };
    const alike = { type: 'namespace', name: 'agents', tools: [{ ...look, name: 'v1__wait' }] };
    const { tools = [], namespaces } = ask({ tools: [agents, long, twice, alike] });
    const names = tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(6);
    expect(Math.max(...names.map(({ length }) => length))).toBeLessThanOrEqual(64);
    expect(names).toContain('agents_v1__spawn');
    expect([...(namespaces?.values() ?? [])]).toHaveLength(5);
  });
});

describe('a tool that the provider runs', () => {
  const ats: Record<string, { adapter: Adapter; target: Target }> = {
    chat,
    responses: { adapter: openaiResponses, target: responsesTarget() },
    messages: { adapter: anthropicMessages, target: messagesTarget() },
    gemini: { adapter: gemini, target: geminiTarget() },
    sandbox: { adapter: sandboxAdapter, target: chatTarget() },
  };

  test.each(Object.keys(ats))(
    'is left out at %s where it is offered, and refused with its place where it is forced',
    (name) => {
      const at = ats[name] as (typeof ats)[string];
      const interpreter = { type: 'code_interpreter', container: { type: 'auto' } };
      const lost = (more: object) =>
        at.adapter
          .losses(ask({ tools: [look, agents, interpreter], ...more }), at.target)
          .filter(({ param }) => param.startsWith('tools'))
          .map((loss) => [loss.class, loss.code, loss.param.replace('.type', '')]);
      expect(lost({})).toEqual([['behaviour', 'server_tool_dropped', 'tools[2]']]);
      const forced = lost({ tool_choice: { type: 'code_interpreter' } });
      expect(forced).toEqual([
        ['content', expect.stringMatching(/^server_tool(_unsupported)?$/), 'tools[2]'],
      ]);
      const sent = JSON.stringify(wireOf(ask({ tools: [look, interpreter, search] }), at));
      expect(sent).toContain('"look"');
      expect(sent).not.toMatch(/code_interpreter|web_search|googleSearch/);
    },
  );

  test('is forced where nothing else may be called', () => {
    const lost = (more: object) => openaiChat.losses(ask(more), chat.target).map((loss) => loss.class);
    expect(lost({ tools: [search], tool_choice: 'required' })).toEqual(['content']);
    expect(lost({ tools: [look, search], tool_choice: 'required' })).toEqual(['behaviour']);
    const tools = [{ type: 'web_search' }];
    expect(
      lost({ tools: [look, search], tool_choice: { type: 'allowed_tools', mode: 'required', tools } }),
    ).toEqual(['content']);
  });

  test('takes the choices with it that would name nothing', () => {
    const tools = [look, { type: 'code_interpreter' }];
    const allowed = [{ type: 'function', name: 'look' }, { type: 'code_interpreter' }];
    const some = wireOf(ask({ tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed } }));
    expect(JSON.stringify(some.tool_choice)).not.toContain('code_interpreter');
    expect(wireOf(ask({ tools, tool_choice: { type: 'code_interpreter' } }))).not.toHaveProperty(
      'tool_choice',
    );
    expect(wireOf(ask({ tools: [search], tool_choice: 'auto' }))).not.toHaveProperty('tools');
  });
});
