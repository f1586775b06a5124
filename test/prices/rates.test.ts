// Exchange rates of a day that one member of staff proposes and another one confirms: by the table of the release, and beside a
// source that fetches.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { approveActOperation, proposeRatesOperation } from '@svc/core/desk/index.ts';
import { createStaff } from '@svc/core/identity/index.ts';
import {
  type Context,
  type Id,
  machineMs,
  newRequestId,
  type Services,
  shiftClock,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { openFx, quoteFor, refreshFx } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startWorld } from '../topups/world.ts';
import { startPrices, type Who } from './world.ts';

const { world, harness, people, ask, approve, send } = await startPrices();
afterEach(() => shiftClock(0));
const today = new Date(machineMs()).toISOString().slice(0, 10);
const day = (offset: number) => new Date(machineMs() + offset * 86_400_000).toISOString().slice(0, 10);
const rupee = (rate: string) => [{ currency: 'INR', rate }];
const propose = async (input: object, who: Who = 'finance') =>
  send(people[who], 'rates', {
    ...{
      day: today,
      rates: rupee('90.125'),
      source: 'reference rate of the bank',
      reason: 'the source is away',
    },
    ...input,
  });
const shown = async () => {
  const { data } = await ask('{ fxRates { day days { day isSet rates { currency rate } } } }', 'finance');
  return data.fxRates;
};
const second = await world.signInStaff(['finance']);
const documents = async () =>
  (
    await harness.pool.query<{ rates: object }>({
      ...{ name: '', text: 'select source, fx_day::text, rates, state from fx_day order by fx_day' },
    })
  ).rows;

test('what does not fit is refused with its field, and by role', async () => {
  const of = async (input: object, who?: Who) => {
    const { code, path } = await propose(input, who);
    return [code, path?.join('.')];
  };
  expect(await of({ day: day(1) })).toEqual(['invalid_request', 'input.day']);
  // The table of the release is of this day.
  expect(await of({ day: '2026-11-20' })).toEqual(['invalid_request', 'input.day']);
  expect(await of({ rates: rupee('0') })).toEqual(['invalid_request', 'input.rates.0.rate']);
  expect(await of({ rates: rupee('887') })).toEqual(['invalid_request', 'input.rates.0.rate']);
  expect(await of({ rates: rupee('8.87') })).toEqual(['invalid_request', 'input.rates.0.rate']);
  expect(await of({ rates: rupee('88.123456789') })).toEqual(['invalid_request', 'input.rates.0.rate']);
  expect(await of({ rates: [{ currency: 'USD', rate: '1' }] })).toEqual([
    'invalid_request',
    'input.rates.0.currency',
  ]);
  expect(await of({ rates: [...rupee('90'), ...rupee('91')] })).toEqual([
    'invalid_request',
    'input.rates.1.currency',
  ]);
  expect(await of({ rates: [] })).toEqual(['invalid_request', 'input.rates']);
  for (const who of ['support', 'catalog'] as const)
    expect(await of({}, who)).toEqual(['permission_denied', undefined]);
  expect(await documents()).toEqual([]);
});

test('of two proposals for a day, confirmed by many at once, one is in force; the others stay as they are', async () => {
  const ids = [(await propose({})).approvalId, (await propose({ rates: rupee('91.5') })).approvalId];
  expect(await approve(ids[0], people.finance)).toMatchObject({ code: 'permission_denied' });
  expect(await approve(ids[0], people.catalog)).toMatchObject({ code: 'permission_denied' });
  const answers = await Promise.all([...ids, ...ids, ...ids].map((id) => approve(id, second)));
  expect(answers.filter(({ approval }) => approval !== undefined)).toHaveLength(1);
  expect(new Set(answers.flatMap(({ code }) => code ?? []))).toEqual(new Set(['state_conflict']));
  const { day: sold_by, days } = await shown();
  expect(sold_by).toBe(today);
  expect(days.map(({ day, isSet }: { day: string; isSet: boolean }) => [day, isSet])).toEqual([
    [today, true],
    ['2026-11-20', false],
  ]);
  const rateOf = (at: number, currency: string) =>
    days[at].rates.find((one: { currency: string }) => one.currency === currency).rate;
  expect(['90.12500000', '91.50000000']).toContain(rateOf(0, 'INR'));
  expect(rateOf(0, 'EUR')).toBe(rateOf(1, 'EUR'));
  const display = await harness.call('GET', '/v1/fx/display');
  expect(display.json()).toMatchObject({ day: today, rates: { INR: expect.stringMatching(/^9[01]\./) } });
  // In force, it is never changed.
  expect(await propose({})).toMatchObject({ code: 'invalid_request', path: ['input', 'day'] });
});

test('a day that waits after a jump is put right by two people, quotes use it, and what the source sends later changes nothing', async () => {
  const topups = await startWorld();
  let body = '';
  const source = createServer((_request, response) => void response.end(body)).listen(0, '127.0.0.1');
  await new Promise((done) => source.once('listening', done));
  atFileEnd(async () => void source.close());
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/rates`;
  const usual = { INR: '88.7', EUR: '0.86', GBP: '0.75', SGD: '1.3', AUD: '1.5', CAD: '1.4', JPY: '155' };
  const serve = (of: string, inr: string, jpy = usual.JPY) => {
    body = JSON.stringify({ day: of, base: 'USD', rates: { ...usual, INR: inr, JPY: jpy } });
  };
  const at = (time: string, staff_id: Id<'staff'> | null = null): Context => {
    shiftClock(Date.parse(time) - machineMs());
    const { services } = topups.context;
    return createContext({
      ...{ request_id: newRequestId(), pool: topups.pool, log: silentLog },
      caller: { kind: 'staff', name: staff_id ?? 'test', staff_id, roles: ['super'] },
      services: { ...services, money_in: { ...services.money_in, fx: openFx(url) } } as Services,
    });
  };
  serve('2026-12-01', '88.7');
  await refreshFx(at('2026-12-01T16:00:00Z'));
  serve('2026-12-02', '8.87', '156');
  await refreshFx(at('2026-12-02T16:00:00Z'));
  const org = await topups.indian('set-rates');
  const quote = async (time: string) =>
    (await quoteFor(at(time), { org_id: org.id, amount_minor: 100_000 })).fx_day;
  expect(await quote('2026-12-02T17:00:00Z')).toBe('2026-12-01');
  const [asker, other] = await Promise.all(
    ['asker@svc.example', 'other@svc.example'].map((email) =>
      createStaff(topups.context, Buffer.alloc(32, 7), { email, roles: ['finance'] }),
    ),
  );
  const wanted = { day: '2026-12-02', rates: [{ currency: 'INR' as const, rate: '88.9' }] };
  const words = { source: 'the bank', reason: 'the source lost a digit' };
  const { approval_id } = (await proposeRatesOperation.run(at('2026-12-02T18:00:00Z', asker?.id), {
    ...wanted,
    ...words,
  })) as { approval_id: string };
  await approveActOperation.run(at('2026-12-02T18:00:30Z', other?.id), { id: approval_id });
  expect(await quote('2026-12-02T18:01:00Z')).toBe('2026-12-02');
  const kept = async () =>
    (
      await topups.pool.query<{ rates: Record<string, number> }>({
        ...{ name: '', text: `select rates from fx_day where fx_day = '2026-12-02'` },
      })
    ).rows[0]?.rates;
  // The other currencies are those of the day that waited.
  expect(await kept()).toMatchObject({ INR: 8_890_000_000, JPY: 15_600_000_000 });
  const items = await topups.pool.query({
    ...{ name: '', text: `select from staff_item where kind = 'fx_jump' and resolved_at is null` },
  });
  expect(items.rows).toEqual([]);
  serve('2026-12-02', '89.5');
  await refreshFx(at('2026-12-03T00:20:00Z'));
  expect(await kept()).toMatchObject({ INR: 8_890_000_000 });
  const late = { ...wanted, ...words, day: '2026-12-01' };
  await expect(proposeRatesOperation.run(at('2026-12-03T01:00:00Z', asker?.id), late)).rejects.toMatchObject({
    code: 'invalid_request',
    param: 'day',
  });
});

test('no caller met a defect', () => {
  expect(world.defects).toEqual([]);
});
