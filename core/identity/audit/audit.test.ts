// The audit log while it grows: what is written during a check is no fault of the log.
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { atFileEnd } from '../../../test/support/ends.ts';
import { staffContext } from '../../../test/support/provision.ts';
import { createPool, type Pool } from '../../db/index.ts';
import type { Db, Statement } from '../../kernel/index.ts';
import { verifyAudit, writeAudit } from './audit.ts';

const pool = createPool(await createTestDatabase(), { max: 3 });
atFileEnd(() => pool.end());
const write = () => writeAudit(staffContext(pool), { action: 'test.act', org_id: null });

/** `pool`, on which an entry is written before each statement. */
function busy(pool: Pool): Pool {
  const around = (db: Db): Db => ({
    async query<Row>(statement: Statement) {
      await write();
      return db.query<Row>(statement);
    },
  });
  return { ...pool, ...around(pool), transaction: (work) => pool.transaction((db) => work(around(db))) };
}

test('a log that grows while it is checked is whole', async () => {
  await write();
  const { entries, faults } = await verifyAudit(busy(pool));
  expect(faults).toEqual([]);
  expect(entries).toBeGreaterThan(0);
  expect((await verifyAudit(pool)).entries).toBeGreaterThan(entries);
});
