import { expect, test } from 'vitest';
import { currencies } from '../currency.ts';
import { parseEcb, parseJsonRates } from './parse.ts';
import {
  creditsFor,
  minorFor,
  rateFromText,
  ratesAt,
  rateText,
  releaseRates,
  staticRates,
  withSpread,
} from './rates.ts';
import { jumpBetween, slotBefore } from './refresh.ts';
import { openFx } from './source.ts';

const ecb = (rates: Record<string, string>, day = '2026-11-20') => `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<Cube><Cube time='${day}'>${Object.entries(rates)
  .map(([currency, rate]) => `<Cube currency='${currency}' rate='${rate}'/>`)
  .join('')}</Cube></Cube></gesmes:Envelope>`;
const perEuro = {
  USD: '1.1612',
  JPY: '180.45',
  GBP: '0.88052',
  INR: '103.0031',
  SGD: '1.5125',
  AUD: '1.7755',
  CAD: '1.6233',
  CHF: '0.9411',
};

test('rates per euro become rates per dollar, rounded half up once; the dirham is fixed', () => {
  const { fx_day, rates } = parseEcb(ecb(perEuro));
  expect(fx_day).toBe('2026-11-20');
  expect(Object.fromEntries(currencies.map((name) => [name, rateText(rates[name])]))).toEqual({
    USD: '1.00000000',
    EUR: '0.86117809',
    INR: '88.70401309',
    GBP: '0.75828453',
    JPY: '155.39958663',
    SGD: '1.30253186',
    AUD: '1.52902170',
    CAD: '1.39795040',
    AED: '3.67250000',
  });
});

test('blanks and lines between the words of the bank mean nothing', () => {
  const { fx_day, rates } = parseEcb(
    ecb(perEuro).replaceAll(' rate', '\n  rate').replaceAll('Cube ', 'Cube  '),
  );
  expect([fx_day, rateText(rates.INR)]).toEqual(['2026-11-20', '88.70401309']);
});

test('places behind the eighth are cut off', () => {
  const rates = Object.fromEntries(currencies.map((name) => [name, '1.123456789']));
  const answer = { day: '2026-11-20', base: 'USD', rates: { ...rates, USD: '1', AED: '3' } };
  const { rates: read } = parseJsonRates(JSON.stringify(answer));
  expect([read.JPY, read.USD, read.AED]).toEqual([112_345_678, 100_000_000, 300_000_000]);
});

test('a day is taken whole or not at all: without a currency, a day, or a number it is refused', () => {
  const without = ({ INR: _, ...rest }: Record<string, string>) => rest;
  expect(() => parseEcb(ecb(without(perEuro)))).toThrow('the answer lacks INR');
  expect(() => parseEcb(ecb({ ...perEuro, INR: '0' }))).toThrow('not a rate of INR');
  expect(() => parseEcb(ecb({ ...perEuro, INR: '-88' }))).toThrow('not a rate of INR');
  expect(() => parseEcb(ecb({ ...perEuro, INR: 'N/A' }))).toThrow('not a rate of INR');
  for (const rate of ['x88.7', '88.7x', '88.', '12345678'])
    expect(() => parseEcb(ecb({ ...perEuro, INR: rate }))).toThrow('not a rate of INR');
  const { USD: _, ...dollarless } = perEuro;
  expect(() => parseEcb(ecb(dollarless))).toThrow('the answer lacks USD');
  for (const day of ['today', 'x 2026-11-20', '2026-11-20T00:00', '2026-02-32'])
    expect(() => parseEcb(ecb(perEuro, day))).toThrow('names no day');
  expect(() => parseEcb('<html>Down for maintenance</html>')).toThrow('expected one day');
  const rates = Object.fromEntries(currencies.map((name) => [name, 1]));
  const json = (body: object) =>
    parseJsonRates(JSON.stringify({ day: '2026-11-20', base: 'USD', rates, ...body }));
  expect(json({ rates: { ...rates, INR: '88.7', USD: undefined, AED: undefined } })).toMatchObject({
    fx_day: '2026-11-20',
    rates: { INR: 8_870_000_000, USD: 100_000_000, AED: 367_250_000 },
  });
  for (const [body, message] of [
    [{ base: 'EUR' }, 'expected {"day"'],
    [{ rates: null }, 'expected {"day"'],
    [{ day: 20261120 }, 'names no day'],
    [{ day: ['2026-11-20'] }, 'names no day'],
    [{ rates: { ...rates, USD: 2 } }, 'a dollar is a dollar'],
    [{ rates: { ...rates, JPY: 1e-9 } }, 'not a rate of JPY'],
    [{ rates: { ...rates, JPY: undefined } }, 'the answer lacks JPY'],
    [{ day: '2026-13-40' }, 'names no day'],
  ] as const) {
    expect(() => json(body)).toThrow(message);
  }
  expect(() => parseJsonRates('not json')).toThrow('is not JSON');
  for (const text of ['null', '[]', '7']) expect(() => parseJsonRates(text)).toThrow('expected {"day"');
});

const day = (fx_day: string, other: Partial<Record<string, number>> = {}) => ({
  fx_day,
  rates: { ...parseEcb(ecb(perEuro)).rates, ...other },
});

test('a rate that moves more than a tenth is a jump, a tenth is none', () => {
  const before = day('2026-11-19', { INR: 10_000_000_000 });
  expect(jumpBetween(before, day('2026-11-20', { INR: 11_000_000_000 }))).toBeNull();
  expect(jumpBetween(before, day('2026-11-20', { INR: 11_000_000_001 }))).toBe('INR');
  expect(jumpBetween(before, day('2026-11-20', { INR: 8_999_999_999 }))).toBe('INR');
});

test('rates are fetched at 00:15 and 15:30 UTC', () => {
  const slots: [string, string][] = [
    ['2026-11-21T00:14:59.999Z', '2026-11-20T15:30:00.000Z'],
    ['2026-11-21T00:15:00.000Z', '2026-11-21T00:15:00.000Z'],
    ['2026-11-21T15:29:59.999Z', '2026-11-21T00:15:00.000Z'],
    ['2026-11-21T15:30:00.000Z', '2026-11-21T15:30:00.000Z'],
    ['2026-11-21T23:59:59.999Z', '2026-11-21T15:30:00.000Z'],
  ];
  for (const [now, slot] of slots) expect(slotBefore(new Date(now)).toISOString()).toBe(slot);
});

test('rates more than four days old are stale, and after eight nothing but dollars is sold by them', () => {
  const newest = day('2026-11-20');
  const at = (now: string) => ratesAt('ecb', newest, new Date(now));
  expect(at('2026-11-24T00:00:00Z').stale).toBe(false);
  expect(at('2026-11-24T00:00:00.001Z').stale).toBe(true);
  expect(at('2026-11-28T00:00:00Z').midRate('INR').fx_day).toBe('2026-11-20');
  const old = at('2026-11-28T00:00:00.001Z');
  expect(() => old.midRate('INR')).toThrow(expect.objectContaining({ code: 'fx_stale' }));
  expect(old.midRate('USD')).toEqual({ fx_day: '2026-11-20', rate_e8: 100_000_000 });
  // A balance is shown by what is known.
  expect(old.shownRate('INR').rate_e8).toBe(newest.rates.INR);
  const none = ratesAt('ecb', null, new Date('2026-11-21T10:00:00Z'));
  expect([none.fx_day, none.stale]).toEqual([null, true]);
  expect(() => none.midRate('EUR')).toThrow(expect.objectContaining({ code: 'fx_stale' }));
  expect(none.midRate('USD')).toEqual({ fx_day: '2026-11-21', rate_e8: 100_000_000 });
  expect(none.shownRate('INR')).toEqual(staticRates.shownRate('INR'));
});

test('the rates of a moment say where they come from, and of which day they are', () => {
  const newest = day('2026-11-20');
  const now = new Date('2026-11-21T10:00:00Z');
  expect(ratesAt('ecb', newest, now)).toMatchObject({
    ...{ source: 'ecb', fx_day: '2026-11-20', table: newest.rates, stale: false },
  });
  expect(ratesAt('json', null, now)).toMatchObject({ source: 'json', table: staticRates.table, stale: true });
  const late = new Date('2026-12-21T10:00:00Z');
  const refusal = (fx_day: string | null) => ({ code: 'fx_stale', details: { fx_day, currency: 'INR' } });
  for (const [old, fx_day] of [
    [newest, '2026-11-20'],
    [null, null],
  ] as const)
    expect(() => ratesAt('ecb', old, late).midRate('INR')).toThrow(expect.objectContaining(refusal(fx_day)));
});

test('the table of the release is of its day, and never stale', () => {
  const inr = { fx_day: '2026-11-20', rate_e8: 8_870_000_000 };
  expect(staticRates).toMatchObject({ source: 'static', fx_day: '2026-11-20', stale: false });
  expect([staticRates.midRate('INR'), staticRates.shownRate('INR')]).toEqual([inr, inr]);
  expect(staticRates.table).toEqual({
    ...{ USD: 100_000_000, INR: 8_870_000_000, EUR: 86_120_000, GBP: 75_830_000, SGD: 130_250_000 },
    ...{ AED: 367_250_000, AUD: 152_900_000, CAD: 139_800_000, JPY: 15_540_000_000 },
  });
});

test('what staff set goes over the table of the release where it is newer', () => {
  expect(releaseRates(null)).toBe(staticRates);
  expect(releaseRates(day('2026-11-20'))).toBe(staticRates);
  const set = day('2026-11-21', { INR: 9_000_000_000 });
  const rates = releaseRates(set);
  expect(rates).toMatchObject({
    ...{ source: 'static', fx_day: '2026-11-21', table: set.rates, stale: false },
  });
  const inr = { fx_day: '2026-11-21', rate_e8: 9_000_000_000 };
  expect([rates.midRate('INR'), rates.shownRate('INR')]).toEqual([inr, inr]);
});

test('a spread is on top of every rate but that of dollars, rounded half up', () => {
  expect(withSpread(8_870_000_000, 'INR', 150)).toBe(9_003_050_000);
  expect(withSpread(33, 'EUR', 5_000)).toBe(50);
  expect(withSpread(100_000_000, 'USD', 150)).toBe(100_000_000);
});

test('a rate is a decimal with eight places, and back', () => {
  expect([rateText(8_870_000_001), rateText(1)]).toEqual(['88.70000001', '0.00000001']);
  expect([rateFromText('88.70000001'), rateFromText('9999999.00000000')]).toEqual([
    8_870_000_001, 999_999_900_000_000,
  ]);
  for (const text of ['88', '88.7', '88.700000001', 'x88.70000000', '88.70000000x', '12345678.00000000'])
    expect(() => rateFromText(text)).toThrow('eight places');
});

test('an amount buys credits rounded down, and credits are worth an amount rounded down', () => {
  expect(creditsFor(100_000, 'INR', 9_003_050_000)).toBe(11_107_346);
  expect(creditsFor(1_000, 'JPY', 15_540_000_000)).toBe(6_435_006);
  expect(minorFor(11_107_346, 'INR', 9_003_050_000)).toBe(99_999);
  expect(minorFor(6_435_007, 'JPY', 15_540_000_000)).toBe(1_000);
});

test('a source is static, the bank, a mirror of it or an address; anything else stops the start', () => {
  expect(openFx('static')).toEqual({ kind: 'static', url: null });
  const bank = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml';
  expect(openFx('ecb')).toEqual({ kind: 'ecb', url: bank });
  for (const mirror of [
    'https://mirror.example/daily.xml',
    'http://127.0.0.12:9/daily.xml',
    'http://localhost',
  ])
    expect(openFx(`ecb:${mirror}`)).toEqual({ kind: 'ecb', url: mirror });
  const address = 'https://rates.example/v1?key=x';
  expect(openFx(address)).toEqual({ kind: 'json', url: address });
  expect(openFx('http://127.0.0.1:9/rates')).toMatchObject({ kind: 'json' });
  for (const source of ['', 'bank', 'http://rates.example', 'ecb:http://mirror.example', 'ftp://127.0.0.1'])
    expect(() => openFx(source)).toThrow(/SVC_FX_SOURCE/);
  const almost = [
    'http://127.0.0.1.example',
    'http://x127.0.0.1',
    'http://xlocalhost',
    'http://localhost.example',
  ];
  for (const source of [...almost, 'xecb:https://mirror.example', 'ecb:https://mirror.example\nmore'])
    expect(() => openFx(source)).toThrow(/SVC_FX_SOURCE/);
});
