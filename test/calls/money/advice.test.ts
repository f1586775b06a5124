// Advice: each sentence is computed again here from the answer of its own query, of calls that were made for it.
import { expect, test } from 'vitest';
import type { Json } from '../caller.ts';
import { refuse, usageOf, wholeAnswer } from '../upstream.ts';
import { bodyOf, type Org, send, useWorld } from '../world.ts';

const DEAR = { input: 5, output: 10 };
const CHEAP = { input: 1, output: 2 };
const CACHE = { input: 1, output: 2, cache_read: 0.1, cache_write: 2 };
const endpoint = (provider: string, rates: object) => `
      - provider: ${provider}
        upstream_model: advice
        region: local
        cancel_billing: stops
        price: ${JSON.stringify(rates, (_, value) => (typeof value === 'number' ? String(value) : value))}`;
const model = (id: string, endpoints: string) => `
  - id: ${id}
    name: ${id}
    context_length: 128000
    max_output: 8192
    capabilities: { tools: true, json_schema: true, vision: true, cache: true, reasoning: true }
    endpoints:${endpoints}`;
const world = useWorld({
  extras: () => ({
    providers: '',
    models: [
      model('advice/two', endpoint('script-a', DEAR) + endpoint('script-b', CHEAP)),
      model('advice/moved', endpoint('script-a', CHEAP) + endpoint('script-b', DEAR)),
      model('advice/cache', endpoint('script-x', CACHE)),
    ].join(''),
  }),
});

interface Item {
  readonly kind: string;
  readonly sentence: string;
  readonly saving_micro: number;
  readonly model: string;
  readonly key_id: string | null;
  readonly provider: string;
  readonly instead_provider: string | null;
  readonly instead_endpoint_id: string | null;
  readonly query: { readonly method: string; readonly path: string };
  readonly numbers: Readonly<Record<string, number>>;
}

const read = async <T = Json>(org: Org, path: string): Promise<T> => {
  const reply = await fetch(`${world().gateway.base_url}${path}`, {
    headers: { authorization: `Bearer ${org.live_key}` },
  });
  const body = (await reply.json()) as T;
  expect([path, reply.status, body]).toEqual([path, 200, expect.anything()]);
  return body;
};
const adviceOf = async (org: Org) => (await read<{ data: Item[] }>(org, '/v1/usage/advice?range=24h')).data;

interface Call {
  readonly input: number;
  readonly output: number;
  readonly order?: readonly string[];
}
/** Calls of `name`; they end at the first site that answers. */
async function make(org: Org, name: string, calls: readonly Call[], failing: readonly string[] = []) {
  for (const { input, output, order } of calls) {
    for (const site of ['a', 'b']) {
      const answer = wholeAnswer('advice', { usage: usageOf(input, output) });
      const bad = failing.includes(site);
      world().script.on(
        'advice',
        site,
        bad ? refuse(500, { error: { message: 'no' } }) : refuse(200, answer),
      );
    }
    const route = order === undefined ? {} : { svc: { route: { providers: { order } } } };
    const reply = await send(world(), 'chat', org.live_key, bodyOf(name, 'word '.repeat(200), route)).reply;
    expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
    await world().ended(org, reply.headers['x-svc-request-id'] as string);
  }
}
const costAt = ({ input, output }: { input: number; output: number }, rates: typeof DEAR) =>
  input * rates.input + output * rates.output;

/** Calls that the query of `item` answers with and that could have gone to the cheaper endpoint, by their own details. */
async function callsOf(org: Org, item: Item): Promise<Json[]> {
  expect(item.query.method).toBe('GET');
  const { data } = await read<{ data: Json[] }>(org, item.query.path);
  const details = await Promise.all(data.map(({ request_id }) => read(org, `/v1/requests/${request_id}`)));
  return details.filter(({ route, attempts }) =>
    attempts > 1
      ? route.attempts[0].endpoint_id === item.instead_endpoint_id
      : route.plan.some((one: Json) => one['endpoint_id'] === item.instead_endpoint_id),
  );
}
const shown = (micro: number) => `$${(micro / 1e6).toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`;

test('calls that went to a dearer endpoint than their plan allowed are named, and their query proves it', async () => {
  const org = await world().org();
  const order = ['script-a', 'script-b'];
  await make(org, 'advice/two', [
    { input: 100, output: 7, order },
    { input: 31, output: 1, order },
    // Of these two nothing is to be said: one was cheap, the other allowed nothing else.
    { input: 50, output: 5, order: ['script-b', 'script-a'] },
  ]);
  const only = { svc: { route: { providers: { only: ['script-a'] } } } };
  const reply = await send(world(), 'chat', org.live_key, bodyOf('advice/two', 'word '.repeat(200), only))
    .reply;
  await world().ended(org, reply.headers['x-svc-request-id'] as string);
  const [item, ...more] = await adviceOf(org);
  expect([item?.kind, item?.provider, item?.instead_provider, more]).toEqual([
    ...['dearer_endpoint', 'script-a', 'script-b', []],
  ]);
  const calls = await callsOf(org, item as Item);
  const cost_micro = calls.reduce((sum, call) => sum + call['cost_micro'], 0);
  const instead_micro = calls.reduce(
    (sum, call) => sum + costAt({ input: call['input_tokens'], output: call['output_tokens'] }, CHEAP),
    0,
  );
  expect(item?.numbers).toEqual({ calls: 2, cost_micro, instead_micro });
  expect(cost_micro).toBe(costAt({ input: 131, output: 8 }, DEAR));
  expect(item?.saving_micro).toBe(cost_micro - instead_micro);
  expect(item?.sentence).toBe(
    `2 calls of advice/two went to script-a and cost ${shown(cost_micro)}; your policy allowed script-b for each of them, ` +
      `which was not known to be ill, and they would have cost ${shown(instead_micro)} at script-b by today's prices.`,
  );
});

test('calls that moved on to a dearer endpoint after a failure are named, and their query proves it', async () => {
  const org = await world().org();
  const order = ['script-a', 'script-b'];
  await make(org, 'advice/moved', [{ input: 100, output: 7, order }], ['a']);
  await make(org, 'advice/moved', [{ input: 40, output: 4, order }]);
  const [item, ...more] = await adviceOf(org);
  expect([item?.kind, item?.provider, item?.instead_provider, more]).toEqual([
    ...['retries_paid', 'script-b', 'script-a', []],
  ]);
  const calls = await callsOf(org, item as Item);
  expect(calls.map((call) => [call['attempts'], call['cost_micro']])).toEqual([
    [2, costAt({ input: 100, output: 7 }, DEAR)],
  ]);
  const instead_micro = costAt({ input: 100, output: 7 }, CHEAP);
  expect(item?.numbers).toEqual({ calls: 1, cost_micro: calls[0]?.['cost_micro'], instead_micro });
  expect(item?.sentence).toContain(`and would have cost ${shown(instead_micro)} at script-a`);
});

test('a key that writes to a cache and does not read from it is named until its reads have paid', async () => {
  const org = await world().org();
  const ask = async (usage: object) => {
    world().script.on(
      'advice',
      'x',
      refuse(200, {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'advice', stop_sequence: null },
        ...{ content: [{ type: 'text', text: 'yes' }], stop_reason: 'end_turn' },
        usage: { input_tokens: 10, output_tokens: 3, ...usage },
      }),
    );
    const content = [{ type: 'text', text: 'word '.repeat(3_000), cache_control: { type: 'ephemeral' } }];
    const body = { model: 'advice/cache', max_tokens: 50, messages: [{ role: 'user', content }] };
    const reply = await send(world(), 'messages', org.live_key, body).reply;
    expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
    await world().ended(org, reply.headers['x-svc-request-id'] as string);
  };
  await ask({ cache_creation_input_tokens: 1_000 });
  const [item] = await adviceOf(org);
  expect([item?.kind, item?.key_id]).toEqual(['cache_reads_missed', org.keys[0]?.key_id]);
  const { totals } = await read<{ totals: Json }>(org, item?.query.path as string);
  const { cache_write_tokens, cache_read_tokens } = totals;
  const write_surcharge_micro = cache_write_tokens * (CACHE.cache_write - CACHE.input);
  expect(item?.numbers).toEqual({
    ...{ cache_write_tokens, cache_read_tokens, write_surcharge_micro, read_saving_micro: 0 },
  });
  expect([cache_write_tokens, item?.saving_micro]).toEqual([1_000, 1_000]);
  expect(item?.sentence).toContain(
    '1000 tokens were written into the cache of advice/cache with this key and 0 read',
  );
  await ask({ cache_read_input_tokens: 1_000 });
  // 900 saved of 1,000 paid: said still, with what is left; and after one more read no longer.
  expect((await adviceOf(org)).map(({ saving_micro }) => saving_micro)).toEqual([100]);
  await ask({ cache_read_input_tokens: 1_000 });
  expect(await adviceOf(org)).toEqual([]);
});

test('another organization is told nothing of it', async () => {
  const org = await world().org();
  await make(org, 'advice/two', [{ input: 100, output: 7, order: ['script-a', 'script-b'] }]);
  expect(await adviceOf(org)).toHaveLength(1);
  expect(await adviceOf(await world().org())).toEqual([]);
});
