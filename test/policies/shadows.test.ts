// Shadows over two gateway processes: the day of a shadow is one, whichever of them copies.
import { expect, test } from 'vitest';
import { eventually, expectBooksInOrder } from '../calls/world.ts';
import { openReader } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { openPolicyWorld, traced } from './world.ts';

const world = await openPolicyWorld();
const { one, two } = world;
const db = openReader(world.database_url, 2);
atFileEnd(() => db.end());

test('two gateways together make no more copies in a day than the policy allows, and charge as many', async () => {
  const org = await world.org();
  const order = { svc: { route: { providers: { order: ['loud'] } } } };
  const quiet = { svc: { route: { providers: { only: ['quiet'] } } } };
  const asked = await world.chat(one, org.live_key, 'acme/cheap', quiet).reply;
  const endpoint = asked.headers['x-svc-endpoint-id'];
  const yaml = `rules: [{match: {}, shadow: {endpoint: ${endpoint}, percent: 100, max_per_day: 7}}]`;
  await world.rule(one, org, 'copies', yaml);
  await eventually('the other process follows', async () => {
    const reply = await world.chat(two, org.live_key, 'acme/cheap', quiet).reply;
    return traced(reply, 'policy') === 'copies/1';
  });
  const replies = await Promise.all(
    Array.from(
      { length: 24 },
      (_, i) => world.chat(i % 2 === 0 ? one : two, org.live_key, 'acme/cheap', order).reply,
    ),
  );
  for (const reply of replies) expect(reply.status).toBe(200);
  const copies = () =>
    db.query<{ status: string; provider: string }>(
      `select status, provider from request_row where org_id = $1 and tags ? 'shadow_of'`,
      [org.org_id],
    );
  const runs = () =>
    db.query<{ runs: number }>('select runs from policy_shadow_day where org_id = $1', [org.org_id]);
  await eventually('seven copies are made', async () => (await copies()).rowCount === 7);
  // Every further call is asked for a copy too, and gets none.
  for (const at of [one, two, one, two]) await world.chat(at, org.live_key, 'acme/cheap', order).reply;
  await eventually('the copies are counted', async () => {
    const { json } = await world.ask(two, org.live_key, 'GET', '/copies/shadows');
    const data = json['data'] as { runs: number }[];
    return data.reduce((sum, shadow) => sum + shadow.runs, 0) === 7;
  });
  const { rows } = await copies();
  expect(rows).toEqual(Array.from({ length: 7 }, () => ({ status: 'ok', provider: 'quiet' })));
  expect((await runs()).rows.map((row) => Number(row.runs))).toEqual([7]);
  await expectBooksInOrder({ db, database_url: world.database_url }, { ...org, balance: 10_000_000 });
});
