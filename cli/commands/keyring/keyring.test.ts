// A rotation as an operator runs it, killed on the way, and what the former key is still needed for.
import { spawn } from 'node:child_process';
import { mkdtempSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import { isSealedUnderCurrent, loadRootKey, rootKeys } from '@svc/core/kernel/index.ts';
import { notePayloadKey, notePayloadsOpen } from '@svc/core/workflow-starts/index.ts';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';
import {
  damaged,
  insertSealedRows,
  readSealed,
  sealedNames,
  sealingUnder,
} from '../../../test/support/sealed/sealed-rows.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 2 });
afterAll(() => pool.end());
const file = join(mkdtempSync(join(tmpdir(), 'svc-ring-')), 'keyring.json');
const env = { SVC_DATABASE_URL: url, SVC_MASTER_KEY_FILE: file, SVC_DATA_DIR: '/nonexistent' };
const svcctl = (...args: string[]) => runSvcctl(args, env);

async function json(...args: string[]): Promise<{ code: number | null; out: Record<string, unknown> }> {
  const { code, out } = await svcctl(...args, '--json');
  expect(out.trimEnd().split('\n')).toHaveLength(1);
  return { code, out: JSON.parse(out) as Record<string, unknown> };
}

/** Makes a key current, and lets the time pass that programs have to follow. */
async function promote(name: string): Promise<void> {
  expect((await json('keyring', 'promote', name)).code).toBe(0);
  utimesSync(file, 0, 0);
}

/** Starts a rotation and kills it as soon as it says that something is done. */
async function killedRotation(): Promise<void> {
  const bin = new URL('../../bin/svcctl.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [bin, 'keyring', 'rotate'], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((done) => child.once('close', done));
  child.stderr.on('data', () => child.kill('SIGKILL'));
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
}

test('killed in the middle again and again, a rotation is finished by running it once more', async () => {
  loadRootKey(file);
  const ROWS = 400;
  await insertSealedRows(pool, ROWS, sealingUnder(loadRootKey(file)));
  const all = ROWS * sealedNames.length;
  const former = rootKeys(loadRootKey(file))[0];

  const { out: added } = await json('keyring', 'add');
  const name = added['name'] as string;
  expect(rootKeys(loadRootKey(file))[0].name).toBe(former.name);
  expect((await json('keyring', 'status')).code).toBe(0);
  await promote(name);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await json('keyring', 'status')).toMatchObject({ code: 1, out: { outdated: all } });

  let before = all;
  for (let kills = 0; kills < 3; kills++) {
    await killedRotation();
    const values = await readSealed(pool);
    expect(damaged(values, loadRootKey(file))).toEqual([]);
    const left = values.filter(({ sealed }) => !isSealedUnderCurrent(loadRootKey(file), sealed)).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(before);
    before = left;
  }
  const refused = await svcctl('keyring', 'remove', former.name);
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining(`${before} sealed values`) });

  const rotated = await json('keyring', 'rotate');
  expect(rotated).toMatchObject({ code: 0, out: { resealed: before, remaining: 0, unopened: [] } });
  expect(await json('keyring', 'status')).toMatchObject({ code: 0, out: { outdated: 0 } });
  expect(await json('keyring', 'remove', former.name)).toMatchObject({ code: 0 });
  const values = await readSealed(pool);
  expect(values).toHaveLength(all);
  expect(damaged(values, loadRootKey(file))).toEqual([]);
  expect((await json('audit', 'verify')).code).toBe(0);
}, 240_000);

test('a value that no key opens is named, makes the exit code 1, and says nothing of itself', async () => {
  const [mail] = (await readSealed(pool)).filter(({ column }) => column === 'mail.sealed');
  const id = mail!.row[0] as string;
  await pool.query({ name: '', text: `update mail set sealed = '\\xabcdef' where id = $1`, values: [id] });
  const { code, out, err } = await svcctl('keyring', 'rotate');
  expect(code).toBe(1);
  expect(out).toContain(`no key opens mail.sealed of ${id}`);
  expect(`${out}${err}`).not.toContain('abcdef');
  await pool.query({ name: '', text: 'delete from mail where id = $1', values: [id] });
});

test('a key stays while people hold codes that were made under it, unless the operator ends them', async () => {
  const [former] = rootKeys(loadRootKey(file));
  const made = await json('invites', 'create', '--note', 'a conference');
  expect(made.code).toBe(0);
  const { out: added } = await json('keyring', 'add');
  await promote(added['name'] as string);
  expect((await json('keyring', 'rotate')).code).toBe(0);
  const refused = await svcctl('keyring', 'remove', former.name);
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('1 codes that people hold') });
  expect((await json('keyring', 'remove', former.name, '--end-codes')).code).toBe(0);
  expect(rootKeys(loadRootKey(file)).map(({ name }) => name)).toEqual([added['name']]);
});

test('a key stays while workflows run that began while payloads were sealed under it, unless the operator ends them', async () => {
  const [former] = rootKeys(loadRootKey(file));
  const key_id = former.id.toString('hex');
  const at = new Date();
  const sealed_at = at.toISOString();
  await notePayloadKey(pool, { key_id, at });
  const { out: added } = await json('keyring', 'add');
  await promote(added['name'] as string);
  expect((await json('keyring', 'rotate')).code).toBe(0);
  const uncounted = await svcctl('keyring', 'remove', former.name, '--end-codes');
  expect(uncounted).toMatchObject({ code: 1, out: expect.stringContaining('not counted yet by a worker') });
  await notePayloadsOpen(pool, { key_id, sealed_at, open: 3, at });
  const refused = await svcctl('keyring', 'remove', former.name, '--end-codes');
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('3 workflows') });
  expect((await svcctl('keyring', 'status')).out).toMatch(/^ +3 {2}workflows that run$/m);
  await notePayloadsOpen(pool, { key_id, sealed_at, open: 0, at });
  expect((await json('keyring', 'remove', former.name, '--end-codes')).code).toBe(0);

  const [next] = rootKeys(loadRootKey(file));
  await notePayloadKey(pool, { key_id: next.id.toString('hex'), at });
  const { out: last } = await json('keyring', 'add');
  await promote(last['name'] as string);
  expect((await json('keyring', 'rotate')).code).toBe(0);
  expect((await json('keyring', 'remove', next.name, '--end-codes')).code).toBe(1);
  expect((await json('keyring', 'remove', next.name, '--end-codes', '--end-workflows')).code).toBe(0);
});

test('the current key and one that is not there cannot be removed, and no output has a key', async () => {
  const ring = rootKeys(loadRootKey(file));
  expect((await svcctl('keyring', 'remove', ring[0].name)).code).not.toBe(0);
  expect((await svcctl('keyring', 'remove', 'nobody')).code).not.toBe(0);
  const shown = await Promise.all([svcctl('keyring', 'status'), svcctl('keyring', 'status', '--json')]);
  for (const { bytes } of ring)
    for (const { out } of shown) {
      expect(out).not.toContain(Buffer.from(bytes).toString('base64'));
      expect(out).not.toContain(Buffer.from(bytes).toString('hex'));
    }
});
