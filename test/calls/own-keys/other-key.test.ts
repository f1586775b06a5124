// What is at fault decides what is tried next: a key that is refused comes with another key of its pool, an endpoint
// whose provider does not know its model stands behind the others and is told of
// (docs/outcomes.md#faults-of-a-provider).
import { freePort } from '@svc/cli/tools/postgres.ts';
import { describe, expect, test } from 'vitest';
import { errorOf, svcOf } from '../caller.ts';
import { refuse, wholeAnswer } from '../upstream.ts';
import { bodyOf, eventually, idOf, useWorld } from '../world.ts';

const metrics_port = await freePort();

// Keys that are refused rest for all: each test has a provider of its own.
const CASES = ['auth', 'quota', 'throttled', 'both', 'once'];
const world = useWorld({
  models: {},
  env: { SVC_METRICS_PORT: String(metrics_port), LONE_KEY: 'sk-lone' },
  extras: ({ script }) => {
    const provider = (id: string, keys: string, site: string) => `
  - id: ${id}
    name: ${id}
    kind: openai
    base_url: ${script.url}/${site}/v1
    api_key_env: [${keys}]
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
    const model = (id: string, ...providers: string[]) => `
  - id: keys/${id}
    name: ${id}
    context_length: 128000
    max_output: 8192
    capabilities: { tools: true }
    endpoints:${providers
      .map(
        (provider) => `
      - provider: ${provider}
        upstream_model: ${id}
        region: local
        cancel_billing: stops
        price: { input: "1", output: "1" }`,
      )
      .join('')}`;
    return {
      providers: [
        ...CASES.map((id) => provider(`pool-${id}`, 'CALLS_KEY, CALLS_KEY_TWO', 'k')),
        provider('lone', 'LONE_KEY', 'k'),
        provider('next', 'LONE_KEY', 'n'),
        provider('gone', 'LONE_KEY', 'g'),
      ].join(''),
      models: [
        ...CASES.map((id) => model(id, `pool-${id}`)),
        model('lone', 'lone'),
        model('rejected', 'pool-once', 'next'),
        model('gone', 'gone', 'next'),
      ].join(''),
    };
  },
});

async function ask(id: string, more: object = {}) {
  const org = await world().org();
  const reply = await world().chat(org.live_key, bodyOf(`keys/${id}`, 'Hi', more)).reply;
  const ended = await world().ended(org, idOf(reply));
  const keys = world()
    .script.received(id)
    .map(({ headers }) => headers.authorization);
  return { reply, ended, keys };
}

/** Refuses the first key that comes to `id` with `status`, whichever it is. */
function refusingOne(id: string, status: number): void {
  let bad: string | undefined;
  world().script.on(id, 'k', (response, received) => {
    bad ??= received.headers.authorization;
    const refused = received.headers.authorization === bad;
    refuse(refused ? status : 200, refused ? { error: { message: 'no' } } : wholeAnswer(id))(
      response,
      received,
    );
  });
}

describe.concurrent('the only endpoint of a model, when it refuses a key', () => {
  test.each([
    ['auth', 401],
    ['quota', 402],
    ['rate_limit', 429],
  ] as const)('is tried again with another key of its pool (%s)', async (fault, status) => {
    const id = fault === 'rate_limit' ? 'throttled' : fault;
    refusingOne(id, status);
    const { reply, ended, keys } = await ask(id);
    expect(reply.status).toBe(200);
    expect(ended.attempts).toEqual([`error ${fault}`, 'ok']);
    expect(new Set(keys).size).toBe(2);
  });

  test('is tried no third time, with no key twice', async () => {
    world().script.on('both', 'k', refuse(403, { error: { message: 'no' } }));
    const { reply, ended, keys } = await ask('both');
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([502, 'upstream_error']);
    expect(ended).toMatchObject({ charged: 0, attempts: ['error auth', 'error auth'] });
    expect(keys.toSorted()).toEqual(['Bearer sk-calls-one', 'Bearer sk-calls-two']);
  });

  test('is not tried again where there is no other key', async () => {
    world().script.on('lone', 'k', refuse(401, { error: { message: 'no' } }));
    const { ended, keys } = await ask('lone');
    expect(ended.attempts).toEqual(['error auth']);
    expect(keys).toEqual(['Bearer sk-lone']);
  });
});

test('another endpoint comes before another key, and where that fails too the key is still there', async () => {
  refusingOne('rejected', 401);
  world().script.on('rejected', 'n', refuse(500, { error: { message: 'down' } }));
  const route = { providers: { order: ['pool-once', 'next'] } };
  const { reply, ended } = await ask('rejected', { svc: { route } });
  expect(svcOf(reply)?.['provider']).toBe('pool-once');
  expect(ended.attempts).toEqual(['error auth', 'error server', 'ok']);
  const sites = world()
    .script.received('rejected')
    .map(({ site }) => site);
  expect(sites).toEqual(['k', 'n', 'k']);
});

test('an endpoint whose provider does not know its model is logged once, counted, and comes behind the others', async () => {
  world().script.on('gone', 'g', refuse(404, { error: { message: 'no such', code: 'model_not_found' } }));
  world().script.on('gone', 'n', refuse(200, wholeAnswer('gone')));
  const figure = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metrics_port}/metrics`)).text();
    return Number(/^svc_endpoints_without_model\{[^}]*\} (\d+)$/m.exec(text)?.[1]);
  };
  expect(await figure()).toBe(0);
  const first = await ask('gone', { svc: { route: { providers: { order: ['gone', 'next'] } } } });
  expect(first.ended.attempts).toEqual(['error model_missing', 'ok']);
  const reported = () => {
    const lines = world().gateway.output().split('\n');
    return lines.filter((line) => line.includes('endpoint_model_missing')).map((line) => JSON.parse(line));
  };
  await eventually('the log line', () => reported().length > 0);
  expect(reported()).toMatchObject([{ provider: 'gone', model: 'keys/gone', upstream_model: 'gone' }]);
  expect(reported()[0].endpoint_id).toMatch(/^ep_/);
  expect(await figure()).toBe(1);
  for (let i = 0; i < 3; i++) expect((await ask('gone')).ended.attempts).toEqual(['ok']);
  // Asked for by name it is still tried; the operator has heard of it already.
  const again = await ask('gone', { svc: { route: { providers: { order: ['gone'] } } } });
  expect(again.ended.attempts).toEqual(['error model_missing', 'ok']);
  expect(reported()).toHaveLength(1);
});
