// What an operator sees of calls while providers fail: metrics as Prometheus reads them, and a log line for each call.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { createLog } from '@svc/core/kernel/index.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../caller.ts';
import { answering, inOrder, refusing } from '../endpoints.ts';
import { bodyOf, eventually, idOf, type Org, openWorld, send, type World } from '../world.ts';

const PLANTED = 'planted-content-93ab';
const lines: string[] = [];
let metrics_port: number;
let world: World;
let org: Org;

beforeAll(async () => {
  metrics_port = await freePort();
  world = await openWorld({
    gateway: 'here',
    env: { SVC_METRICS_PORT: String(metrics_port) },
    log: createLog('info', 'gateway', { write: (line: string | Uint8Array) => lines.push(String(line)) > 0 }),
  });
  org = await world.org();
});
afterAll(() => world.close());

async function scrape(): Promise<string> {
  const accept = 'application/openmetrics-text; version=1.0.0';
  return (await fetch(`http://127.0.0.1:${metrics_port}/metrics`, { headers: { accept } })).text();
}

/** The value of the only series of `name` that has all of `labels`; undefined where there is none. */
function seriesOf(text: string, name: string, labels: Readonly<Record<string, string>>): number | undefined {
  const found = text.split('\n').filter((line) => {
    return (
      line.startsWith(`${name}{`) &&
      Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`))
    );
  });
  expect(found.length).toBeLessThan(2);
  return found[0] === undefined ? undefined : Number(/} (\S+)/.exec(found[0])?.[1]);
}

function lineOf(request_id: string): Json {
  const found = lines
    .map((line) => JSON.parse(line) as Json)
    .filter((line) => line['request_id'] === request_id);
  expect(found).toHaveLength(1);
  return found[0] as Json;
}

/** Calls a model whose first endpoint answers as `fails` says and whose second one works. */
async function failingOver(fails: ReturnType<typeof refusing>, times: number): Promise<string[]> {
  const { id, upstream } = world.model('script-pair');
  world.script.on(upstream, 'a', fails());
  world.script.on(upstream, 'b', answering(false)(upstream));
  const ids: string[] = [];
  for (let n = 0; n < times; n++) {
    const body = bodyOf(id, PLANTED, inOrder('script-a', 'script-b'));
    const reply = await send(world, 'chat', org.live_key, body).reply;
    expect(reply.status).toBe(200);
    ids.push(idOf(reply));
  }
  return ids;
}

describe('a provider that is down', () => {
  test('is seen, though every call succeeds at another one', async () => {
    const ids = await failingOver(refusing(500), 6);
    const text = await scrape();
    const at = { provider: 'script-a', error_class: 'server' };
    // Five failures open the circuit: the sixth call does not try it.
    expect(seriesOf(text, 'svc_attempts_total', { ...at, own_key: 'false', outcome: 'error' })).toBe(5);
    expect(seriesOf(text, 'svc_failovers_total', at)).toBe(5);
    expect(seriesOf(text, 'svc_upstream_responses_total', { provider: 'script-a', status: '500' })).toBe(5);
    expect(seriesOf(text, 'svc_upstream_responses_total', { provider: 'script-b', status: '200' })).toBe(6);
    expect(text).toMatch(/svc_circuits_open\{endpoint_id="ep_[^"]+",program="gateway"\} 1\n/);
    expect(text).not.toMatch(/svc_circuits_open_for_all\{/);
    const failed = { provider: 'script-a', class: 'server', http_status: 500 };
    expect(lineOf(ids[0] as string)).toMatchObject({
      level: 'info',
      msg: 'call',
      org_id: org.org_id,
      dialect: 'chat',
      provider: 'script-b',
      status: 'ok',
      attempts: 2,
      failed: [failed],
      input_tokens: 10,
      output_tokens: 3,
    });
    const opened = lines
      .map((line) => JSON.parse(line) as Json)
      .filter(({ open_for }) => open_for !== undefined);
    expect(opened).toHaveLength(1);
    expect(opened[0]).toMatchObject({
      level: 'warn',
      provider: 'script-a',
      open_for: 'some organizations',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  test('that throttles a key shows how many rest', async () => {
    await failingOver(refusing(429, { error: { message: 'slow down' } }, { 'retry-after': '30' }), 1);
    expect(seriesOf(await scrape(), 'svc_provider_keys_resting', { provider: 'script-a' })).toBe(1);
  });
});

test('a call that fails is a warning with what each endpoint answered', async () => {
  const { id, upstream } = world.model('script');
  world.script.on(upstream, 'a', refusing(503)());
  const reply = await send(world, 'chat', org.live_key, bodyOf(id, PLANTED)).reply;
  expect(reply.status).toBeGreaterThanOrEqual(500);
  expect(lineOf(idOf(reply))).toMatchObject({
    level: 'warn',
    status: 'error',
    error_code: expect.any(String),
    failed: [{ provider: 'script-a', http_status: 503 }],
    charged_micro_usd: 0,
  });
});

test('a bucket names a call in it, by request id and by the trace that its caller named', async () => {
  const { id } = world.model('chat');
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const reply = await world.chat(org.live_key, bodyOf(id, 'Hi'), { headers: { traceparent } }).reply;
  expect(reply.status).toBe(200);
  const exemplar = `{request_id="${idOf(reply)}",trace_id="0af7651916cd43dd8448eb211c80319c"}`;
  const text = await eventually('the call is counted', async () => {
    const found = await scrape();
    return found.includes(exemplar) ? found : null;
  });
  expect(text).toMatch(/# EOF\n$/);
});

test('settles, batches and connections are counted', async () => {
  const { id } = world.model('chat');
  const reply = await world.chat(org.live_key, bodyOf(id, 'Hi')).reply;
  await world.ended(org, idOf(reply));
  const text = await scrape();
  const shard = { shard: 'main' };
  expect(seriesOf(text, 'svc_settle_delay_seconds_count', shard)).toBeGreaterThan(0);
  expect(seriesOf(text, 'svc_ledger_batches_total', { ...shard, batcher: 'settle' })).toBeGreaterThan(0);
  expect(seriesOf(text, 'svc_ledger_batch_items_total', { ...shard, batcher: 'hold' })).toBeGreaterThan(0);
  expect(seriesOf(text, 'svc_settles_journaled', shard)).toBe(0);
  expect(seriesOf(text, 'svc_database_connections', { state: 'idle' })).toBeGreaterThanOrEqual(0);
  expect(seriesOf(text, 'svc_build_info', { version: '0.1.0' })).toBe(1);
});

test('nothing that a caller wrote is in log or metrics', async () => {
  const { id } = world.model('chat');
  await world.chat(org.live_key, bodyOf(id, PLANTED, { user: PLANTED, metadata: { tag: PLANTED } })).reply;
  await world.chat(org.live_key, bodyOf(`calls/${PLANTED}`, 'Hi')).reply;
  expect(`${await scrape()}${lines.join('')}`).not.toContain(PLANTED);
});
