// `svcctl` where it speaks of organizations of others: closing and erasing one, and payments that wait for a decision.
import { readFileSync } from 'node:fs';
import { putApproval } from '@svc/core/approvals/store.ts';
import { createPool } from '@svc/core/db/index.ts';
import { createStaff, writeAudit } from '@svc/core/identity/index.ts';
import { type Id, newId } from '@svc/core/kernel/index.ts';
import { eraseOrgBatch } from '@svc/core/org-erasure/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import { moveTopup } from '@svc/core/topups/store.ts';
import { afterAll, expect, test } from 'vitest';
import { makeTopup } from '../../../test/registry/topup-rows.ts';
import { createTestDatabase } from '../../../test/support/database.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';
import { staffContext } from '../../../test/support/provision.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 2 });
afterAll(() => pool.end());

const svcctl = (...args: string[]) =>
  runSvcctl(args, { SVC_DATABASE_URL: url, SVC_DATA_DIR: '/nonexistent' });

async function made(slug: string, name: string): Promise<Org> {
  const { out } = await svcctl(
    ...['org', 'create', '--slug', slug, '--name', name, '--country', 'US', '--json'],
  );
  const { id } = JSON.parse(out) as { id: Id<'org'> };
  return (await findOrg(pool, id)) as Org;
}

const rows = async <T>(text: string, values: unknown[]) =>
  (await pool.query<T>({ name: '', text, values })).rows;

test('an organization is closed with a reason, once; what is not there is no organization', async () => {
  const { id } = await made('leaver', 'Leaver');
  const close = (...more: string[]) =>
    svcctl('org', 'close', '--org', 'leaver', '--reason', 'asked by the owner', ...more);
  expect((await svcctl('org', 'close', '--org', 'leaver')).code).not.toBe(0);
  expect((await svcctl('org', 'close', '--org', 'nobody', '--reason', 'x')).code).not.toBe(0);
  expect(await rows('select status from org where id = $1', [id])).toEqual([{ status: 'active' }]);
  const { code, out } = await close('--json');
  expect({ code, ...(JSON.parse(out) as object) }).toEqual({
    ...{ code: 0, id, slug: 'leaver', refund_requested: false },
    closed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  expect(await rows('select status from org where id = $1', [id])).toEqual([{ status: 'closed' }]);
  expect(
    await rows(`select reason from audit_entry where org_id = $1 and action = 'staff.orgs.close'`, [id]),
  ).toEqual([{ reason: 'asked by the owner' }]);
  const again = await close();
  expect(again.code).not.toBe(0);
  expect(again.err).toContain('The organization is closed already');
}, 60_000);

test('a payment that waits for a decision names its organization', async () => {
  const org = await made('payer', 'Payer & Sons');
  const { topup_id } = await makeTopup(staffContext(pool), { org });
  const at = new Date();
  await moveTopup(pool, { id: topup_id, status: 'review', payment_ref: 'pi_less', at });
  const details = JSON.stringify({ paid_minor: 2_400, paid_currency: 'USD' });
  await rows(
    `insert into staff_item (kind, subject, details, created_at) values ('amount_mismatch', $1, $2, $3)`,
    [topup_id, details, at],
  );
  const { code, out } = await svcctl('review', 'list');
  expect(code).toBe(0);
  expect(out).toContain(`${topup_id}  Payer & Sons: asked 2500 USD, paid 2400 USD`);
}, 60_000);

test('tickets from before tickets kept the number of their document get it, and no other is changed', async () => {
  const org = await made('writer', 'Writer');
  const { topup_id, invoice_id } = await makeTopup(staffContext(pool), { org });
  const bodies = {
    tkt_01KACZ3V8S6T5R4Q3P2N1M0K91: { text: 'a', invoice_id },
    tkt_01KACZ3V8S6T5R4Q3P2N1M0K92: { text: 'b', invoice_id, invoice_number: 'as it was' },
    tkt_01KACZ3V8S6T5R4Q3P2N1M0K93: { text: 'c', topup_id },
    tkt_01KACZ3V8S6T5R4Q3P2N1M0K94: { text: 'd' },
  };
  for (const [id, body] of Object.entries(bodies)) {
    await rows(
      `insert into ticket (id, org_id, kind, status, subject, body, created_at, updated_at)
       values ($1, $2, 'other', 'open', 'x', $3, now(), now())`,
      [id, org.id, JSON.stringify(body)],
    );
  }
  const migration = new URL('../../../core/db/migrations/0067_ticket_numbers.sql', import.meta.url);
  for (const statement of readFileSync(migration, 'utf8')
    .split(';\n')
    .filter((text) => /update/.test(text)))
    await rows(statement, []);
  const [{ number }] = (await rows<{ number: string }>('select number from invoice where id = $1', [
    invoice_id,
  ])) as [{ number: string }];
  const found = await rows<{ body: { invoice_number?: string } }>(
    'select body from ticket where org_id = $1 order by id',
    [org.id],
  );
  // The top-up is not paid and has no document, so that its ticket has none either.
  expect(found.map(({ body }) => body.invoice_number)).toEqual([number, 'as it was', undefined, undefined]);
}, 60_000);

test('what waits for a second person is listed with who asked, and is not listed once it lapsed', async () => {
  const org = await made('waiter', 'Waiter');
  expect((await svcctl('approvals', 'list')).out).toContain('Nothing waits.');
  const asker = await createStaff(staffContext(pool), Buffer.alloc(32, 7), {
    ...{ email: 'mira@svc.example', roles: ['finance' as const] },
  });
  const asked_at = new Date();
  const act = { action: 'staff.credits.grant', input: { reference: 'r' }, input_hash: Buffer.alloc(32, 1) };
  await putApproval(pool, {
    ...{ id: newId('approval'), ...act, org_id: org.id, amount_micro_usd: 250_000_000, reason: 'contract' },
    ...{ asked_by: asker.id, asked_at, expires_at: new Date(asked_at.getTime() + 3_600_000) },
  });
  const { out } = await svcctl('approvals', 'list');
  expect(out).toMatch(
    /staff\.credits\.grant of Waiter: 250000000 micro-USD, asked by mira@svc\.example \(contract\)/,
  );
  await rows(
    `update approval set asked_at = asked_at - interval '2 hours', expires_at = asked_at - interval '1 hour'`,
    [],
  );
  expect(JSON.parse((await svcctl('approvals', 'list', '--json')).out)).toEqual([]);
}, 60_000);

test('an organization is erased after the notice, not while that was taken back, and its receipt is recomputed', async () => {
  const { id } = await made('forgotten', 'Forgotten');
  const erase = (...more: string[]) =>
    svcctl('org', 'erase', '--org', 'forgotten', '--reason', 'asked by the owner', ...more);
  expect((await svcctl('privacy', 'terms', '--notice-days', '6')).code).toBe(2);
  expect((await svcctl('privacy', 'terms', '--notice-days', '10')).out).toContain('announced 10 days');
  const asked = await erase('--json');
  const { due_at, ...said } = JSON.parse(asked.out) as { due_at: string };
  expect(said).toEqual({ id, slug: 'forgotten', status: 'asked' });
  expect(Math.round((Date.parse(due_at) - Date.now()) / 86_400_000)).toBe(10);
  const twice = await erase();
  expect([twice.code, twice.err]).toEqual([1, expect.stringContaining('was asked for already')]);
  expect((await erase('--cancel')).out).toContain('forgotten is not erased');
  expect((await svcctl('privacy', 'org-receipt', '--org', id)).err).toContain('has no receipt');

  await erase();
  await rows(
    `update org_erasure set status = 'running', began_at = now(), due_at = now() where org_id = $1`,
    [id],
  );
  for (let status = 'running'; status === 'running'; )
    status = (await eraseOrgBatch(staffContext(pool), { org_id: id })).status;
  // A look of staff at what is left is no row that came back; a key would be one.
  await writeAudit(staffContext(pool), { action: 'staff.org.look', org_id: id });
  const receipt = await svcctl('privacy', 'org-receipt', '--org', id, '--json');
  expect([receipt.code, JSON.parse(receipt.out)]).toMatchObject([0, { id, ok: true, faults: [] }]);
  await rows(
    `insert into credit_notice (org_id, day, days, created_at) values ($1, current_date, 7, now())`,
    [id],
  );
  const back = await svcctl('privacy', 'org-receipt', '--org', id);
  expect([back.code, back.out]).toEqual([1, expect.stringContaining('credit_notice has 1 rows again')]);
}, 90_000);
