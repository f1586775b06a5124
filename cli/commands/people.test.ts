// `svcctl user create`, `staff create` and `audit verify` as a script uses them.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import { putAccessRequest } from '@svc/core/identity/access/store.ts';
import { verifyStaff } from '@svc/core/identity/index.ts';
import { newId } from '@svc/core/kernel/index.ts';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { runSvcctl } from '../../test/support/programs/svcctl.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 1 });
const data_dir = mkdtempSync(join(tmpdir(), 'svc-people-'));
afterAll(async () => {
  await pool.end();
  rmSync(data_dir, { recursive: true, force: true });
});

async function svcctl(...args: string[]): Promise<{ code: number | null; json: Record<string, unknown> }> {
  const { code, out } = await runSvcctl([...args, '--json'], {
    SVC_DATABASE_URL: url,
    SVC_DATA_DIR: data_dir,
  });
  return { code, json: JSON.parse(out) };
}

test('a user is made with a password shown once, joins a second organization without a new one, and keys made there are bound to nobody', async () => {
  await svcctl('org', 'create', '--slug', 'acme', '--name', 'Acme', '--country', 'US');
  await svcctl('org', 'create', '--slug', 'other', '--name', 'Other', '--country', 'IN');
  const make = (org: string, role: string) =>
    svcctl('user', 'create', '--email', 'Asha@Acme.example', '--org', org, '--role', role);
  const first = await make('acme', 'owner');
  expect(first).toEqual({
    code: 0,
    json: {
      id: expect.stringMatching(/^usr_/),
      email: 'Asha@Acme.example',
      password: expect.stringMatching(/^(?:[2-9a-z]{5}-){3}[2-9a-z]{5}$/),
    },
  });
  const second = await make('other', 'viewer');
  expect(second.json).toMatchObject({ id: first.json['id'], password: null });
  await svcctl('key', 'create', '--org', 'acme');
  const { rows } = await pool.query<{ created_by: string | null }>({
    name: 'test.created_by',
    text: 'select created_by from api_key',
  });
  expect(rows).toEqual([{ created_by: null }]);
  const wrong = await svcctl('user', 'create', '--email', 'nobody', '--org', 'acme', '--role', 'owner');
  expect([wrong.code, wrong.json['error']]).toEqual([
    1,
    expect.objectContaining({ code: 'invalid_request' }),
  ]);
}, 60_000);

test('staff are made once per address, with everything needed to sign in and a token for scripts', async () => {
  const make = () => svcctl('staff', 'create', '--email', 'ops@svc.example', '--roles', 'finance,support');
  const { code, json } = await make();
  expect([code, json]).toEqual([
    0,
    {
      id: expect.stringMatching(/^stf_/),
      email: 'ops@svc.example',
      password: expect.any(String),
      totp_secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      token: expect.stringMatching(/^svc-staff-/),
    },
  ]);
  const caller = await verifyStaff(pool, { token: json['token'] as string, at: new Date() });
  expect(caller).toMatchObject({ kind: 'staff', staff_id: json['id'], roles: ['finance', 'support'] });
  expect((await make()).json['error']).toMatchObject({ code: 'already_exists' });
  expect(statSync(join(data_dir, 'keyring.json')).mode & 0o077).toBe(0);
  const verified = await svcctl('audit', 'verify');
  expect(verified).toEqual({ code: 0, json: { ok: true, entries: 3, redacted: 0, faults: [] } });
}, 60_000);

test('a request for access is listed, approved with a link by mail or declined, and decided once', async () => {
  const ids: string[] = [];
  for (const email of ['mira@alone.example', 'ravi@alone.example']) {
    const id = newId('access_request');
    ids.push(id);
    await putAccessRequest(pool, {
      ...{
        id,
        email,
        email_key: email,
        name: 'Mira',
        company: 'Alone',
        use_case: 'Answers.',
        at: new Date(),
      },
      ...{ job_title: '', country: '', website: '', monthly_spend: '' },
    });
  }
  const listed = async () =>
    ((await svcctl('access', 'list')).json['data'] as { id: string }[]).map(({ id }) => id);
  expect(await listed()).toEqual(ids);
  const [first, second] = ids as [string, string];
  const approved = await svcctl('access', 'approve', '--request', first, '--reason', 'a partner');
  expect(approved).toEqual({ code: 0, json: { id: first, status: 'approved' } });
  const declined = await svcctl('access', 'decline', '--request', second, '--reason', 'no use', '--mail');
  expect(declined).toEqual({ code: 0, json: { id: second, status: 'declined' } });
  const again = await svcctl('access', 'decline', '--request', first, '--reason', 'no use');
  expect([again.code, again.json['error']]).toEqual([1, expect.objectContaining({ code: 'state_conflict' })]);
  expect(await listed()).toEqual([]);
  const { rows } = await pool.query<{ template: string; recipient: string }>({
    name: 'test.mails',
    text: 'select template, recipient from mail order by recipient',
  });
  expect(rows).toEqual([
    { template: 'access_approved', recipient: 'mira@alone.example' },
    { template: 'access_declined', recipient: 'ravi@alone.example' },
  ]);
}, 60_000);
