// Codes of staff: made in batches, redeemed once, and no way to guess them.
import { newCode } from '@svc/core/kernel/index.ts';
import { createBatchOperation, endBatch, makeBatch } from '@svc/core/redeem/index.ts';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { makeTopup } from '../registry/topup-rows.ts';
import { clockAt, persistently, startWorld } from './world.ts';

const world = await startWorld();
const { harness } = world;
let names = 0;

interface Options {
  readonly codes?: number;
  readonly max_per_org?: number;
  readonly country?: string;
  readonly new_org_only?: boolean;
}

/** The codes of a new batch of 5 USD each. */
async function batch(options: Options = {}): Promise<{ name: string; codes: string[] }> {
  const name = `batch-${++names}`;
  const { csv } = await makeBatch(harness.context, harness.root_key, {
    ...{ name, amount_micro_usd: 5_000_000, codes: 1, credit_days: 90 },
    valid_until: new Date('2026-12-31T00:00:00Z'),
    ...options,
  });
  const lines = csv.trimEnd().split('\r\n');
  expect(lines[0]).toBe('code,amount_micro_usd,batch');
  return { name, codes: lines.slice(1).map((line) => line.split(',')[0] as string) };
}

let addresses = 0;
const redeem = (tenant: Tenant, code: string, ip = `10.9.${++addresses}.1`) =>
  harness.call('POST', '/v1/credits/redeem', { key: tenant.key, body: { code }, ip });
const balance = async (tenant: Tenant) =>
  (await world.get<{ available_micro_usd: number }>('/v1/credits', tenant.key)).available_micro_usd;

test('a code brings its credit, with the name of the batch and an end, and is listed', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const tenant = await harness.makeTenant('one-code');
  const { name, codes } = await batch({ codes: 3, max_per_org: 2 });
  expect(new Set(codes).size).toBe(3);
  const made = await redeem(tenant, codes[0] as string);
  expect([made.statusCode, made.json()]).toEqual([
    201,
    {
      id: expect.stringMatching(/^red_/),
      amount_micro_usd: 5_000_000,
      ledger_seq: 1,
      credit_expires_at: expect.stringMatching(/^2027-02-19T10:00:/),
      batch: name,
      created_at: expect.stringMatching(/^2026-11-21T10:00:/),
    },
  ]);
  const second = await redeem(tenant, (codes[1] as string).toLowerCase());
  const { data } = await world.get<{ data: object[] }>('/v1/credits/redemptions', tenant.key);
  expect(data).toEqual([second.json(), made.json()]);
  expect(await balance(tenant)).toBe(10_000_000);
});

test('of two hundred redemptions of one code at once one succeeds', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const tenants = await Promise.all(['p', 'q', 'r', 's'].map((slug) => harness.makeTenant(`race-${slug}`)));
  const { codes } = await batch({ max_per_org: 100 });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) =>
      persistently(() => redeem(tenants[at % 4] as Tenant, codes[0] as string)),
    ),
  );
  const said = answers.map((answer) => (answer.statusCode === 201 ? '201' : codeOf(answer)));
  expect(said.filter((each) => each === '201')).toHaveLength(1);
  expect(new Set(said)).toEqual(new Set(['201', 'code_already_used']));
  const sums = await Promise.all(tenants.map(balance));
  expect(sums.reduce((sum, each) => sum + each, 0)).toBe(5_000_000);
  await world.expectRight();
});

test('an organization redeems its share of a batch and no more, also at once', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const tenant = await harness.makeTenant('share');
  const { codes } = await batch({ codes: 10, max_per_org: 2 });
  const answers = await Promise.all(codes.map((code) => redeem(tenant, code)));
  expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(2);
  const refused = answers.find(({ statusCode }) => statusCode !== 201);
  expect(refused?.json().error).toMatchObject({
    code: 'code_already_used',
    details: { reason: 'max_per_org', max_per_org: 2 },
  });
  // A code that was refused stays good for another organization.
  const left = codes[answers.findIndex(({ statusCode }) => statusCode !== 201)] as string;
  expect((await redeem(await harness.makeTenant('share-2'), left)).statusCode).toBe(201);
});

test('where nothing else is said an organization redeems one code of a batch, which has ten thousand at most', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const tenant = await harness.makeTenant('one-of-two');
  const { codes } = await batch({ codes: 2 });
  expect((await redeem(tenant, codes[0] as string)).statusCode).toBe(201);
  const refused = await redeem(tenant, codes[1] as string);
  expect([refused.statusCode, refused.json().error]).toMatchObject([
    409,
    { code: 'code_already_used', details: { reason: 'max_per_org', max_per_org: 1 } },
  ]);
  const wanted = { name: 'many', amount_micro: 1, credit_days: 1, valid_until: '2027-01-01T00:00:00Z' };
  const input = Compile(createBatchOperation.input);
  expect([10_000, 10_001].map((codes) => input.Check({ ...wanted, codes }))).toEqual([true, false]);
});

test('after ten codes that do not exist a right one is refused too, for an hour', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const tenant = await harness.makeTenant('guesser');
  const { codes } = await batch();
  const tries = await Promise.all(Array.from({ length: 30 }, () => redeem(tenant, newCode('CR'))));
  const said = tries.map(codeOf);
  expect(said.filter((each) => each === 'not_found')).toHaveLength(10);
  expect(said.filter((each) => each === 'rate_limit_exceeded')).toHaveLength(20);
  const right = await redeem(tenant, codes[0] as string);
  expect([right.statusCode, codeOf(right)]).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(right.headers['retry-after'])).toBeGreaterThan(3_500);
  clockAt('2026-11-21T11:00:30Z');
  expect((await redeem(tenant, codes[0] as string)).statusCode).toBe(201);
});

test('misses count for the address too, whatever organization it tries from', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const ip = '198.51.100.7';
  for (let at = 0; at < 10; at++) {
    const tenant = await harness.makeTenant(`address-${at}`);
    expect(codeOf(await redeem(tenant, newCode('CR'), ip))).toBe('not_found');
  }
  expect(codeOf(await redeem(harness.b, newCode('CR'), ip))).toBe('rate_limit_exceeded');
  expect(codeOf(await redeem(harness.b, newCode('CR')))).toBe('not_found');
});

test('a code is refused after its time, after its batch was ended, and for whom it is not', async () => {
  const tenant = await harness.makeTenant('unfit');
  clockAt('2026-11-21T10:00:00Z');
  const german = await batch({ country: 'DE' });
  const fresh = await batch({ codes: 2, max_per_org: 2, new_org_only: true });
  const [late, ended] = [await batch(), await batch({ codes: 2, max_per_org: 2 })];
  const reason = async (code: string) => {
    const answer = await redeem(tenant, code);
    return [answer.statusCode, codeOf(answer), answer.json().error.details.reason];
  };
  expect(await reason(german.codes[0] as string)).toEqual([403, 'permission_denied', 'country']);
  expect((await redeem(tenant, fresh.codes[0] as string)).statusCode).toBe(201);
  expect(await reason(fresh.codes[1] as string)).toEqual([403, 'permission_denied', 'new_org_only']);
  expect((await redeem(tenant, ended.codes[0] as string)).statusCode).toBe(201);
  await harness.context.transaction((context) => endBatch(context, ended.name));
  expect(await reason(ended.codes[1] as string)).toEqual([400, 'token_expired', undefined]);
  clockAt('2026-12-31T00:00:00Z');
  expect(await reason(late.codes[0] as string)).toEqual([400, 'token_expired', undefined]);
});

test('an organization that has paid is not new', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const tenant = await harness.makeTenant('has-paid');
  const { codes } = await batch({ new_org_only: true });
  const { topup_id, invoice_id } = await makeTopup(harness.context, tenant);
  await world.rows(
    `update topup set status = 'paid', paid_at = now(), invoice_id = $2, payment_ref = 'pi_2', lot_id = 'lot_2'
      where id = $1`,
    [topup_id, invoice_id],
  );
  expect(codeOf(await redeem(tenant, codes[0] as string))).toBe('permission_denied');
});

test('what is no code at all is refused as one that does not exist', async () => {
  for (const [at, text] of [
    'x',
    '-',
    '🎁',
    'CR-',
    "'; drop table gift",
    'GIFT-0000-0000-0000-0000',
  ].entries()) {
    const tenant = await harness.makeTenant(`odd-${at}`);
    const answer = await redeem(tenant, text);
    expect([answer.statusCode, answer.json().error.param]).toEqual([404, 'code']);
  }
  for (const body of [{}, { code: '' }, { code: 7 }, { code: 'x'.repeat(65) }, { code: 'a\nb' }]) {
    const answer = await harness.call('POST', '/v1/credits/redeem', { key: harness.a.key, body });
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'code']);
  }
});

test('a batch name is used once, and its codes are nowhere in the database', async () => {
  clockAt('2026-11-21T10:00:00Z');
  const { name, codes } = await batch();
  const wanted = { name, amount_micro_usd: 1, codes: 1, credit_days: 1, valid_until: new Date('2027-01-01') };
  await expect(makeBatch(harness.context, harness.root_key, wanted)).rejects.toMatchObject({
    code: 'already_exists',
  });
  const rows = await world.rows<{ text: string }>(
    `select c::text as text from redeem_code c union all select b::text from redeem_batch b
     union all select a::text from audit_entry a`,
  );
  const secret = (codes[0] as string).slice(3, 12);
  expect(rows.some(({ text }) => text.includes(secret))).toBe(false);
});
