// The audit log as an operator reads it from a shell.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import { type LogFilter, writeAudit } from '@svc/core/identity/index.ts';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { atFileEnd } from '../../../test/support/ends.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';
import { provision, staffContext } from '../../../test/support/provision.ts';
import { newEntries } from './follow.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 4 });
atFileEnd(() => pool.end());
const acme = await provision({ database_url: url, slug: 'acme', live_micro_usd: 0, keys: [] });
const other = await provision({ database_url: url, slug: 'other', live_micro_usd: 0, keys: [] });
const context = staffContext(pool);
const folder = mkdtempSync(join(tmpdir(), 'svc-audit-'));
const env = { SVC_DATABASE_URL: url, SVC_DATA_DIR: folder };
const audit = (...words: string[]) => runSvcctl(['audit', ...words], env);
const write = (org_id: string | null, action: string, id: string, reason?: string) =>
  writeAudit(context, {
    ...{ action, org_id, target: { type: 'thing', id } },
    ...(reason === undefined ? {} : { reason }),
  });

test('entries are listed newest first, by organization, name, target and time, page by page', async () => {
  for (const id of ['one', 'two', 'three']) await write(acme.org_id, 'keys.made', id);
  await write(other.org_id, 'keys.made', 'theirs');
  await write(null, 'fx.accept', 'rates', 'a \u001b[31mred\u0007 reason');
  const own = await audit('list', '--org', 'acme', '--action', 'keys.', '--limit', '2');
  const [first, second, older] = own.out.trim().split('\n');
  expect([first, second]).toEqual([
    expect.stringMatching(/keys\.made {2}three$/),
    expect.stringMatching(/two$/),
  ]);
  const before = /--before (\d+)$/.exec(older ?? '')?.[1] as string;
  const rest = await audit('list', '--org', 'acme', '--action', 'keys.', '--before', before, '--json');
  expect(JSON.parse(rest.out)).toMatchObject({
    data: [{ org_id: acme.org_id, action: 'keys.made', target: { id: 'one' }, outcome: 'ok' }],
  });
  const all = (await audit('list', '--action', 'keys.made')).out;
  expect(all.match(/keys\.made/g)).toHaveLength(4);
  const none = (await audit('list', '--org', 'none')).out;
  expect(none).toContain('fx.accept  rates  (a ?[31mred? reason)');
  expect(none).not.toContain(acme.org_id);
  expect((await audit('list', '--target', 'two', '--until', '2020-01-01')).out.trim()).toBe(
    'There is no such entry.',
  );
  expect((await audit('list', '--target', 'two', '--outcome', 'ok', '--since', '2020-01-01')).out).toMatch(
    /two$/m,
  );
  expect((await audit('list', '--since', 'yesterday')).code).toBe(2);
  expect((await audit('list', '--org', 'nobody')).code).toBe(1);
});

test('an export is a file for its owner alone, writes over nothing, and is an entry itself', async () => {
  const out = join(folder, 'acme.csv');
  const done = await audit('export', '--org', 'acme', '--action', 'keys.made', '--out', out);
  expect([done.code, done.out.trim()]).toEqual([0, `3 entries in ${out}`]);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  const [head, ...lines] = readFileSync(out, 'utf8').trim().split('\r\n');
  expect(head).toMatch(/^org_id,id,at,actor_type,/);
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toContain(acme.org_id);
  expect((await audit('export', '--org', 'acme', '--out', out)).code).not.toBe(0);
  expect(readFileSync(out, 'utf8').trim().split('\r\n')).toHaveLength(4);
  const listed = await audit('list', '--org', 'acme', '--action', 'audit.export', '--json');
  expect(JSON.parse(listed.out)).toMatchObject({
    data: [{ after: { entries: 3 }, actor: { type: 'staff' } }],
  });
  expect((await audit('verify')).code).toBe(0);
});

const everything: LogFilter = {
  ...{ org_id: null, actor: null, action: 'slow.', target: null, outcome: null, since: null, until: null },
};

test('an entry whose transaction ends after that of a later number is shown too, and each is shown once', async () => {
  const [newest] = (
    await pool.query<{ id: number }>({ name: '', text: 'select max(id) as id from audit_entry' })
  ).rows;
  const look = newEntries(pool, everything, Number(newest?.id));
  let release = () => {};
  let written = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const first = new Promise<void>((done) => {
    written = done;
  });
  const slow = context.transaction(async (context) => {
    await writeAudit(context, { action: 'slow.first', org_id: acme.org_id });
    written();
    await held;
  });
  await first;
  await write(other.org_id, 'slow.second', 'later');
  expect((await look()).map(({ action }) => action)).toEqual(['slow.second']);
  release();
  await slow;
  expect((await look()).map(({ action }) => action)).toEqual(['slow.first']);
  expect(await look()).toEqual([]);
});

test('who follows sees what is written from then on, and ends by a signal', async () => {
  const bin = new URL('../../bin/svcctl.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [bin, 'audit', 'follow', '--org', 'acme'], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  child.stderr.on('data', (piece) => {
    err += piece;
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  await expect.poll(() => err, { timeout: 30_000 }).toContain('following');
  await write(other.org_id, 'keys.made', 'not this');
  await write(acme.org_id, 'keys.made', 'live');
  await expect.poll(() => out, { timeout: 20_000 }).toMatch(/keys\.made {2}live\n/);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(out).not.toContain('not this');
  expect(out).toMatch(/1 entries\n$/);
});
