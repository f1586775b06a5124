// Gifts from making them to where their credit ends, over the wire and the real ledger.
import { settleGifts } from '@svc/core/gifts/index.ts';
import { applyDueTasks, expireLots } from '@svc/core/ledger/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { clockAt, persistently, startWorld } from './world.ts';

const world = await startWorld();
const { harness } = world;

interface Gift {
  readonly id: string;
  readonly status: string;
  readonly amount_micro_usd: number;
  readonly hint: string;
  readonly code?: string;
  readonly closed_at: string | null;
}

const make = (tenant: Tenant, amount_micro_usd: number, more: object = {}) =>
  harness.call('POST', '/v1/credits/gifts', { key: tenant.key, body: { amount_micro_usd, ...more } });
const cancel = (tenant: Tenant, id: string) =>
  harness.call('DELETE', `/v1/credits/gifts/${id}`, { key: tenant.key });
let address = 0;
/** From an address of its own, so that one test's misses do not count for the next. */
const redeem = (tenant: Tenant, code: string) => {
  address++;
  const ip = `10.${(address >> 8) & 255}.${address & 255}.1`;
  return harness.call('POST', '/v1/credits/redeem', { key: tenant.key, body: { code }, ip });
};
const gifts = async (tenant: Tenant) =>
  (await world.get<{ data: Gift[] }>('/v1/credits/gifts', tenant.key)).data;
const balance = async (tenant: Tenant) =>
  (await world.get<{ available_micro_usd: number }>('/v1/credits', tenant.key)).available_micro_usd;

/** An organization with paid credit that is eight days old. */
async function payer(slug: string, micro: number): Promise<Tenant> {
  const tenant = await harness.makeTenant(slug);
  clockAt('2026-11-10T10:00:00Z');
  await world.paid(tenant, micro);
  clockAt('2026-11-18T10:00:00Z');
  return tenant;
}

/** Has the job book what the ledger was too busy for. */
async function bookAll(): Promise<void> {
  clockAt('2026-11-18T10:02:00Z');
  await applyDueTasks(harness.pool, harness.context.log);
}

test('a gift is taken out of paid credit, its code is shown once, and another organization redeems it for a year', async () => {
  const giver = await payer('giver', 30_000_000);
  const friend = await harness.makeTenant('friend');
  const made = await make(giver, 10_000_000, { note: 'hackathon' });
  const gift = made.json() as Gift;
  expect([made.statusCode, gift]).toEqual([
    201,
    {
      id: expect.stringMatching(/^gift_/),
      amount_micro_usd: 10_000_000,
      hint: `...${gift.code?.slice(-4)}`,
      note: 'hackathon',
      status: 'open',
      expires_at: expect.stringMatching(/^2027-02-16T10:00:/),
      created_at: expect.stringMatching(/^2026-11-18T10:00:/),
      closed_at: null,
      code: expect.stringMatching(/^GIFT(-[0-9A-HJKMNP-TV-Z]{4}){4}$/),
    },
  ]);
  expect(await balance(giver)).toBe(20_000_000);
  const { code, ...shown } = gift;
  expect(await gifts(giver)).toEqual([shown]);
  const taken = await redeem(friend, (code as string).toLowerCase().replaceAll('-', ' '));
  expect([taken.statusCode, taken.json()]).toEqual([
    201,
    {
      id: expect.stringMatching(/^red_/),
      amount_micro_usd: 10_000_000,
      ledger_seq: 1,
      credit_expires_at: expect.stringMatching(/^2027-11-18T10:00:/),
      batch: null,
      created_at: expect.stringMatching(/^2026-11-18T10:00:/),
    },
  ]);
  expect(await balance(friend)).toBe(10_000_000);
  expect(await gifts(giver)).toMatchObject([{ status: 'redeemed' }]);
  const lots = await world.get<{ data: object[] }>('/v1/credits/lots', friend.key);
  expect(lots.data).toMatchObject([{ kind: 'granted', source_type: 'gift', source_id: gift.id }]);
  const [stored] = await world.rows<{ text: string }>('select gift::text as text from gift where id = $1', [
    gift.id,
  ]);
  expect(stored?.text).not.toContain(code?.slice(5, 9));
  await world.expectRight();
});

test('a gift, and a redemption, that are asked for again under their key are the first ones: nothing moves twice', async () => {
  const [giver, friend] = [await payer('giver-again', 30_000_000), await harness.makeTenant('friend-again')];
  const twice = async (tenant: Tenant, path: string, body: object) => {
    const options = { key: tenant.key, body, headers: { 'idempotency-key': 'once' } };
    const first = await harness.call('POST', path, options);
    const second = await harness.call('POST', path, options);
    expect([first.statusCode, first.headers['x-svc-idempotent-replay']]).toEqual([201, undefined]);
    expect([second.statusCode, second.headers['x-svc-idempotent-replay']]).toEqual([201, 'true']);
    expect(second.json()).toEqual(first.json());
    return first.json() as Gift;
  };
  const { code } = await twice(giver, '/v1/credits/gifts', { amount_micro_usd: 4_000_000 });
  expect(code).toMatch(/^GIFT-/);
  expect([await balance(giver), (await gifts(giver)).length]).toEqual([26_000_000, 1]);
  await twice(friend, '/v1/credits/redeem', { code });
  expect(await balance(friend)).toBe(4_000_000);
  const other = {
    key: giver.key,
    body: { amount_micro_usd: 5_000_000 },
    headers: { 'idempotency-key': 'once' },
  };
  const refused = await harness.call('POST', '/v1/credits/gifts', other);
  expect([refused.statusCode, codeOf(refused)]).toEqual([422, 'idempotency_conflict']);
  await world.expectRight();
});

test('of two hundred redemptions of one gift at once one succeeds', async () => {
  const giver = await payer('giver-200', 30_000_000);
  const { code } = (await make(giver, 5_000_000)).json() as Gift;
  const friends = [await harness.makeTenant('race-a'), await harness.makeTenant('race-b')] as const;
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) =>
      persistently(() => redeem(friends[at % 2] as Tenant, code as string)),
    ),
  );
  await bookAll();
  const codes = answers.map((answer) => (answer.statusCode === 201 ? '201' : codeOf(answer)));
  expect(codes.filter((each) => each === '201')).toHaveLength(1);
  expect(new Set(codes)).toEqual(new Set(['201', 'code_already_used']));
  expect((await balance(friends[0])) + (await balance(friends[1]))).toBe(5_000_000);
  await world.expectRight();
});

test('a gift and a check-in that the ledger cannot book at once are answered as done, and are booked by the job', async () => {
  const giver = await payer('giver-late', 30_000_000);
  const friend = await harness.makeTenant('friend-late');
  const { code } = (await make(giver, 5_000_000)).json() as Gift;
  await world.rows(
    `insert into settings (name, value, updated_at)
     values ('checkin', '{"enabled":true,"needs_topup":false}', now())`,
  );
  const credit =
    'ledger.credit(bigint, text, bigint, boolean, timestamptz, smallint, text, text, timestamptz)';
  await harness.pool.query({ name: '', text: `alter function ${credit} rename to credit_away`, values: [] });
  let taken: Awaited<ReturnType<typeof redeem>>;
  let checked: typeof taken;
  try {
    taken = await redeem(friend, code as string);
    checked = await harness.call('POST', '/v1/credits/checkin', { key: friend.key, body: {} });
  } finally {
    const back = `alter function ${credit.replace('ledger.credit', 'ledger.credit_away')} rename to credit`;
    await harness.pool.query({ name: '', text: back, values: [] });
    await world.rows(`delete from settings where name = 'checkin'`);
  }
  expect([taken.statusCode, taken.json()]).toMatchObject([201, { ledger_seq: null }]);
  expect([checked.statusCode, checked.json()]).toMatchObject([201, { ledger_seq: null }]);
  expect(codeOf(await redeem(friend, code as string))).toBe('code_already_used');
  expect(await balance(friend)).toBe(0);
  await bookAll();
  expect(await balance(friend)).toBe(5_100_000);
  const { data } = await world.get<{ data: object[] }>('/v1/credits/redemptions', friend.key);
  expect(data).toMatchObject([{ ledger_seq: expect.any(Number) }]);
  await world.expectRight();
});

test('twenty gifts at once out of credit for seven make seven, and the rest are refused with what there is', async () => {
  const giver = await payer('giver-20', 7_500_000);
  const answers = await Promise.all(Array.from({ length: 20 }, () => make(giver, 1_000_000)));
  expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(7);
  const refused = answers.find(({ statusCode }) => statusCode === 402);
  expect(refused?.json().error).toMatchObject({
    code: 'insufficient_credits',
    details: { required_micro: 1_000_000 },
  });
  expect(await balance(giver)).toBe(500_000);
  expect(await gifts(giver)).toHaveLength(7);
});

test('granted credit, and credit that was paid in the last seven days, cannot be given away', async () => {
  const giver = await harness.makeTenant('young');
  clockAt('2026-11-10T10:00:00Z');
  await world.grant(giver, 50_000_000);
  await world.paid(giver, 20_000_000);
  clockAt('2026-11-17T09:59:59Z');
  const refused = await make(giver, 1_000_000);
  expect([refused.statusCode, refused.json().error.details]).toEqual([
    402,
    { required_micro: 1_000_000, available_micro: 0 },
  ]);
  expect(await gifts(giver)).toEqual([]);
  clockAt('2026-11-17T10:00:02Z');
  expect((await make(giver, 1_000_000)).statusCode).toBe(201);
});

test('a cancelled gift goes back where it was, once, and cannot be redeemed any more', async () => {
  const giver = await payer('giver-back', 10_000_000);
  const friend = await harness.makeTenant('late-friend');
  const { id, code } = (await make(giver, 4_000_000)).json() as Gift;
  const all = await Promise.all(Array.from({ length: 20 }, () => cancel(giver, id)));
  expect(all.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
  const other = all.find(({ statusCode }) => statusCode !== 200);
  expect(other?.json().error).toMatchObject({ code: 'state_conflict', details: { state: 'cancelled' } });
  expect(await balance(giver)).toBe(10_000_000);
  const { data } = await world.get<{
    data: { kind: string; remaining_micro_usd: number; source_type: string }[];
  }>('/v1/credits/lots?open=true', giver.key);
  expect(data.map((lot) => [lot.kind, lot.remaining_micro_usd, lot.source_type])).toEqual([
    ['paid', 4_000_000, 'topup'],
    ['paid', 6_000_000, 'topup'],
  ]);
  const late = await redeem(friend, code as string);
  expect([late.statusCode, codeOf(late)]).toEqual([400, 'token_expired']);
  await world.expectRight();
});

test('a gift that nobody redeems in ninety days goes back by itself', async () => {
  const giver = await payer('giver-90', 10_000_000);
  const friend = await harness.makeTenant('friend-90');
  const { code } = (await make(giver, 2_000_000)).json() as Gift;
  clockAt('2027-02-16T09:59:00Z');
  await settleGifts(world.context);
  expect(await gifts(giver)).toMatchObject([{ status: 'open' }]);
  clockAt('2027-02-16T10:00:05Z');
  expect(codeOf(await redeem(friend, code as string))).toBe('token_expired');
  await settleGifts(world.context);
  expect(await gifts(giver)).toMatchObject([{ status: 'cancelled' }]);
  expect(await balance(giver)).toBe(10_000_000);
});

test('an organization cannot redeem its own gift, nor see or cancel another one’s', async () => {
  const giver = await payer('giver-own', 10_000_000);
  const other = await harness.makeTenant('stranger');
  const { id, code } = (await make(giver, 1_000_000)).json() as Gift;
  expect(codeOf(await redeem(giver, code as string))).toBe('gift_own_org');
  expect(codeOf(await cancel(other, id))).toBe('not_found');
  expect(await gifts(other)).toEqual([]);
});

test('less than a dollar and more than five hundred are refused with the field', async () => {
  for (const amount of [999_999, 500_000_001, 0, -1, 1.5, '1000000']) {
    const answer = await make(harness.a, amount as number);
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'amount_micro_usd']);
  }
});

test('a process that died before it showed the code gives the credit back', async () => {
  const giver = await payer('giver-dead', 10_000_000);
  const { id } = (await make(giver, 3_000_000)).json() as Gift;
  await world.rows(`update gift set status = 'pending' where id = $1`, [id]);
  await settleGifts(world.context);
  expect(await balance(giver)).toBe(7_000_000);
  clockAt('2026-11-18T10:06:00Z');
  await settleGifts(world.context);
  expect(await balance(giver)).toBe(10_000_000);
  expect(await gifts(giver)).toMatchObject([{ status: 'cancelled' }]);
  await world.expectRight();
});

test('no sequence of gifts, cancellations, redemptions, calls and expiry makes credit out of nothing', async () => {
  const one = await payer('money-a', 40_000_000);
  const two = await harness.makeTenant('money-b');
  const steps = fc.array(
    fc.record({ what: fc.constantFrom('make', 'cancel', 'redeem', 'own', 'call', 'later'), at: fc.nat(30) }),
    { minLength: 10, maxLength: 25 },
  );
  const [drawn] = fc.sample(steps, { numRuns: 1, seed: 77 }) as [{ what: string; at: number }[]];
  const made: Gift[] = [];
  let now = Date.parse('2026-11-18T10:00:00Z');
  let spent = 0;
  for (const { what, at } of drawn) {
    const gift = made[at % Math.max(1, made.length)];
    if (what === 'make') {
      const answer = await make(one, 1_000_000 + at);
      if (answer.statusCode === 201) made.push(answer.json() as Gift);
    }
    if (what === 'cancel' && gift) await cancel(one, gift.id);
    if (what === 'redeem' && gift) await redeem(two, gift.code as string);
    if (what === 'own' && gift) await redeem(one, gift.code as string);
    if (what === 'call' && (await balance(two)) > 1_000) {
      await world.call(two, 1_000);
      spent += 1_000;
    }
    if (what === 'later') {
      now += at * 86_400_000;
      clockAt(new Date(now).toISOString());
      await settleGifts(world.context);
      await expireLots(harness.pool);
    }
    const open = (await gifts(one)).filter(({ status }) => status === 'open');
    const given = open.reduce((sum, each) => sum + each.amount_micro_usd, 0);
    const [{ expired } = { expired: 0 }] = await world.rows<{ expired: number }>(
      'select coalesce(-sum(amount), 0)::bigint as expired from ledger.entry where kind = 16 and book_id = $1',
      [two.org.live_book_id],
    );
    expect((await balance(one)) + (await balance(two)) + given + spent + expired).toBe(40_000_000);
  }
  await world.expectRight();
});
