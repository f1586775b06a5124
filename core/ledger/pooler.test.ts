// The ledger through a pooler in transaction mode: every batch is on another connection of the server than the one
// before, and nothing is prepared under a name.
import { expect, test } from 'vitest';
import { startPooler } from '../../test/sim/pooler.ts';
import { createTestDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import { createPool, databaseAddresses } from '../db/index.ts';
import { readBalance, verifyLedger } from './index.ts';
import { compareWithModel, interleave } from './model/run.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  until,
} from './testing/testing.ts';

const direct = await createTestDatabase();
const pooler = await startPooler(direct);
const { url } = databaseAddresses(pooler.url, direct);
atFileEnd(() => pooler.close());

test('any sequence does through a pooler what it does in the model, and two processes leave what they did not spend', async () => {
  const before = pooler.transactions;
  await compareWithModel(url, { runs: 8 });
  await interleave(url);
  expect(pooler.transactions - before).toBeGreaterThan(100);
}, 120_000);

test('a batch has its settings and role in its transaction, and the next transaction there has them not', async () => {
  const pool = createPool(direct, { max: 1 });
  const journal = journalDirectory();
  const ledger = await openTestLedger(url, journal.dir, PATIENT);
  const book = await makeBook(pool, { amount: 1_000 });
  // What the settings are while an entry is written, as a trigger of the owner sees them.
  await pool.query({ name: 'test.table', text: 'create table seen (who text, sync text, plans text)' });
  await pool.query({
    name: 'test.function',
    text: `create function see() returns trigger language plpgsql security definer as $$ begin
             insert into public.seen values (current_setting('role'), current_setting('synchronous_commit'),
               current_setting('plan_cache_mode'));
             return null;
           end $$`,
  });
  for (const table of ['hold', 'meter'])
    await pool.query({
      name: `test.trigger_${table}`,
      text: `create trigger see after insert on ledger.${table} for each row execute function see()`,
    });
  const hold = holdOf(subjectOf(book), 100);
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  expect(await ledger.settle(settleOf(subjectOf(book), hold.request_id, 60))).toMatchObject({
    status: 'settled',
  });
  const seen = await pool.query({ name: 'test.seen', text: 'select * from seen' });
  expect(seen.rows).toEqual([
    { who: 'svc_runtime', sync: 'off', plans: 'force_generic_plan' },
    { who: 'svc_runtime', sync: 'on', plans: 'force_generic_plan' },
  ]);
  const others = createPool(url, { max: 1 });
  for (let i = 0; i < 8; i++) {
    const { rows } = await others.query({
      name: 'test.left',
      text: `select current_setting('role') as who, current_setting('plan_cache_mode') as plans`,
    });
    expect(rows).toEqual([{ who: 'none', plans: 'auto' }]);
  }
  await pool.query({ name: 'test.forget', text: 'drop function see cascade' });
  await ledger.close();
  await Promise.all([pool.end(), others.end()]);
  journal.remove();
});

test('a pooler that drops every connection under load loses nothing and doubles nothing', async () => {
  const pool = createPool(direct, { max: 2 });
  const journal = journalDirectory();
  const ledger = await openTestLedger(url, journal.dir, PATIENT);
  const book = await makeBook(pool, { amount: 1_000_000 });
  const subject = subjectOf(book);
  let ended = 0;
  let held = 0;
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      for (let i = 0; i < 20; i++) {
        const hold = holdOf(subject, 50);
        if ((await ledger.hold(hold)).status !== 'ok') continue;
        held++;
        const { status } = await ledger.settle(settleOf(subject, hold.request_id, 10));
        // Sent again because its answer was lost, it has been booked the first time.
        expect(['settled', 'duplicate']).toContain(status);
        if (++ended % 60 === 0) pooler.cut();
      }
    }),
  );
  expect(held).toBeGreaterThan(400);
  const isLeft = async () => (await readBalance(pool, book)).held_micro_usd === 0;
  await until(isLeft);
  expect((await readBalance(pool, book)).available_micro_usd).toBe(1_000_000 - 10 * held);
  expect((await verifyLedger({ url: direct })).findings).toEqual([]);
  await ledger.close();
  await pool.end();
  journal.remove();
});
