import { expect, test } from 'vitest';
import { currencies } from '../currency.ts';
import { parseEcb, parseJsonRates } from './parse.ts';
import { ratesAt, rateText, staticRates } from './rates.ts';
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

test('a day is taken whole or not at all: without a currency, a day, or a number it is refused', () => {
  const without = ({ INR: _, ...rest }: Record<string, string>) => rest;
  expect(() => parseEcb(ecb(without(perEuro)))).toThrow('the answer lacks INR');
  expect(() => parseEcb(ecb({ ...perEuro, INR: '0' }))).toThrow('not a rate of INR');
  expect(() => parseEcb(ecb({ ...perEuro, INR: '-88' }))).toThrow('not a rate of INR');
  expect(() => parseEcb(ecb({ ...perEuro, INR: 'N/A' }))).toThrow('not a rate of INR');
  expect(() => parseEcb(ecb(perEuro, 'today'))).toThrow('names no day');
  expect(() => parseEcb('<html>Down for maintenance</html>')).toThrow('expected one day');
  const rates = Object.fromEntries(currencies.map((name) => [name, 1]));
  const json = (body: object) =>
    parseJsonRates(JSON.stringify({ day: '2026-11-20', base: 'USD', rates, ...body }));
  expect(json({ rates: { ...rates, INR: '88.7', AED: undefined } })).toMatchObject({
    fx_day: '2026-11-20',
    rates: { INR: 8_870_000_000, USD: 100_000_000, AED: 367_250_000 },
  });
  for (const [body, message] of [
    [{ base: 'EUR' }, 'expected {"day"'],
    [{ rates: { ...rates, USD: 2 } }, 'a dollar is a dollar'],
    [{ rates: { ...rates, JPY: 1e-9 } }, 'not a rate of JPY'],
    [{ rates: { ...rates, JPY: undefined } }, 'the answer lacks JPY'],
    [{ day: '2026-13-40' }, 'names no day'],
  ] as const) {
    expect(() => json(body)).toThrow(message);
  }
  expect(() => parseJsonRates('not json')).toThrow('is not JSON');
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

test('a source is static, the bank, a mirror of it or an address; anything else stops the start', () => {
  expect(openFx('static')).toEqual({ kind: 'static', url: null });
  expect(openFx('ecb')).toMatchObject({ kind: 'ecb', url: expect.stringMatching(/^https:/) });
  expect(openFx('ecb:https://mirror.example/daily.xml')).toMatchObject({ kind: 'ecb' });
  expect(openFx('https://rates.example/v1?key=x')).toMatchObject({ kind: 'json' });
  expect(openFx('http://127.0.0.1:9/rates')).toMatchObject({ kind: 'json' });
  for (const source of ['', 'bank', 'http://rates.example', 'ecb:http://mirror.example', 'ftp://127.0.0.1'])
    expect(() => openFx(source)).toThrow(/SVC_FX_SOURCE/);
});
