// The row of a call has the number of tool calls in its answer.
import { describe, expect, test } from 'vitest';
import { bodyOf, type Dialect, idOf, type Row, send, useWorld } from '../world.ts';

const world = useWorld();

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const tools = {
  chat: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
  messages: [{ name: 'weather', input_schema: schema }],
};
const ways = (['chat', 'messages'] as const).flatMap((dialect) =>
  (['chat', 'messages'] as const).flatMap((kind) =>
    [true, false].map((stream) => ({ dialect, kind, stream })),
  ),
);

async function rowOf(way: { dialect: Dialect; kind: 'chat' | 'messages'; stream: boolean }, knobs: string) {
  const org = await world().org();
  const { id } = world().model(way.kind);
  const more = { stream: way.stream, tools: tools[way.dialect] };
  const reply = await send(world(), way.dialect, org.live_key, bodyOf(id, `sim: ${knobs}`, more)).reply;
  const { row } = await world().ended(org, idOf(reply));
  return row as Row & { readonly tool_calls: number };
}

describe.concurrent('the row of an answer', () => {
  test.each(ways)('counts its calls ($dialect on $kind, stream $stream)', async (way) => {
    expect(await rowOf(way, 'tools=2')).toMatchObject({ status: 'ok', tool_calls: 2 });
  });

  test('counts none of an answer in words, nor of one that failed', async () => {
    const way = { dialect: 'chat', kind: 'chat', stream: true } as const;
    expect((await rowOf(way, 'tools=0 tokens=10')).tool_calls).toBe(0);
    expect((await rowOf(way, 'status=500')).tool_calls).toBe(0);
  });
});
