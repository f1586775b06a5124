// Checkpoints and proofs as an operator and a customer use them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import { afterAll, expect, test } from 'vitest';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
} from '../../../core/ledger/testing/testing.ts';
import { createTestDatabase } from '../../../test/support/database.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 2 });
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
const dir = await mkdtemp(join(tmpdir(), 'svc-proof-'));
afterAll(async () => {
  await ledger.close();
  await pool.end();
  journal.remove();
  rmSync(dir, { recursive: true });
});

const operator = (...args: string[]) =>
  runSvcctl(args, { SVC_DATABASE_URL: url, SVC_MASTER_KEY_FILE: join(dir, 'keyring.json') });
/** Somebody with the files alone. */
const customer = (...args: string[]) => runSvcctl(args, { SVC_DATA_DIR: '/nonexistent' });

test('a customer checks the proof of a call with the published key and checkpoint alone', async () => {
  const subject = subjectOf(await makeBook(pool, { amount: 1_000 }));
  const call = holdOf(subject, 200);
  await ledger.hold(call);
  await ledger.settle(settleOf(subject, call.request_id, 120));

  expect(await operator('ledger', 'prove', call.request_id)).toMatchObject({
    code: 1,
    err: expect.stringContaining('No checkpoint covers this call yet'),
  });
  const key = (await operator('ledger', 'checkpoint', '--key')).out.trim();
  const taken = await operator('ledger', 'checkpoint');
  expect((await operator('ledger', 'checkpoint', '--last')).out).toBe(taken.out);
  const [published, proof, changed] = ['checkpoint.txt', 'proof.json', 'changed.json'].map((name) =>
    join(dir, name),
  ) as [string, string, string];
  writeFileSync(published, taken.out);
  writeFileSync(proof, (await operator('ledger', 'prove', call.request_id)).out);

  const checked = await customer('ledger', 'check-proof', proof, '--key', key, '--checkpoint', published);
  expect(checked).toMatchObject({ code: 0, err: '' });
  expect(checked.out).toContain('charged     120 micro-USD of a cost of 120\n');
  writeFileSync(changed, readFileSync(proof, 'utf8').replace('"charged": "120"', '"charged": "121"'));
  expect(await customer('ledger', 'check-proof', changed, '--key', key)).toMatchObject({
    code: 1,
    out: 'NOT PROVED: the content of the proof is not what checkpoint 1 signed\n',
  });

  expect(await operator('ledger', 'verify', '--checkpoint', published)).toMatchObject({ code: 0 });
  writeFileSync(changed, taken.out.replace('\n1\n', '\n2\n'));
  expect(await operator('ledger', 'verify', '--checkpoint', changed)).toMatchObject({
    code: 1,
    err: expect.stringContaining('the signature does not belong to this text'),
  });
});
