// What followers of changes may rely on; that nothing is missed is shown where it matters: core/keys/ring.test.ts,
// core/policies/cache.test.ts and test/registry/byok.test.ts.
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { watchedPool } from '../../test/support/watched-pool.ts';
import { createPool, type Pool } from '../db/index.ts';
import { type Id, silentLog } from '../kernel/index.ts';
import { type Changes, openChanges } from './index.ts';

const url = await createTestDatabase();
const nowhere = 'postgres://svc@127.0.0.1:1/none';
const pool = createPool(url, { max: 4 });
const open: Changes[] = [];
const patience = { timeout: 10_000, interval: 10 };

afterEach(async () => {
  for (const changes of open.splice(0)) await changes.close();
});
afterAll(() => pool.end());

async function changesOf(options: { db?: Pool; url?: string } = {}): Promise<Changes> {
  const changes = await openChanges({ db: pool, url, log: silentLog, ...options });
  open.push(changes);
  return changes;
}

/** Announces a change as the trigger of `table` does; without `reported` the notification is lost. */
async function announce(table: 'grant' | 'policy' | 'byok', org_id: string, reported = true): Promise<void> {
  const text = `with change as (insert into ${table}_change (org_id) values ($1)) select pg_notify($2, $1 || $3)`;
  await pool.query({
    name: `test.announce_${table}`,
    text,
    values: [org_id, reported ? `svc_${table}` : 'lost', table === 'grant' ? ' ' : ''],
  });
}

/** Follows `topic` and notes the organizations heard of. */
function heardBy(changes: Changes, topic: 'grant' | 'policy' | 'byok'): Set<Id<'org'>> {
  const heard = new Set<Id<'org'>>();
  changes.follow({ topic, changed: ({ org_id }) => heard.add(org_id), missed: () => {} });
  return heard;
}

test.for([
  { way: 'by notification', reported: true },
  { way: 'by a look where notifications are lost', reported: false },
])('each follower hears of its own topic alone, $way', async ({ reported }) => {
  const changes = await changesOf(reported ? {} : { url: nowhere });
  const heard = {
    grant: heardBy(changes, 'grant'),
    policy: heardBy(changes, 'policy'),
    byok: heardBy(changes, 'byok'),
  };
  const mark = reported ? 'told' : 'lost';
  for (const topic of ['grant', 'policy', 'byok'] as const)
    await announce(topic, `${mark}-${topic}`, reported);
  await vi.waitFor(() => {
    for (const topic of ['grant', 'policy', 'byok'] as const) {
      expect([...heard[topic]].filter((org) => org.startsWith(mark))).toEqual([`${mark}-${topic}`]);
    }
  }, patience);
});

test('however many follow, a look is one statement', async () => {
  const { db, looked } = watchedPool(pool, 'db.read_changes');
  let statements = 0;
  const counted: Pool = {
    ...db,
    query(statement) {
      statements++;
      return db.query(statement);
    },
  };
  const changes = await changesOf({ db: counted, url: nowhere });
  for (const topic of ['grant', 'grant', 'policy', 'byok'] as const) heardBy(changes, topic);
  await vi.waitFor(() => expect(looked()).toBeGreaterThan(3), patience);
  expect(statements).toBe(looked());
});

test('who fails to write what follows from a change tries again, and keeps nobody else from hearing', async () => {
  const changes = await changesOf({ url: nowhere });
  const tries: boolean[] = [];
  changes.follow({
    topic: 'policy',
    changed: () => {},
    missed: () => {},
    async polled({ noted }) {
      tries.push(noted);
      if (noted && tries.filter(Boolean).length < 3) throw new Error('not yet');
    },
  });
  const heard = heardBy(changes, 'byok');
  await announce('policy', 'failing', false);
  await announce('byok', 'sound', false);
  await vi.waitFor(() => expect(heard).toContain('sound'), patience);
  await vi.waitFor(() => expect([tries.filter(Boolean).length, tries.at(-1)]).toEqual([3, false]), patience);
});

test('a follower that has ended gets no more changes', async () => {
  const changes = await changesOf({ url: nowhere });
  const heard = new Set<string>();
  const unfollow = changes.follow({
    topic: 'byok',
    changed: ({ org_id }) => heard.add(org_id),
    missed: () => {},
  });
  const other = heardBy(changes, 'byok');
  unfollow();
  await announce('byok', 'after', false);
  await vi.waitFor(() => expect(other).toContain('after'), patience);
  expect(heard).not.toContain('after');
});
