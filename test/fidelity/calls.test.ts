// Results of calls in any order, and ids that a family's pattern refuses (docs/fidelity.md#tool-call-ids).
import { describe, expect, test } from 'vitest';
import { endpoint } from './endpoints.ts';
import { bodyOf, read, send, sendTo } from './evaluate.ts';
import { type Dialect, FAMILIES, type Json, RAW } from './types.ts';

const ask = { role: 'user', content: 'Look' };

interface Turn {
  /** Ids of the calls, in order. */
  readonly calls: readonly string[];
  /** Ids of the results, in order. */
  readonly results: readonly string[];
}

const history: Readonly<Record<Exclude<Dialect, 'completions'>, (turn: Turn) => Json>> = {
  chat: ({ calls, results }) => ({
    messages: [
      ask,
      {
        role: 'assistant',
        content: null,
        tool_calls: calls.map((id) => ({
          id,
          type: 'function',
          function: { name: 'look', arguments: '{}' },
        })),
      },
      ...results.map((id) => ({ role: 'tool', tool_call_id: id, content: `for ${id}` })),
    ],
  }),
  responses: ({ calls, results }) => ({
    input: [
      ask,
      ...calls.map((call_id) => ({ type: 'function_call', call_id, name: 'look', arguments: '{}' })),
      ...results.map((call_id) => ({ type: 'function_call_output', call_id, output: `for ${call_id}` })),
    ],
  }),
  messages: ({ calls, results }) => ({
    messages: [
      ask,
      { role: 'assistant', content: calls.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })) },
      {
        role: 'user',
        content: results.map((tool_use_id) => ({
          type: 'tool_result',
          tool_use_id,
          content: `for ${tool_use_id}`,
        })),
      },
    ],
  }),
  native: ({ calls, results }) => ({
    messages: [
      ask,
      {
        role: 'assistant',
        content: calls.map((id) => ({ type: 'tool_call', id, name: 'look', arguments: '{}' })),
      },
      ...results.map((tool_call_id) => ({
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id, content: `for ${tool_call_id}` }],
      })),
    ],
  }),
};

const dialects = ['chat', 'responses', 'messages', 'native'] as const;
const cells = dialects.flatMap((dialect) =>
  FAMILIES.filter((family) => RAW[dialect] !== family).map((family) => ({ dialect, family })),
);

describe.each(dialects)('%s', (dialect) => {
  const turn = (calls: string[], results: string[]) => bodyOf(dialect, history[dialect]({ calls, results }));

  test('refuses a call without its result', () => {
    expect(() => read(dialect, turn(['a1', 'b2'], ['a1']))).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  test('refuses a result without its call', () => {
    expect(() => read(dialect, turn(['a1'], ['a1', 'c3']))).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});

test.each(cells.filter(({ dialect }) => dialect !== 'messages'))(
  'a result of $dialect that comes late stands behind its call at $family',
  ({ dialect, family }) => {
    const turns = history[dialect]({ calls: ['a1'], results: ['a1'] });
    const [list] = Object.values(turns) as [Json[]];
    list.splice(-1, 0, { role: 'user', content: 'Meanwhile' });
    const { text, lost } = send(dialect, family, turns);
    expect(lost).toEqual([]);
    expect(text.indexOf('for a1')).toBeGreaterThan(0);
    expect(text.indexOf('for a1')).toBeLessThan(text.indexOf('Meanwhile'));
  },
);

/** An id as some servers make them, which the patterns of others refuse. */
const odd = `functions.look:0|${'x'.repeat(80)}`;

test.each(cells)(
  'an odd id of $dialect fits $family, the same for call and result',
  ({ dialect, family }) => {
    const { text } = send(dialect, family, history[dialect]({ calls: [odd], results: [odd] }));
    if (family === 'gemini') return expect(text.split(JSON.stringify(odd)).length - 1).toBeLessThanOrEqual(2);
    expect(text).not.toContain(`"${odd}"`);
    const ids = [...text.matchAll(/"(?:id|tool_call_id|call_id|tool_use_id|toolUseId)":"([^"]*)"/g)].map(
      (match) => match[1],
    );
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  },
);

test.each(['openai_chat', 'openai_responses'] as const)(
  '%s: an endpoint that takes no switch for parallel calls is sent none, which is reported',
  (family) => {
    const ordinary = endpoint(family);
    const capabilities = { ...ordinary.capabilities, parallel_tools: false };
    const more = { tools: [{ name: 'look', input_schema: { type: 'object' } }] };
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
    const { body, lost } = sendTo({ ...ordinary, capabilities }, 'messages', { ...more, tool_choice });
    expect(body['tools']).toHaveLength(1);
    expect(body).not.toHaveProperty('parallel_tool_calls');
    expect(lost).toEqual(['behaviour:parallel_dropped']);
  },
);
