// A query that hangs is answered in time on both servers: here a lock on a table that it reads.
import { expect, test } from 'vitest';
import { withClient } from '../support/books.ts';
import { startWorld } from './world.ts';

const world = await startWorld({ timeout_ms: 300 });
const { harness, gateway, tenant } = world;

test('a query beyond its time is 504, and the next one is served', async () => {
  const session = await harness.signIn(await harness.makePerson(harness.a, 'owner'));
  const both = [
    [gateway, harness.a.key],
    [tenant, session],
  ] as const;
  await withClient(harness.url, async (client) => {
    await client.query('begin');
    await client.query('lock table request_row in access exclusive mode');
    for (const [app, token] of both) {
      const answer = await world.ask(app, token, '{ requests { nodes { id } } }');
      expect([answer.status, answer.data, answer.errors[0]?.extensions['code']]).toEqual([
        504,
        null,
        'deadline_exceeded',
      ]);
    }
    await client.query('rollback');
  });
  for (const [app, token] of both) {
    const answer = await world.ask(app, token, '{ requests { nodes { id } } }');
    expect(answer.data).toEqual({ requests: { nodes: [] } });
  }
  expect(world.defects).toEqual([]);
});
