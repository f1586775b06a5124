// Sessions under concurrent statements: noting that one was seen stands in nobody's way.
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { atFileEnd } from '../../../test/support/ends.ts';
import { staffContext } from '../../../test/support/provision.ts';
import { createPool } from '../../db/index.ts';
import { newId } from '../../kernel/index.ts';
import { createOrg } from '../../orgs/index.ts';
import { createPerson } from '../people.ts';
import { lockPerson } from '../store.ts';
import { endSessions, insertSession, touchSession } from './store.ts';

const pool = createPool(await createTestDatabase(), { max: 4 });
atFileEnd(() => pool.end());

test('a request of a session that a password change ends at the same moment breaks neither', async () => {
  const context = staffContext(pool);
  const org = await createOrg(context, {
    slug: 'acme',
    name: 'Acme',
    billing_country: 'US',
    plan_id: 'payg',
  });
  const person = await createPerson(context, { email: 'asha@acme.example', org_id: org.id, role: 'owner' });
  const id = newId('session');
  const at = new Date();
  const hour_ms = 3_600_000;
  await insertSession(pool, {
    ...{ id, hash: Buffer.alloc(32, 1), user_id: person.id, org_id: org.id, method: 'password' },
    sso_org_id: null,
    ...{ transport: 'cookie', two_factor: false, ip_prefix: null, user_agent: null },
    ...{ proved_at: at, created_at: at, idle_seconds: 3_600, expires_at: new Date(at.getTime() + hour_ms) },
  });
  const later = new Date(at.getTime() + 120_000);
  let touched: Promise<void> = Promise.resolve();
  await pool.transaction(async (db) => {
    await lockPerson(db, person.id);
    let done = false;
    touched = touchSession(pool, { id, at: later }).finally(() => {
      done = true;
    });
    await expect.poll(async () => done || (await waiting()) === 1).toBe(true);
    await endSessions(db, { user_id: person.id, except: null });
  });
  await touched;
});

/** Statements that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'test.waiting',
    text: `select count(*)::int as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  });
  return rows[0]?.n ?? 0;
}
