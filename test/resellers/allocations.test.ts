// Credit from a reseller to its customers and back: over two processes at once, killed between, and when it ends
// (docs/resellers/allocations.md).
import { rmSync } from 'node:fs';
import { trialBalance } from '@svc/core/accounting/index.ts';
import { microUsd } from '@svc/core/kernel/index.ts';
import { applyDueTasks, credit, expireLots, verifyLedger } from '@svc/core/ledger/index.ts';
import { partsBack } from '@svc/core/resellers/allocations/allocate.ts';
import { settleAllocations } from '@svc/core/resellers/index.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../calls/world.ts';
import { clockAt } from '../credits/world.ts';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { freshDataDir, type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { startSharedGateway } from '../support/shared-gateway.ts';
import { type Reseller, startResellers } from './world.ts';

interface Allocation {
  readonly id: string;
  readonly amount_micro_usd: number;
  readonly reclaimed_micro_usd: number;
  readonly ledger_seq: number | null;
  readonly child_ledger_seq: number | null;
  readonly expires_at: string;
}
const USD = 1_000_000;
const world = await startResellers();
const { harness, ask, refused } = world;
const rest = (child: Tenant) => `/v1/reseller/children/${child.org.id}/allocations`;
const give = (from: Reseller, to: Tenant, amount_micro_usd: number, more: object = {}) =>
  ask<Allocation>('POST', rest(to), from.token, { amount_micro_usd, ...more }, 201);
const take = (from: Reseller, of: Tenant, { id }: Pick<Allocation, 'id'>) =>
  ask<Allocation>('POST', `${rest(of)}/${id}/reclaim`, from.token);
const balance = async (tenant: Tenant) =>
  (await world.get<{ available_micro_usd: number }>('/v1/credits', tenant.key)).available_micro_usd;

/** Every book is right, and no credit is under way. */
async function expectNothingOnTheWay(): Promise<void> {
  await world.expectRight();
  const { lines } = await trialBalance(harness.pool, {
    from: null,
    to: new Date(Date.now() + 1e11),
    current: true,
  });
  expect(lines.find(({ account }) => account === 'transfers')?.closing ?? 0n).toBe(0n);
  const debit = lines.reduce((sum, line) => sum + line.debit - line.credit, 0n);
  expect(debit).toBe(0n);
}

/** Paid credit that ends at `expires_at`. */
const pay = (tenant: Tenant, micro: number, expires_at: string | null) =>
  credit(harness.pool, {
    ...{ book_id: tenant.org.live_book_id, kind: 'topup', granted: false, amount_micro_usd: microUsd(micro) },
    ...{ expires_at: expires_at === null ? null : new Date(expires_at), ref_type: 'topup' },
    ref_id: `paid ${tenant.org.slug} ${expires_at}`,
  });

/** Processes of one installation share a key ring. */
const data_dir = freshDataDir();
let gateways: readonly [GatewayProcess, GatewayProcess];
beforeAll(async () => {
  const options = { database_url: harness.url, data_dir };
  gateways = [await startSharedGateway(options), await startSharedGateway(options)];
}, 120_000);
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.kill()));
  rmSync(data_dir, { recursive: true, force: true });
});

async function send(gateway: GatewayProcess, path: string, key: string, body?: object, once?: string) {
  const reply = await fetch(`${gateway.base_url}${path}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(once === undefined ? {} : { 'idempotency-key': once }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as Allocation & { error?: { code: string } } };
}

/** The same sent again while the service says that it cannot be done now, as clients do. */
async function persistently(...args: Parameters<typeof send>): ReturnType<typeof send> {
  for (;;) {
    const answer = await send(...args);
    if (answer.status !== 503 && answer.body.error?.code !== 'idempotency_in_progress') return answer;
  }
}

test('an allocation takes paid credit from the reseller and gives the customer granted credit that ends, under one id on both books', async () => {
  const [acme, child] = [await world.reseller('acme-a'), await world.reseller('nobody-a')];
  const north = await world.child(acme, 'north-a');
  await world.paid(acme, 30 * USD);
  await world.grant(acme, 50 * USD);
  const made = await give(acme, north, 10 * USD, { note: 'November', expires_days: 30 });
  expect(made).toMatchObject({
    ...{ parent_org_id: acme.org.id, child_org_id: north.org.id, amount_micro_usd: 10 * USD },
    ...{ reclaimed_micro_usd: 0, note: 'November', ledger_seq: 3, child_ledger_seq: 1 },
  });
  const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  expect([await balance(acme), await balance(north)]).toEqual([70 * USD, 10 * USD]);
  const entries = await world.rows(
    `select book_id = $1 as is_parent, amount, ref_type, ref_id from ledger.entry
      where ref_id = $2 order by amount`,
    [acme.org.live_book_id, made.id],
  );
  expect(entries).toEqual([
    { is_parent: true, amount: -10 * USD, ref_type: 'allocation', ref_id: made.id },
    { is_parent: false, amount: 10 * USD, ref_type: 'allocation', ref_id: made.id },
  ]);
  const lots = await world.get<{ data: { kind: string }[] }>('/v1/credits/lots', north.key);
  expect(lots.data).toMatchObject([{ kind: 'granted', source_type: 'allocation' }]);
  // Granted credit is not given on, and what is not the reseller's customer is not there.
  expect(await refused('POST', rest(north), acme.token, { amount_micro_usd: 21 * USD })).toEqual([
    ...[402, 'insufficient_credits'],
  ]);
  expect(await refused('POST', rest(child), acme.token, { amount_micro_usd: 1 })).toEqual([404, 'not_found']);
  expect(await refused('POST', `${rest(north)}/${made.id}/reclaim`, child.token)).toEqual([404, 'not_found']);
  expect(await balance(acme)).toBe(70 * USD);
  await expectNothingOnTheWay();
});

test('of sixteen allocations at once over two processes exactly as many succeed as there is credit for', async () => {
  const acme = await world.reseller('acme-16');
  const children = [await world.child(acme, 'north-16'), await world.child(acme, 'south-16')] as const;
  await world.paid(acme, 10 * USD);
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, at) =>
      persistently(
        ...([gateways[at % 2] as GatewayProcess, rest(children[(at >> 1) % 2] as Tenant)] as const),
        ...([acme.token, { amount_micro_usd: USD }, `key ${at}`] as const),
      ),
    ),
  );
  const codes = answers.map(({ status }) => status).sort();
  expect(codes).toEqual([...Array(10).fill(201), ...Array(6).fill(402)]);
  expect(await balance(acme)).toBe(0);
  expect((await balance(children[0])) + (await balance(children[1]))).toBe(10 * USD);
  // The same keys again move nothing.
  const again = await persistently(
    gateways[1],
    rest(children[0]),
    acme.token,
    { amount_micro_usd: USD },
    'key 0',
  );
  expect(again).toEqual(answers[0]);
  // And back, each by two at once.
  const made = answers.filter(({ status }) => status === 201).map(({ body }) => body);
  const childOf = new Map(children.map((child) => [child.org.id as string, child]));
  const back = await Promise.all(
    made.flatMap((one) =>
      gateways.map((gateway) => {
        const of = childOf.get((one as unknown as { child_org_id: string }).child_org_id) as Tenant;
        return persistently(gateway, `${rest(of)}/${one.id}/reclaim`, acme.token);
      }),
    ),
  );
  expect(new Set(back.map(({ status }) => status))).toEqual(new Set([200]));
  expect([await balance(acme), await balance(children[0]), await balance(children[1])]).toEqual([
    10 * USD,
    0,
    0,
  ]);
  await expectNothingOnTheWay();
});

test('a process that is killed between the two books leaves neither more nor less: the retry is the first one', async () => {
  const acme = await world.reseller('acme-kill');
  const north = await world.child(acme, 'north-kill');
  await world.paid(acme, 5 * USD);
  const doomed = await startGatewayProcess({ database_url: harness.url, data_dir });
  const holder = new pg.Client({ connectionString: harness.url });
  await holder.connect();
  const body = { amount_micro_usd: 2 * USD };
  try {
    // The debit is done and the customer's book is held, so the process dies after one and before the other.
    await holder.query('begin');
    await holder.query('select from ledger.book where book_id = $1 for no key update', [
      north.org.live_book_id,
    ]);
    const lost = send(doomed, rest(north), acme.token, body, 'the key').catch(() => null);
    await eventually('the credit waits for the book', async () => {
      const { rowCount } = await harness.pool.query({
        name: '',
        text: `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%ledger.credit(%'
                 and datname = current_database()`,
      });
      return rowCount > 0;
    });
    await doomed.kill();
    await lost;
  } finally {
    await holder.query('rollback');
    await holder.end();
  }
  expect(await balance(acme)).toBe(3 * USD);
  // Its claim lapses after a minute.
  await world.rows(`update idempotency set started_at = started_at - interval '2 minutes'`);
  const again = await persistently(gateways[0], rest(north), acme.token, body, 'the key');
  expect(again.status).toBe(201);
  await applyDueTasks(harness.pool, harness.context.log);
  expect([await balance(acme), await balance(north)]).toEqual([3 * USD, 2 * USD]);
  const listed = await ask<{ data: Allocation[] }>('GET', rest(north), acme.token);
  expect(listed.data.map(({ id }) => id)).toEqual([again.body.id]);
  await expectNothingOnTheWay();
}, 120_000);

test('what nobody asks for again is booked by the job', async () => {
  const acme = await world.reseller('acme-job');
  const north = await world.child(acme, 'north-job');
  await world.paid(acme, 5 * USD);
  const made = await give(acme, north, 2 * USD);
  // As a process leaves it that died after the debit.
  await world.rows(
    `update reseller_allocation set status = 'pending', ledger_seq = null, child_ledger_seq = null, lot_id = null
      where id = $1`,
    [made.id],
  );
  clockAt(new Date(Date.now() + 120_000).toISOString());
  expect(await settleAllocations(world.context)).toBeGreaterThanOrEqual(1);
  expect(await settleAllocations(world.context)).toBe(0);
  expect([await balance(acme), await balance(north)]).toEqual([3 * USD, 2 * USD]);
  const listed = await ask<{ data: Allocation[] }>('GET', rest(north), acme.token);
  expect(listed.data).toEqual([made]);
  await expectNothingOnTheWay();
});

test('a reclaim takes what is unused and not held, and what a call gives back can be taken later', async () => {
  const acme = await world.reseller('acme-b');
  const north = await world.child(acme, 'north-b');
  await world.paid(acme, 30 * USD);
  const made = await give(acme, north, 10 * USD);
  await world.call(north, 2 * USD);
  const running = await world.begin(north, 5 * USD);
  expect(await take(acme, north, made)).toMatchObject({ reclaimed_micro_usd: 3 * USD });
  expect([await balance(acme), await balance(north)]).toEqual([23 * USD, 0]);
  expect(await take(acme, north, made)).toMatchObject({ reclaimed_micro_usd: 3 * USD });
  await running.settle({ cost_micro: 1 * USD });
  expect(await take(acme, north, made)).toMatchObject({ reclaimed_micro_usd: 7 * USD });
  expect([await balance(acme), await balance(north)]).toEqual([27 * USD, 0]);
  await expectNothingOnTheWay();
});

test('only its own lot is taken back: other credit of the customer stays', async () => {
  const acme = await world.reseller('acme-own');
  const north = await world.child(acme, 'north-own');
  await world.paid(acme, 30 * USD);
  await world.paid(north, 4 * USD);
  const [one, two] = [await give(acme, north, 3 * USD), await give(acme, north, 2 * USD)];
  await take(acme, north, one);
  expect(await balance(north)).toBe(6 * USD);
  await take(acme, north, two);
  expect([await balance(north), await balance(acme)]).toEqual([4 * USD, 30 * USD]);
  await expectNothingOnTheWay();
});

test('what comes back is paid credit again and ends when it would have ended, the last to end first', async () => {
  const acme = await world.reseller('acme-ends');
  const north = await world.child(acme, 'north-ends');
  await pay(acme, 4 * USD, '2028-01-01T00:00:00Z');
  await pay(acme, 6 * USD, '2029-01-01T00:00:00Z');
  const made = await give(acme, north, 9 * USD);
  await world.call(north, 7 * USD);
  await take(acme, north, made);
  const lots = await world.rows(
    `select expires_at, amount - burned as left, is_grant from ledger.lot where book_id = $1 and is_open`,
    [acme.org.live_book_id],
  );
  const ends = new Date('2029-01-01T00:00:00Z');
  expect(lots).toEqual([
    { expires_at: ends, left: 1 * USD, is_grant: false },
    { expires_at: ends, left: 2 * USD, is_grant: false },
  ]);
  const dated = [
    { expires_at: new Date(1), amount_micro_usd: 4 },
    { expires_at: null, amount_micro_usd: 5 },
  ];
  expect(partsBack(dated, 0, 7)).toEqual([
    { expires_at: null, amount_micro_usd: 5 },
    { expires_at: new Date(1), amount_micro_usd: 2 },
  ]);
  expect(partsBack(dated, 7, 2)).toEqual([{ expires_at: new Date(1), amount_micro_usd: 2 }]);
  expect(() => partsBack(dated, 7, 3)).toThrow(RangeError);
});

test('an allocation that has ended is neither spent nor taken back', async () => {
  const acme = await world.reseller('acme-over');
  const north = await world.child(acme, 'north-over');
  await world.paid(acme, 30 * USD);
  const made = await give(acme, north, 10 * USD, { expires_days: 1 });
  clockAt(new Date(Date.now() + 2 * 86_400_000).toISOString());
  await expireLots(harness.pool);
  expect(await balance(north)).toBe(0);
  const token = await harness.signIn(acme.owner);
  expect(await take({ ...acme, token }, north, made)).toMatchObject({ reclaimed_micro_usd: 0 });
  expect(await balance(acme)).toBe(20 * USD);
  await expectNothingOnTheWay();
});

test('malformed amounts move nothing', async () => {
  const acme = await world.reseller('acme-bad');
  const north = await world.child(acme, 'north-bad');
  await world.paid(acme, USD);
  for (const amount_micro_usd of [0, -1, 1.5, '1', 2 ** 53, null]) {
    const reply = await harness.call('POST', rest(north), { key: acme.token, body: { amount_micro_usd } });
    expect([amount_micro_usd, reply.statusCode, codeOf(reply)]).toEqual([
      amount_micro_usd,
      400,
      'invalid_request',
    ]);
  }
  const closed = await world.child(acme, 'closed-bad');
  await world.rows(`update org set status = 'closed', closed_at = now() where id = $1`, [closed.org.id]);
  expect(await refused('POST', rest(closed), acme.token, { amount_micro_usd: 1 })).toEqual([
    409,
    'state_conflict',
  ]);
  expect(await balance(acme)).toBe(USD);
  expect((await verifyLedger({ url: harness.url })).findings).toEqual([]);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
