// The logins of a move are those of an ordinary owner: docs/operate/shards.md says what each may do, and this is all of it.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPool, migrate, migrateLedger, withLedgerSchema } from '@svc/core/db/index.ts';
import { abortMove, moveLedger } from '@svc/core/ledger/index.ts';
import { makeBook } from '@svc/core/ledger/testing/testing.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { startTestPostgres } from '../support/postgres.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const ROLES = `
  create role svc_runtime nologin;
  create role keeper login password 'a-password';
  grant svc_runtime to keeper;`;
const OLD = 'alter role keeper replication;';
const NEW = 'grant pg_create_subscription to keeper;';

let installation: string;
let old: string;
let fresh: string;

/** A server where `keeper` has to say its password; the address of a database that it owns. */
async function startOwned(dir: string, rights: string): Promise<{ superuser: string; owned: string }> {
  const server = await startTestPostgres({ dir, settings: { wal_level: 'logical' } });
  atFileEnd(() => server.kill());
  const superuser = server.urlOf('postgres');
  await withClient(superuser, async (client) => {
    await client.query(`${ROLES}${rights}`);
    await client.query('create database ledgers owner keeper');
    const { rows } = await client.query<{ hba_file: string }>('show hba_file');
    const file = rows[0]!.hba_file;
    const rules = readFileSync(file, 'utf8');
    writeFileSync(file, `host all keeper 127.0.0.1/32 scram-sha-256\n${rules}`);
    await client.query('select pg_reload_conf()');
  });
  const url = new URL(server.urlOf('ledgers'));
  [url.username, url.password] = ['keeper', 'a-password'];
  return { superuser, owned: withLedgerSchema(url.href, 'ledger_k') };
}

beforeAll(async () => {
  const dir = mkdtempSync('/var/tmp/svc-owners-');
  chmodSync(dir, 0o755);
  atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
  const [first, second] = [await startOwned(join(dir, 'old'), OLD), await startOwned(join(dir, 'new'), NEW)];
  [installation, old, fresh] = [first.superuser, first.owned, second.owned];
  await migrate(installation);
  for (const url of [old, fresh]) await migrateLedger(url);
});

test('owners that are no superusers call a move off, and make one, with the rights that the manual names', async () => {
  const ledger = createPool(old, { max: 1 });
  await makeBook(ledger, { amount: 1_000 });
  await ledger.end();
  const db = createPool(installation, { max: 1 });
  const ends = { db, shard: 'k', from: { name: 'k', url: old }, to: { name: 'k.2', url: fresh } };
  const move = (last?: string) =>
    moveLedger({
      ...{ ...ends, source_url: old, freeze_ms_max: 900 },
      onStep: (step) => {
        if (step === last) throw new Error('called off');
      },
    });
  await expect(move('arrived')).rejects.toThrow('called off');
  await abortMove(ends);
  expect(await move()).toMatchObject({ is_compared: true, report: { ok: true, books: 1 } });
  await db.end();
});
