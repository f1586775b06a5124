// `svcctl` as a script uses it: a process, one JSON object on standard output, and the exit code.
import { createPool, withLedgerSchema } from '@svc/core/db/index.ts';
import type { Id } from '@svc/core/kernel/index.ts';
import { findBook, readBalance } from '@svc/core/ledger/index.ts';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { runSvcctl } from '../../test/support/programs/svcctl.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 1 });
afterAll(() => pool.end());

const svcctl = (...args: string[]) =>
  runSvcctl(args, { SVC_DATABASE_URL: url, SVC_DATA_DIR: '/nonexistent' });

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await svcctl(...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(out) as Record<string, unknown>;
}

test('organization, project, key and grant are made by slug or id, and the ledger is right after', async () => {
  const org = await json('org', 'create', '--slug', 'acme', '--name', 'Acme', '--country', 'US');
  expect(org).toEqual({
    id: expect.stringMatching(/^org_/),
    slug: 'acme',
    project_id: expect.stringMatching(/^prj_/),
    test_project_id: expect.stringMatching(/^prj_/),
  });
  const project = await json('project', 'create', '--org', 'acme', '--slug', 'bot');
  expect(project).toMatchObject({
    id: expect.stringMatching(/^prj_/),
    limits: { rpm: null, tpm: null, concurrency: null },
  });
  const place = ['--org', 'acme', '--project', 'bot'];
  expect(await json('project', 'set', ...place, '--rpm', '600', '--tpm', '9000')).toMatchObject({
    limits: { rpm: 600, tpm: 9_000, concurrency: null },
  });
  expect(await json('project', 'set', ...place, '--rpm', '0', '--concurrency', '4')).toMatchObject({
    limits: { rpm: null, tpm: 9_000, concurrency: 4 },
  });
  const bounded = ['project', 'create', '--org', 'acme', '--slug', 'bounded', '--concurrency', '2'];
  expect(await json(...bounded)).toMatchObject({ limits: { rpm: null, tpm: null, concurrency: 2 } });
  const options = ['--scopes', 'inference,read:usage', '--rpm', '60', '--daily-budget-micro', '0'];
  const key = await json('key', 'create', '--org', 'acme', '--project', 'bot', ...options);
  expect(key).toMatchObject({
    id: expect.stringMatching(/^key_/),
    secret: expect.stringMatching(/^svc-live-/),
    hint: expect.any(String),
    project_id: project['id'],
  });
  const test_key = await json('key', 'create', '--org', org['id'] as string, '--environment', 'test');
  expect(test_key).toMatchObject({
    secret: expect.stringMatching(/^svc-test-/),
    project_id: org['test_project_id'],
  });
  const grant = ['credits', 'grant', '--org', 'acme', '--amount-micro', '5000000', '--reason', 'trial'];
  expect(await json(...grant)).toEqual({ lot_id: expect.stringMatching(/^lot_/), seq: 1 });
  // Two grants for one reason are two.
  expect(await json(...grant)).toMatchObject({ seq: 2 });
  const book = await findBook(pool, { org_id: org['id'] as Id<'org'>, environment: 'live' });
  expect((await readBalance(pool, book as number)).available_micro_usd).toBe(10_000_000);
  expect(await json('ledger', 'verify', '--org', 'acme')).toMatchObject({ ok: true, books: 2, entries: 3 });
  await json('org', 'set', '--org', 'acme', '--status', 'suspended');
  expect(await termsOf('acme')).toMatchObject({ plan_id: 'enterprise', kind: 'team', status: 'suspended' });
}, 60_000);

async function termsOf(slug: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await pool.query<Record<string, unknown>>({
    name: 'test.terms',
    text: `select plan_id, kind, status, billing_currency, gstin, tax_status, billing_address, billing_email
             from org where slug = $1`,
    values: [slug],
  });
  return rows[0];
}

test('plan, kind and billing facts of an organization are set, checked as its people would be', async () => {
  await json('org', 'create', '--slug', 'bharat', '--name', 'Bharat', '--country', 'IN', '--plan', 'payg');
  expect(await termsOf('bharat')).toMatchObject({ plan_id: 'payg', billing_currency: 'INR' });
  const address = ['--state', '29', '--city', 'Bengaluru', '--line', '1 MG Road', '--postal-code', '560001'];
  const facts = ['--gstin', '29AABCU9603R1ZJ', '--billing-email', 'gst@bharat.example'];
  await json('org', 'set', '--org', 'bharat', '--plan', 'team', '--kind', 'reseller', ...facts, ...address);
  expect(await termsOf('bharat')).toEqual({
    ...{ plan_id: 'team', kind: 'reseller', status: 'active', billing_currency: 'INR' },
    ...{ gstin: '29AABCU9603R1ZJ', tax_status: 'gst_registered', billing_email: 'gst@bharat.example' },
    billing_address: { line1: '1 MG Road', city: 'Bengaluru', state_code: '29', postal_code: '560001' },
  });
  // What staff set costs nothing until the next month.
  expect(await json('org', 'plan', '--org', 'bharat')).toMatchObject({
    ...{ plan_id: 'team', next_plan_id: null, next_charge_micro: 49_000_000, grace: null, charges: [] },
    included_left_micro: 0,
  });
  expect((await svcctl('org', 'plan', '--org', 'bharat')).out).toMatch(/^bharat {2}team since /);
  const refused = await svcctl(
    'org',
    'set',
    '--org',
    'bharat',
    '--plan',
    'payg',
    '--currency',
    'USD',
    '--json',
  );
  expect(JSON.parse(refused.out)).toMatchObject({ error: { code: 'invalid_request' } });
  // All or nothing.
  expect(await termsOf('bharat')).toMatchObject({ plan_id: 'team', billing_currency: 'INR' });
  const nothing = await svcctl('org', 'set', '--org', 'bharat');
  expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('nothing to set')]);
}, 60_000);

test('a refusal is one JSON object with its code, and exit code 1', async () => {
  const { code, out } = await svcctl('org', 'set', '--org', 'nobody', '--status', 'active', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    error: { code: 'not_found', message: expect.stringContaining('nobody') },
  });
});

test('an unknown flag, an unknown command and a missing flag end with exit code 2 and a suggestion', async () => {
  const cases: [string[], string][] = [
    [['org', 'create', '--slugg', 'a'], "Unknown option '--slugg'"],
    [['org', 'destroy'], 'there are: org create, org set'],
    [['key', 'create'], '--org is required'],
  ];
  for (const [args, words] of cases) {
    const { code, err } = await svcctl(...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
  }
});

test('the development clock moves only in a development installation', async () => {
  const { code, err } = await svcctl('dev', 'clock', 'advance', '8d');
  expect(code).toBe(1);
  expect(err).toContain('Only a development installation');
});

test('without an installation the error says how to start one', async () => {
  const { code, err } = await runSvcctl(['migrate'], { SVC_DATA_DIR: '/nonexistent' });
  expect(code).toBe(1);
  expect(err).toContain('make up');
});

test('migrate --citus says what it lacks: further ledgers, or a cluster that they are in', async () => {
  const none = await svcctl('migrate', '--citus');
  expect(none.code).toBe(2);
  expect(none.err).toContain('SVC_LEDGER_SHARDS names none');
  const { code, err } = await runSvcctl(['migrate', '--citus'], {
    SVC_DATABASE_URL: url,
    SVC_DATA_DIR: '/nonexistent',
    SVC_LEDGER_SHARDS: `own=${withLedgerSchema(url, 'ledger_own')}`,
  });
  expect(code).toBe(2);
  expect(err).toContain('the ledger own: the database is no coordinator of a Citus cluster');
});
