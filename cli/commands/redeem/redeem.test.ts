// `svcctl redeem` and `svcctl credits reconcile` as a person uses them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';

const url = await createTestDatabase();
const data_dir = mkdtempSync(join(tmpdir(), 'svc-redeem-'));
afterAll(() => rmSync(data_dir, { recursive: true, force: true }));

const svcctl = (...args: string[]) => runSvcctl(args, { SVC_DATABASE_URL: url, SVC_DATA_DIR: data_dir });
const create = (name: string, ...more: string[]) =>
  svcctl(
    ...['redeem', 'create', '--name', name, '--amount-micro', '5000000', '--codes', '3'],
    ...['--credit-days', '90', '--valid-days', '30', ...more],
  );

test('codes are printed once, as CSV; a batch is listed and ended, and its name is used once', async () => {
  const made = await create('devcon', '--country', 'IN', '--new-orgs-only');
  expect(made.code).toBe(0);
  const [head, ...rows] = made.out.trim().split('\n');
  expect(head).toBe('code,amount_micro_usd,batch');
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toMatch(/^CR(-[0-9A-HJKMNP-TV-Z]{4}){4},5000000,devcon$/);
  expect((await create('devcon')).code).toBe(1);
  const listed = await svcctl('redeem', 'list');
  expect(listed.out).toContain('devcon  0 of 3 redeemed, 5000000 micro-USD each, until ');
  expect(listed.out).not.toContain('CR-');
  expect((await svcctl('redeem', 'close', '--name', 'devcon')).code).toBe(0);
  expect((await svcctl('redeem', 'list')).out).toContain('micro-USD each, ended');
  expect((await svcctl('redeem', 'close', '--name', 'nothing')).code).toBe(1);
}, 60_000);

test('a reconciliation without a variance ends with 0, and prints the table of the API', async () => {
  await svcctl('org', 'create', '--slug', 'acme', '--name', 'Acme', '--country', 'US');
  await svcctl('credits', 'grant', '--org', 'acme', '--amount-micro', '7000', '--reason', 'trial');
  const { code, out } = await svcctl('credits', 'reconcile', '--org', 'acme');
  expect(code).toBe(0);
  const lines = out.trim().split('\n');
  expect(lines).toHaveLength(33);
  expect(lines[31]).toBe('total,0,7000,0,0,7000,0,0,0');
  expect(lines[32]).toBe('variance 0');
  const wrong = await svcctl('credits', 'reconcile', '--org', 'acme', '--from', 'yesterday');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('a day, YYYY-MM-DD')]);
}, 60_000);
