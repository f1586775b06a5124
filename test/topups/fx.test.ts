// Exchange rates over a source that can be late, wrong or away, on PostgreSQL, and what quotes and pages make of them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getFxOperation } from '@svc/core/desk/index.ts';
import {
  type Context,
  machineMs,
  newRequestId,
  type Services,
  shiftClock,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  acceptFxDay,
  createTopup,
  fxDisplayOperation,
  listStaffItems,
  openFx,
  pricingOperation,
  quoteFor,
  refreshFx,
} from '@svc/core/topups/index.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
let answer: { status: number; body: string } = { status: 200, body: '' };
let asked = 0;
const source = createServer((_request, response) => {
  asked++;
  response.writeHead(answer.status).end(answer.body);
}).listen(0, '127.0.0.1');
await new Promise((done) => source.once('listening', done));
atFileEnd(async () => void source.close());
const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/rates`;

const usual = {
  INR: '88.7',
  EUR: '0.8612',
  GBP: '0.7583',
  SGD: '1.3',
  AUD: '1.529',
  CAD: '1.398',
  JPY: '155.4',
};
const serve = (day: string, other: Partial<typeof usual> = {}) => {
  answer = { status: 200, body: JSON.stringify({ day, base: 'USD', rates: { ...usual, ...other } }) };
};

/** The context at `now`, which is then the product's time, with rates from the address. */
function at(now: string): Context {
  const { money_in } = world.context.services;
  shiftClock(Date.parse(now) - machineMs());
  return createContext({
    request_id: newRequestId(),
    caller: { kind: 'staff', name: 'test', staff_id: null, roles: ['super'] },
    pool: world.pool,
    log: silentLog,
    services: { ...world.context.services, money_in: { ...money_in, fx: openFx(url) } } as Services,
  });
}
type Answer = Record<string, unknown>;
const display = async (now: string) => (await fxDisplayOperation.run(at(now), {} as never)) as Answer;
const org = await world.indian('rates');
const quote = (now: string) => quoteFor(at(now), { org_id: org.id, amount_minor: 100_000 });

test('before the first rates rupees are not sold and dollars are; the first fetch sells them', async () => {
  const now = '2026-11-20T10:00:00.000Z';
  expect(await display(now)).toMatchObject({
    available: false,
    day: null,
    stale: true,
    currencies: [],
    rates: {},
  });
  await expect(quote(now)).rejects.toMatchObject({ code: 'fx_stale', status: 503 });
  await expect(createTopup(at(now), { org_id: org.id, amount_minor: 100_000 })).rejects.toMatchObject({
    code: 'fx_stale',
  });
  const american = await world.org('dollars');
  expect((await quoteFor(at(now), { org_id: american.id, amount_minor: 2_500 })).credits_micro).toBe(
    25_000_000,
  );
  serve('2026-11-19');
  expect(await refreshFx(at(now))).toBe(1);
  expect(await quote(now)).toMatchObject({
    fx_day: '2026-11-19',
    fx_rate: '90.03050000',
    credits_micro: 11_107_346,
  });
  expect(await display(now)).toMatchObject({
    available: true,
    day: '2026-11-19',
    source: 'json',
    stale: false,
    rates: { INR: '88.70000000', USD: '1.00000000', AED: '3.67250000' },
  });
});

test('the source is asked once for each time of the schedule, and after a failure every five minutes', async () => {
  const before = asked;
  expect(await refreshFx(at('2026-11-20T15:29:00.000Z'))).toBe(0);
  answer = { status: 500, body: '' };
  expect(await refreshFx(at('2026-11-20T15:30:00.000Z'))).toBe(0);
  expect(await refreshFx(at('2026-11-20T15:34:00.000Z'))).toBe(0);
  serve('2026-11-20', { INR: 'nonsense' });
  expect(await refreshFx(at('2026-11-20T15:36:00.000Z'))).toBe(0);
  expect(asked).toBe(before + 2);
  serve('2026-11-23');
  expect(await refreshFx(at('2026-11-20T15:42:00.000Z'))).toBe(0);
  // What came before stays in force through all of it.
  expect(await quote('2026-11-20T16:00:00.000Z')).toMatchObject({ fx_day: '2026-11-19' });
  serve('2026-11-20', { INR: '89' });
  expect(await refreshFx(at('2026-11-20T15:48:00.000Z'))).toBe(1);
  expect(await refreshFx(at('2026-11-20T23:00:00.000Z'))).toBe(0);
  expect(await display('2026-11-20T23:00:00.000Z')).toMatchObject({ rates: { INR: '89.00000000' } });
});

test('a jump of more than a tenth waits for a person, who is told; accepted, it is in force', async () => {
  serve('2026-11-21', { INR: '98' });
  expect(await refreshFx(at('2026-11-21T16:00:00.000Z'))).toBe(1);
  expect((await display('2026-11-21T16:00:00.000Z'))['day']).toBe('2026-11-20');
  const items = async () => (await listStaffItems(world.pool)).filter(({ kind }) => kind === 'fx_jump');
  expect(await items()).toMatchObject([
    { subject: 'json 2026-11-21', details: { currency: 'INR', before: '89.00000000', after: '98.00000000' } },
  ]);
  await expect(acceptFxDay(at('2026-11-21T17:00:00.000Z'), '2026-11-20')).rejects.toMatchObject({
    code: 'not_found',
  });
  await acceptFxDay(at('2026-11-21T17:00:00.000Z'), '2026-11-21');
  expect(await display('2026-11-21T17:00:00.000Z')).toMatchObject({
    day: '2026-11-21',
    rates: { INR: '98.00000000' },
  });
  expect(await items()).toEqual([]);
});

test('a source that stays away: stale after four days, no rupees sold after eight, and the sheet says its day', async () => {
  answer = { status: 503, body: '' };
  await refreshFx(at('2026-11-26T12:00:00.000Z'));
  expect(await display('2026-11-26T12:00:00.000Z')).toMatchObject({ stale: true, day: '2026-11-21' });
  expect((await quote('2026-11-26T12:00:00.000Z')).fx_day).toBe('2026-11-21');
  await expect(quote('2026-11-30T12:00:00.000Z')).rejects.toMatchObject({ code: 'fx_stale' });
  const sheet = (await pricingOperation.run(at('2026-11-30T12:00:00.000Z'), {} as never)) as Answer;
  expect(sheet).toMatchObject({
    fx: { day: '2026-11-21', usd_inr: '98.00000000', spread_bps: 150 },
    gst: { rate_bps: 1_800, supplier_state: 'Karnataka' },
    minimums_minor: { INR: 50_000, JPY: 800 },
    supplier: { gstin: true },
  });
  const plans = sheet['plans'] as { id: string; monthly_minor: number | null }[];
  expect(plans.map(({ id, monthly_minor }) => [id, monthly_minor])).toEqual([
    ['payg', 0],
    ['team', 4_900],
    ['scale', 49_900],
    ['enterprise', null],
  ]);
});

test('a rate that was promised binds for its fifteen minutes though the rates grow too old meanwhile', async () => {
  const before = '2026-11-28T23:55:00.000Z';
  const promised = await quote(before);
  const after = at('2026-11-29T00:05:00.000Z');
  await expect(quote('2026-11-29T00:05:00.000Z')).rejects.toMatchObject({ code: 'fx_stale' });
  const { topup } = await createTopup(after, { org_id: org.id, amount_minor: 100_000 });
  expect(topup.fx_rate).toBe(promised.fx_rate);
});

test('staff read the days of the source, one that waits for them too, and why the last try brought nothing', async () => {
  const staff = async (now: string) =>
    (await getFxOperation.run(at(now), {} as never)) as {
      days: { day: string; state: string; rates: object[] }[];
    };
  const before = await staff('2027-03-01T10:00:00.000Z');
  serve('2027-03-01');
  await refreshFx(at('2027-03-01T16:00:00.000Z'));
  serve('2027-03-02', { INR: '120' });
  await refreshFx(at('2027-03-02T16:00:00.000Z'));
  answer = { status: 503, body: '' };
  await refreshFx(at('2027-03-03T16:00:00.000Z'));
  const seen = await staff('2027-03-03T16:01:00.000Z');
  expect(seen).toMatchObject({
    ...{ source: 'json', day: '2027-03-01', stale: false, error: 'the source answered 503' },
    tried_at: expect.stringMatching(/^2027-03-03T16:00:0/),
  });
  expect(seen.days).toHaveLength(before.days.length + 2);
  expect(seen.days.slice(0, 2)).toMatchObject([
    { day: '2027-03-02', state: 'waiting', decided_at: null },
    { day: '2027-03-01', state: 'in_force' },
  ]);
  expect(seen.days[0]?.rates).toContainEqual({ currency: 'INR', rate: '120.00000000' });
});
