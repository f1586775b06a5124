// `svcctl limits` and `svcctl org set --low-balance` as a person uses them.
import { createPool } from '@svc/core/db/index.ts';
import { newRequestId, type Services, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { findOrg } from '@svc/core/orgs/index.ts';
import { requestLimits } from '@svc/core/support/limit-request.ts';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 1 });
afterAll(() => pool.end());

const svcctl = (...args: string[]) => runSvcctl(args, { SVC_DATABASE_URL: url });
const json = async (...args: string[]) => JSON.parse((await svcctl(...args, '--json')).out);

test('a request that goes beyond the plan is listed, granted with other values or refused', async () => {
  const org = await json(
    'org',
    'create',
    '--slug',
    'acme',
    '--name',
    'Acme',
    '--country',
    'US',
    '--plan',
    'payg',
  );
  const key = await json('key', 'create', '--org', 'acme', '--name', 'server');
  const context = createContext({
    ...{ request_id: newRequestId(), pool, log: silentLog, services: {} as Services },
    caller: {
      ...{ kind: 'key', org_id: org.id, project_id: org.project_id, key_id: key.id, environment: 'live' },
      ...{ scopes: ['manage:keys'], expires_at: null },
    },
  });
  const ask = () =>
    context.transaction((context) =>
      requestLimits(context, {
        key_id: key.id,
        requested: { rpm: 900, tpm: null, concurrency: null },
        reason: 'a sale',
      }),
    );
  const { ticket } = await ask();
  expect((await svcctl('limits', 'list')).out).toContain('server: 900 requests a minute (a sale)');
  const approve = ['limits', 'approve', '--ticket', ticket.id, '--rpm', '700'];
  expect(await json(...approve)).toEqual({ id: ticket.id, status: 'approved' });
  expect((await findOrg(pool, 'acme'))?.limit_overrides).toEqual({ rpm: 700 });
  const second = (await ask()).ticket.id;
  expect((await svcctl('limits', 'refuse', '--ticket', second, '--answer', 'not now')).code).toBe(0);
  const override = (...flags: string[]) =>
    json('limits', 'override', '--org', 'acme', '--reason', 'the sale is over', ...flags);
  expect(await override('--rpm', '0', '--tpm', '2000000')).toMatchObject({
    limit_overrides: { tpm: 2_000_000 },
  });
}, 60_000);

test('the balance below which an organization is written to is set, and stands in its audit log', async () => {
  const set = await json('org', 'set', '--org', 'acme', '--low-balance', '20000000');
  expect(set).toMatchObject({ slug: 'acme', low_balance_micro: 20_000_000 });
  const { rows } = await pool.query({
    name: '',
    text: `select o.low_balance_micro, b.low_mark, a.after
             from org o join ledger.book b on b.book_id = o.live_book_id
             join audit_entry a on a.org_id = o.id and a.action = 'orgs.update' where o.slug = 'acme'`,
  });
  expect(rows).toEqual([
    { low_balance_micro: 20_000_000, low_mark: 20_000_000, after: { low_balance_micro: 20_000_000 } },
  ]);
}, 60_000);

test('the limits of organizations that people make themselves are shown and changed, with a reason', async () => {
  expect(await json('limits', 'new-orgs')).toEqual({ first_rpm: 20, keys_per_hour: 20 });
  const change = ['limits', 'new-orgs', '--first-rpm', '10', '--keys-per-hour', '0'];
  expect((await svcctl(...change)).code).not.toBe(0);
  expect(await json(...change, '--reason', 'a wave')).toEqual({ first_rpm: 10, keys_per_hour: null });
  expect((await svcctl('limits', 'new-orgs')).out).toMatch(/paid {2}10\n.*no limit/);
}, 60_000);
