// The tail of calls over server-sent events: every row of the organization, once, in the order in which rows became readable.

import { summariseArrivals } from '@svc/core/analytics/index.ts';
import { newRequestId, type RequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { openMemoryLimits } from '@svc/core/limits/index.ts';
import { afterEach, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startHarness } from './harness.ts';
import { rowOf } from './rows.ts';

const limits = openMemoryLimits();
const harness = await startHarness({ services: { limits } });
const { a, b, app, call, makeKey, request_log } = harness;
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as { port: number };
const MINUTE_MS = 60_000;

interface Tail {
  readonly status: number;
  readonly headers: Headers;
  /** Ids of the rows that have come. */
  readonly ids: string[];
  /** Names of other events. */
  readonly others: string[];
  readonly rows: { readonly request_id: string; readonly model: string }[];
  readonly ended: Promise<void>;
  close(): void;
}
const open: Tail[] = [];
afterEach(() => {
  shiftClock(0);
  for (const tail of open.splice(0)) tail.close();
});
// Readers keep their connections.
atFileEnd(async () => app.server.closeAllConnections());

async function follow(query = '', { key = a.key, headers = {} }: { key?: string; headers?: object } = {}) {
  const left = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}/v1/requests/tail?interval_ms=500&${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: left.signal,
  });
  const [ids, others, rows]: [string[], string[], Tail['rows']] = [[], [], []];
  const take = (block: string) => {
    const fields = Object.fromEntries(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    if (fields['event'] === 'request') {
      ids.push(fields['id'] as string);
      rows.push(JSON.parse(fields['data'] as string));
    } else if (fields['event'] !== undefined) others.push(fields['event']);
  };
  const read = async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of answer.body as ReadableStream<Uint8Array>) {
      const blocks = (text + decoder.decode(piece, { stream: true })).split('\n\n');
      text = blocks.pop() as string;
      for (const block of blocks) take(block);
    }
  };
  const ended = read().catch(() => {});
  const { status, headers: said } = answer;
  const tail: Tail = { status, headers: said, ids, others, rows, ended, close: () => left.abort() };
  open.push(tail);
  return tail;
}

/** Stores rows of `a`, unless told otherwise, and returns their ids. */
async function store(count: number, more: Parameters<typeof rowOf>[1] = {}, tenant = a): Promise<string[]> {
  const rows = Array.from({ length: count }, () => rowOf(tenant, { request_id: newRequestId(), ...more }));
  for (const row of rows) request_log.write(row);
  await request_log.flush();
  return rows.map(({ request_id }) => request_id);
}

/** The id of a call that began so many minutes ago. */
function idOf(minutes: number): RequestId {
  shiftClock(-minutes * MINUTE_MS);
  const id = newRequestId();
  shiftClock(0);
  return id;
}

const sorted = (ids: readonly string[]) => [...ids].sort();
const same = (tail: Tail, ids: readonly string[]) =>
  expect.poll(() => sorted(tail.ids), { timeout: 10_000 }).toEqual(sorted(ids));

test('each new row is an event with its id and the fields of the list, and nobody else is in it', async () => {
  await store(1);
  const tail = await follow();
  expect([tail.status, tail.headers.get('content-type'), tail.headers.get('cache-control')]).toEqual([
    ...[200, 'text/event-stream; charset=utf-8', 'no-store'],
  ]);
  const ids = await store(3);
  await store(2, {}, b);
  await store(2, { environment: 'test' });
  await same(tail, ids);
  const listed = (await call('GET', '/v1/requests?limit=3', { key: a.key })).json().data;
  const byId = (one: { request_id: string }, other: { request_id: string }) =>
    one.request_id < other.request_id ? -1 : 1;
  expect([...tail.rows].sort(byId)).toEqual([...listed].sort(byId));
});

test('five hundred rows at once all come, each once', async () => {
  const tail = await follow();
  const ids = await store(500);
  await same(tail, ids);
  const more = await store(501);
  await same(tail, [...ids, ...more]);
});

test('the filters of the list hold', async () => {
  const tail = await follow('model=acme/slow-1&errors_only=true');
  const [wanted] = await store(1, { model: 'acme/slow-1', status: 'error' });
  await store(1, { model: 'acme/slow-1' });
  await store(1, { status: 'error' });
  const [last] = await store(1, { model: 'acme/slow-1', status: 'rejected' });
  await same(tail, [wanted, last] as string[]);
});

test('the filters by what a caller said hold in list and tail', async () => {
  const user_hash = 'c'.repeat(64);
  const own = { user_hash, session_id: 'run 7/ü', app_id: 'notes', tags: { team: 'red' } };
  const query = `user=${user_hash}&session=${encodeURIComponent('run 7/ü')}&app=notes&tag=team&tag_value=red`;
  const tail = await follow(query);
  const [wanted] = await store(1, own);
  for (const other of [
    { user_hash: '' },
    { session_id: '' },
    { app_id: '' },
    { tags: { team: 'blue' } },
    { tags: {} },
  ]) {
    await store(1, { ...own, ...other });
  }
  const [last] = await store(1, own);
  await same(tail, [wanted, last] as string[]);
  const listed = async (of: string) =>
    (await call('GET', `/v1/requests?${of}`, { key: a.key })).json().data as { request_id: string }[];
  expect((await listed(query)).map(({ request_id }) => request_id).sort()).toEqual([wanted, last].sort());
  expect(await listed(`user=${user_hash}&tag=team`)).toHaveLength(5);
  expect(await listed(`user=${user_hash}&tag=team&tag_value=`)).toHaveLength(1);
  expect(await listed(`user=${user_hash}&session=`)).toHaveLength(1);
  const nameless = await call('GET', '/v1/requests?tag_value=red', { key: a.key });
  expect([nameless.statusCode, nameless.json().error.param]).toEqual([400, 'tag']);
});

test('a row that comes late, of a call that began an hour ago, is in the tail as it comes', async () => {
  const tail = await follow();
  const [late] = await store(1, { request_id: idOf(60) });
  await same(tail, [late as string]);
});

test('whoever was away goes on after the last row, by parameter or Last-Event-ID, with late rows', async () => {
  const first = await follow();
  const [seen] = await store(1);
  await same(first, [seen as string]);
  first.close();
  const missed = await store(250);
  const late = await store(1, { request_id: idOf(30) });
  for (const again of [
    await follow(`after=${seen}`),
    await follow('', { headers: { 'last-event-id': seen } }),
    await follow(`after=${seen}`, { headers: { 'last-event-id': late[0] } }),
  ]) {
    // What was stored within seconds before the last row may come again; nothing after it is missing.
    await expect
      .poll(() => again.ids, { timeout: 10_000 })
      .toEqual(expect.arrayContaining([...missed, ...late]));
    expect(new Set(again.ids).size).toBe(again.ids.length);
    expect(again.ids).not.toContain(seen);
  }
});

test('of a reader that is cut off again and again, no row is missed', async () => {
  const ids: string[] = [];
  const got = new Set<string>();
  let last = (await store(1))[0] as string;
  for (let round = 0; round < 8; round++) {
    const tail = await follow(`after=${last}`);
    ids.push(...(await store(60)));
    await expect.poll(() => tail.ids.length, { timeout: 10_000 }).toBeGreaterThan(0);
    tail.close();
    await tail.ended;
    for (const id of tail.ids) got.add(id);
    last = tail.ids.at(-1) ?? last;
  }
  const rest = await follow(`after=${last}`);
  const missing = () => ids.filter((id) => !got.has(id) && !rest.ids.includes(id));
  await expect.poll(missing, { timeout: 10_000 }).toEqual([]);
});

test('an unknown id, one of another organization and none begin now', async () => {
  const [theirs] = await store(1, {}, b);
  await store(1);
  const tails = await Promise.all(
    [`after=${newRequestId()}`, `after=${theirs}`, 'after=nothing', 'after='].map((query) => follow(query)),
  );
  const ids = await store(2);
  for (const tail of tails) await same(tail, ids);
});

test('an organization follows five at once; a sixth is refused until one has left', async () => {
  const tails = await Promise.all(Array.from({ length: 5 }, () => follow()));
  expect(tails.map(({ status }) => status)).toEqual(Array(5).fill(200));
  const refused = await call('GET', '/v1/requests/tail', { key: a.key });
  expect([refused.statusCode, refused.json().error]).toMatchObject([
    429,
    { code: 'rate_limit_exceeded', details: { limit: 'streams', scope: 'org', limit_value: 5 } },
  ]);
  expect((await follow('', { key: b.key })).status).toBe(200);
  tails[2]?.close();
  await expect.poll(async () => (await follow()).status, { timeout: 10_000 }).toBe(200);
});

test('a tail ends when its key is revoked, and after an hour with an event that says so', async () => {
  const key = await makeKey(a);
  const revoked = await follow('', { key: key.secret });
  const whole = await follow();
  await call('DELETE', `/v1/keys/${key.id}`, { key: a.key });
  harness.keys.forget(key.id);
  await revoked.ended;
  expect(revoked.others).toEqual(['end']);
  shiftClock(60 * MINUTE_MS);
  await whole.ended;
  expect(whole.others).toEqual(['end']);
}, 20_000);

test('a test key follows the sandbox, and not live calls', async () => {
  const tail = await follow('', { key: a.test_key });
  const ids = await store(1, { environment: 'test' });
  await store(1);
  await same(tail, ids);
  const refused = await call('GET', '/v1/requests/tail?environment=live', { key: a.test_key });
  expect([refused.statusCode, refused.json().error.code]).toEqual([403, 'permission_denied']);
});

test.each(['interval_ms=499', 'interval_ms=30001', 'min_cost_micro=-1', 'status=odd'])(
  '%s is refused, by its name',
  async (query) => {
    const answer = await call('GET', `/v1/requests/tail?${query}`, { key: a.key });
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, query.split('=')[0]]);
  },
);

test('a look reads the blocks that came last, and not the day', async () => {
  await store(2_000);
  expect(await summariseArrivals(harness.pool)).toBeGreaterThan(0);
  const [last] = await store(1);
  const { rows } = await harness.pool.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>({
    name: 'test.explain_tail',
    text: `explain (analyze, buffers, format json)
             select * from analytics_stored('${a.org.id}', 'live', now() - interval '10 ms', now(), '2 days')`,
  });
  const size = await harness.pool.query<{ pages: number }>({
    name: 'test.pages',
    text: `select (pg_relation_size(tableoid) / 8192)::int as pages from request_row where request_id = '${last}'`,
  });
  const read = rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] as number;
  expect(read).toBeLessThan((size.rows[0]?.pages as number) / 2);
});
