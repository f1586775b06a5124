// Rotations over a real database: every sealed column, old values, concurrent writers, values that nothing opens.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import {
  damaged,
  insertSealedRows,
  plainOf,
  readSealed,
  sealedNames,
  sealingUnder,
} from '../../test/support/sealed/sealed-rows.ts';
import { createPool } from '../db/index.ts';
import {
  addRootKey,
  deriveKey,
  isSealedUnderCurrent,
  loadRootKey,
  now,
  promoteRootKey,
  type RootKeyRing,
  rootKeys,
  seal,
  sealColumn,
  sealedColumn,
  secureBytes,
} from '../kernel/index.ts';
import { resealAll } from './rotate.ts';
import { readKeyRingStatus, total } from './status.ts';

const pool = createPool(await createTestDatabase(), { max: 6 });
afterAll(() => pool.end());

const run = (text: string, values: unknown[] = []) => pool.query({ name: '', text, values });

beforeEach(async () => {
  const tables = new Set(sealedNames.map((name) => sealedColumn(name).table));
  await pool.transaction(async (db) => {
    // Records that are never changed hang on some of these rows; they are emptied as well.
    await db.query({ name: '', text: 'set local session_replication_role = replica', values: [] });
    await db.query({ name: '', text: `truncate ${[...tables].join(', ')} cascade`, values: [] });
  });
});

/** A ring with a former key and a current one, and the former one alone as a program before the change had it. */
function rotatedRing(): { former: RootKeyRing; ring: RootKeyRing } {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-ring-')), 'keyring.json');
  const former = rootKeys(loadRootKey(path))[0].bytes;
  promoteRootKey(path, addRootKey(path, { leaked: false }));
  return { former, ring: loadRootKey(path) };
}

/** Columns of bytes that are not sealed, and why: what they hold is no secret, or cannot be turned back. */
const NOT_SEALED = [
  /(^|_)(hash|sha256)$/, // what is stored of tokens, codes and texts
  /^(fingerprint|head|blocks_root|browser|subject|hash_key_id)$/, // digests, and ids of keys
  /^invoice_file\.pdf$|^storefront_logo\.image$|^pepper$/, // what readers are given; peppers of before, which a rotation seals
];

test('every column of bytes is sealed and in the list, or is known not to be', async () => {
  const { rows } = await pool.query<{ place: string; column_name: string }>({
    name: '',
    text: `
      select table_name || '.' || column_name as place, column_name
        from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where table_schema = 'public' and data_type = 'bytea' and t.table_type = 'BASE TABLE'
         and not exists (select 1 from pg_inherits where inhrelid = (quote_ident(table_name))::regclass)`,
    values: [],
  });
  const isKnown = ({ place, column_name }: { place: string; column_name: string }) =>
    NOT_SEALED.some((form) => form.test(place) || form.test(column_name));
  expect(
    rows
      .filter((row) => !isKnown(row))
      .map(({ place }) => place)
      .sort(),
  ).toEqual([...sealedNames].sort());
});

test('a rotation brings every sealed column under the current key, and every value is what it was', async () => {
  const { former, ring } = rotatedRing();
  await insertSealedRows(pool, 3, sealingUnder(former));
  const before = await readSealed(pool);
  expect(new Set(before.map(({ column }) => column))).toEqual(new Set(sealedNames));
  expect(damaged(before, ring)).toEqual([]);

  const { columns, unopened } = await resealAll(pool, ring);
  expect(unopened).toEqual([]);
  expect(columns).toEqual(sealedNames.map((column) => ({ column, resealed: 3, unopened: 0 })));
  const after = await readSealed(pool);
  expect(after.filter(({ sealed }) => !isSealedUnderCurrent(ring, sealed))).toEqual([]);
  expect(damaged(after, rootKeys(ring)[0].bytes)).toEqual([]);
  // Nothing is left to do.
  expect((await resealAll(pool, ring)).columns.every(({ resealed }) => resealed === 0)).toBe(true);
});

test('values of before key ids, and peppers that were never sealed, are sealed with one key in the ring too', async () => {
  const ring = Buffer.alloc(32, 9);
  await insertSealedRows(pool, 2, (column, row) => {
    const { purpose, bound } = sealedColumn(column);
    const texts = row.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString('hex')));
    return seal(deriveKey(ring, purpose), plainOf(column, row), bound(texts));
  });
  const pepper = secureBytes(32);
  await run('update org set pepper = $1, pepper_sealed = null', [pepper]);
  expect(total((await readKeyRingStatus(pool, ring, now())).unnamed)).toBe(2 * sealedNames.length);
  const { unopened } = await resealAll(pool, ring);
  expect(unopened).toEqual([]);
  const status = await readKeyRingStatus(pool, ring, now());
  expect([total(status.unnamed), total(status.keys[0]!.sealed)]).toEqual([0, 2 * sealedNames.length]);
  const isPepper = ({ column }: { column: string }) => column === 'org.pepper_sealed';
  const after = await readSealed(pool);
  expect(
    damaged(
      after.filter((value) => !isPepper(value)),
      ring,
    ),
  ).toEqual([]);
  const { rows } = await pool.query<{ n: number }>({
    ...{ name: '', text: 'select count(*)::int as n from org where pepper is not null', values: [] },
  });
  expect(rows[0]?.n).toBe(0);
});

test('a value that no key opens is named by table, column and row, and stays as it is', async () => {
  const { former, ring } = rotatedRing();
  await insertSealedRows(pool, 2, sealingUnder(former));
  const strange = sealColumn(Buffer.alloc(32, 1), 'webhook.secret_sealed', ['x'], Buffer.from('secret'));
  const [webhook] = (await readSealed(pool)).filter(({ column }) => column === 'webhook.secret_sealed');
  await run('update webhook set secret_sealed = $1 where id = $2', [strange, webhook!.row[0]]);
  const { columns, unopened } = await resealAll(pool, ring);
  expect(unopened).toEqual([{ column: 'webhook.secret_sealed', row: webhook!.row[0] }]);
  expect(columns.find(({ column }) => column === 'webhook.secret_sealed')).toMatchObject({
    resealed: 1,
    unopened: 1,
  });
  const status = await readKeyRingStatus(pool, ring, now());
  expect(status.unnamed).toEqual([{ of: 'webhook.secret_sealed', values: 1 }]);
  const left = (await readSealed(pool)).filter(({ sealed }) => sealed.equals(strange));
  expect(left).toHaveLength(1);
});

test('more values than a batch are sealed, though one in each batch cannot be opened', async () => {
  const { former, ring } = rotatedRing();
  await insertSealedRows(pool, 230, sealingUnder(former));
  await run(`update mail set sealed = '\\x00' where id in (select id from mail order by id limit 3)`);
  const { columns, unopened } = await resealAll(pool, ring);
  expect(unopened).toHaveLength(3);
  for (const one of columns) expect(one.resealed + one.unopened).toBe(230);
});

test('values written during a rotation stay as they were written, and none is lost', async () => {
  const { former, ring } = rotatedRing();
  await insertSealedRows(pool, 150, sealingUnder(former));
  const webhooks = (await readSealed(pool)).filter(({ column }) => column === 'webhook.secret_sealed');
  const written = new Map<string, string>();
  let ended = false;
  // Programs that know the new ring, and one that has not looked at its file yet.
  const writers = [ring, ring, former].map(async (root_key, no) => {
    for (let n = no; !ended; n = (n + 3) % webhooks.length) {
      const id = webhooks[n]!.row[0] as string;
      const text = `${id} ${no} ${secureBytes(4).toString('hex')}`;
      const sealed = sealColumn(root_key, 'webhook.secret_sealed', [id], Buffer.from(text));
      await run('update webhook set secret_sealed = $1 where id = $2', [sealed, id]);
      written.set(id, text);
    }
  });
  const rotations = [resealAll(pool, ring), resealAll(pool, ring)];
  const done = await Promise.all(rotations);
  ended = true;
  await Promise.all(writers);
  expect(done.flatMap(({ unopened }) => unopened)).toEqual([]);
  await resealAll(pool, ring);
  const after = await readSealed(pool);
  expect(after.filter(({ sealed }) => !isSealedUnderCurrent(ring, sealed))).toEqual([]);
  const secrets = after.filter(({ column }) => column === 'webhook.secret_sealed');
  const current = rootKeys(ring)[0].bytes;
  const { openSecret } = await import('../webhooks/sign.ts');
  expect(written.size).toBeGreaterThan(0);
  for (const { row, sealed } of secrets) {
    const text = written.get(row[0] as string);
    if (text !== undefined) expect(openSecret(current, row[0] as string, sealed)).toBe(text);
  }
  const untouched = after.filter(
    ({ column, row }) => !(column === 'webhook.secret_sealed' && written.has(row[0] as string)),
  );
  expect(damaged(untouched, current)).toEqual([]);
});

test('a row that somebody holds is left for later, and the rotation does not wait for it', async () => {
  const { former, ring } = rotatedRing();
  await insertSealedRows(pool, 2, sealingUnder(former));
  const [held] = (await readSealed(pool)).filter(({ column }) => column === 'mail.sealed');
  await pool.transaction(async (db) => {
    await db.query({ name: '', text: 'select 1 from mail where id = $1 for update', values: [held!.row[0]] });
    const { columns } = await resealAll(pool, ring);
    expect(columns.find(({ column }) => column === 'mail.sealed')).toMatchObject({ resealed: 1 });
  });
  const status = await readKeyRingStatus(pool, ring, now());
  expect(status.keys.map(({ sealed }) => sealed.find(({ of }) => of === 'mail.sealed')?.values)).toEqual([
    1, 1,
  ]);
  expect((await resealAll(pool, ring)).columns.find(({ column }) => column === 'mail.sealed')?.resealed).toBe(
    1,
  );
});
