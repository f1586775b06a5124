// The live tail: a call that a real gateway serves appears on a stream of the real console listener, once, and on no
// other organization's.
import { expect, test } from 'vitest';
import { rowOf } from '../../registry/rows.ts';
import { withClient } from '../../support/books.ts';
import { atFileEnd } from '../../support/ends.ts';
import { startSharedGateway } from '../../support/shared-gateway.ts';
import { startWorld } from '../world.ts';
import { openStreams, type Stream } from './stream.ts';

const world = await startWorld();
const { harness, tenant } = world;
const { a, b } = harness;
const follow = await openStreams(tenant);

const added =
  'subscription($env: Environment) { requestAdded(environment: $env) { id model status key { id } route { policy } } }';

test('a call through a real gateway arrives with its key and its route, once, and nowhere else', async () => {
  const mine = await harness.signIn(await harness.makePerson(a, 'viewer'));
  const theirs = await harness.signIn(await harness.makePerson(b, 'owner'));
  const gateway = await startSharedGateway({ database_url: harness.url });
  atFileEnd(() => gateway.stop());
  const stream = await follow(mine, added, { env: 'TEST' });
  const other = await follow(theirs, added, { env: 'TEST' });
  expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
  const call = async () => {
    const answer = await fetch(`${gateway.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${a.test_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    return answer.headers.get('x-svc-request-id');
  };
  for (const id of [await call(), await call()]) {
    const event = await stream.next();
    expect(event?.errors ?? []).toEqual([]);
    expect(event?.data.requestAdded).toMatchObject({
      id,
      model: 'sandbox/echo',
      status: 'OK',
      route: { policy: 'default' },
    });
    expect(event?.data.requestAdded.key.id).toMatch(/^key_/);
  }
  const asked = await fetch(`${gateway.base_url}/v1/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${a.test_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { kind } requests { nodes { model } } }' }),
  });
  expect(await asked.json()).toMatchObject({
    data: {
      viewer: { kind: 'KEY' },
      requests: { nodes: [{ model: 'sandbox/echo' }, { model: 'sandbox/echo' }] },
    },
  });
  const late = rowOf(b, { environment: 'test' });
  harness.request_log.write(late);
  await harness.request_log.flush();
  expect((await other.next())?.data.requestAdded.id).toBe(late.request_id);
});

// At once, because the server looks at sessions every five seconds.
test.concurrent('a stream ends with its session, and its place is free again', async () => {
  const token = await harness.signIn(await harness.makePerson(a, 'owner'));
  const stream = await follow(token, added, { env: 'LIVE' });
  const ended = await world.tenant.inject({
    method: 'POST',
    url: '/v1/auth/logout',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: '{}',
  });
  expect(ended.statusCode).toBeLessThan(300);
  expect(await stream.next()).toBeNull();
});

test.concurrent.each([
  ['is removed from the organization', 'delete from org_member where user_id = $1'],
  ['gets another role', `update org_member set role = 'billing' where user_id = $1`],
])('a stream ends when its person %s', async (_what, statement) => {
  const person = await harness.makePerson(a, 'developer');
  const stream = await follow(await harness.signIn(person), added, { env: 'LIVE' });
  await withClient(harness.url, (client) => client.query(statement, [person.id]));
  expect(await stream.next()).toBeNull();
});

test.concurrent('an open stream is no activity: its session goes idle, and it ends with it', async () => {
  const person = await harness.makePerson(a, 'developer');
  const stream = await follow(await harness.signIn(person), added, { env: 'LIVE' });
  // Seven seconds of patience are left: longer than until the first look at the session, shorter than to the second.
  await withClient(harness.url, (client) =>
    client.query(
      `update session set last_seen_at = now() - (idle_seconds - 7) * interval '1 second' where user_id = $1`,
      [person.id],
    ),
  );
  expect(await stream.next()).toBeNull();
});

test('a stream of what the role may not see, or of what is not there, is refused and not opened', async () => {
  const viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  const refused = await follow(
    viewer,
    'subscription { topupUpdated(id: "tup_01KACZ3V8S6T5R4Q3P2N1M0K9J") { id } }',
  );
  expect((await refused.next())?.errors[0]?.extensions['code']).toBe('permission_denied');
  const owner = await harness.signIn(await harness.makePerson(a, 'owner'));
  const missing = await follow(
    owner,
    'subscription { topupUpdated(id: "tup_01KACZ3V8S6T5R4Q3P2N1M0K9J") { id } }',
  );
  expect((await missing.next())?.errors[0]?.extensions['code']).toBe('not_found');
});

test('an organization follows at most fifty streams, a fifty-first is refused', async () => {
  const tokens = await Promise.all(
    [0, 1].map(async () => harness.signIn(await harness.makePerson(b, 'viewer'))),
  );
  const streams: Stream[] = [];
  for (let i = 0; i < 50; i++) streams.push(await follow(tokens[i % 2] as string, added, { env: 'LIVE' }));
  const one_more = await follow(tokens[0] as string, added, { env: 'LIVE' });
  expect((await one_more.next())?.errors[0]?.extensions['code']).toBe('rate_limit_exceeded');
  for (const stream of streams) stream.close();
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});

test('with filters a stream has the rows that the list with the same filters has', async () => {
  const { call, request_log } = harness;
  const tenant = await harness.makeTenant('filtered');
  const token = await harness.signIn(await harness.makePerson(tenant, 'owner'));
  const [one, two] = [rowOf(tenant), rowOf(tenant)];
  const rows: ReturnType<typeof rowOf>[] = [
    { ...one, app_id: 'notes', user_hash: 'u1', session_id: 's 1', tags: { team: 'a' } },
    { ...two, app_id: 'games', user_hash: 'u2', session_id: '', tags: { team: 'b', constructor: 'x' } },
    { ...rowOf(tenant), app_id: '', user_hash: '', session_id: '', tags: {} },
  ];
  const filters: Record<string, string>[] = [
    ...[{}, { app: 'notes' }, { app: '' }, { user: 'u2' }, { user: '' }, { session: 's 1' }, { session: '' }],
    ...[
      { tag: 'team' },
      { tag: 'team', tagValue: 'a' },
      { tag: 'team', tagValue: '' },
      { tag: 'constructor' },
    ],
    ...[{ tag: 'constructor', tagValue: '' }, { tag: 'toString' }, { projectId: tenant.live.id }],
    ...[
      { projectId: tenant.test.id },
      { app: 'notes', tag: 'team', tagValue: 'b' },
      { keyId: tenant.key_id },
    ],
  ];
  const types = { keyId: 'ID', projectId: 'ID' } as Record<string, string>;
  const streams = [];
  for (const filter of filters) {
    const names = Object.keys(filter);
    const declared = names.map((name) => `, $${name}: ${types[name] ?? 'String'}`).join('');
    const given = names.map((name) => `, ${name}: $${name}`).join('');
    const query = `subscription($env: Environment${declared}) { requestAdded(environment: $env${given}) { id } }`;
    streams.push(await follow(token, query, { env: 'LIVE', ...filter }));
  }
  for (const row of rows) request_log.write(row);
  await request_log.flush();
  const wire: Record<string, string> = { keyId: 'key_id', projectId: 'project_id', tagValue: 'tag_value' };
  for (const [at, filter] of filters.entries()) {
    const query = new URLSearchParams(
      Object.entries(filter).map(([name, value]) => [wire[name] ?? name, value]),
    );
    const listed = (await call('GET', `/v1/requests?${query}`, { key: tenant.key })).json().data;
    const wanted = listed.map(({ request_id }: { request_id: string }) => request_id).sort();
    const stream = streams[at] as Stream;
    const seen = [];
    for (const _ of wanted) seen.push((await stream.next())?.data.requestAdded.id);
    expect([filter, seen.sort()]).toEqual([filter, wanted]);
  }
  // Nothing more comes on any of them than what its list has: the next row that all want is the next that they see.
  const last = { ...one, request_id: rowOf(tenant).request_id };
  request_log.write({ ...last, app_id: 'notes', user_hash: 'u1', session_id: 's 1', tags: { team: 'a' } });
  await request_log.flush();
  expect((await (streams[0] as Stream).next())?.data.requestAdded.id).toBe(last.request_id);
  expect((await (streams[1] as Stream).next())?.data.requestAdded.id).toBe(last.request_id);
  expect((await (streams[5] as Stream).next())?.data.requestAdded.id).toBe(last.request_id);
  expect((await (streams[8] as Stream).next())?.data.requestAdded.id).toBe(last.request_id);
});
