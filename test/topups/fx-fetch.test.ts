// Fetching exchange rates, to the millisecond and to the letter: what the source is asked, which answers are taken, and what is
// kept of the others.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Context, type Log, newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  acceptFxDay,
  findFetch,
  listDays,
  listStaffItems,
  openFx,
  refreshFx,
} from '@svc/core/topups/index.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { atTime, startWorld } from './world.ts';

const world = await startWorld();
const { rows } = world;
let answer: { status: number; body: string; location?: string } = { status: 200, body: '' };
const asked: IncomingHttpHeaders[] = [];
const server = createServer(({ headers }, response) => {
  asked.push(headers);
  const { status, body, location } = answer;
  response.writeHead(status, location === undefined ? {} : { location }).end(body);
}).listen(0, '127.0.0.1');
await new Promise((done) => server.once('listening', done));
atFileEnd(async () => void server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rates`;

const warned: unknown[] = [];
const log: Log = { ...silentLog, warn: (fields) => void warned.push(fields) };
/** The context at `now`, with rates from `setting`. */
function at(now: string, setting = url): Context {
  const money_in = { ...world.context.services.money_in, fx: openFx(setting) };
  const context = createContext({
    ...{ request_id: newRequestId(), pool: world.pool, log },
    services: { ...world.context.services, money_in } as Context['services'],
    caller: { kind: 'staff', name: 'test', staff_id: null, roles: ['super'] },
  });
  return atTime(context, new Date(now));
}
const usual = { INR: 88, EUR: 0.86, GBP: 0.76, SGD: 1.3, AUD: 1.5, CAD: 1.4, JPY: 155 };
const json = (day: string, rates: object = {}) =>
  JSON.stringify({ day, base: 'USD', rates: { ...usual, ...rates } });
const serve = (day: string, rates: object = {}) => {
  answer = { status: 200, body: json(day, rates) };
};
const days = async () =>
  (await listDays(world.pool, { source: 'json', limit: 9 })).map(({ fx_day, state }) => `${fx_day} ${state}`);
const last = () => findFetch(world.pool, 'json');
const NOON = '2026-11-20T12:00:00.000Z';
const SLOT = new Date('2026-11-20T00:15:00.000Z');

beforeEach(async () => {
  await rows('delete from fx_day');
  await rows('delete from fx_fetch');
  asked.length = 0;
  warned.length = 0;
});

describe('the source', () => {
  test('is asked for what it has: JSON of an address, XML of the bank', async () => {
    serve('2026-11-20');
    expect(await refreshFx(at(NOON))).toBe(1);
    answer = { status: 200, body: '<html>' };
    expect(await refreshFx(at(NOON, `ecb:${url}`))).toBe(0);
    expect(asked.map(({ accept }) => accept)).toEqual(['application/json', 'application/xml, text/xml']);
    const per_euro = { USD: 1.16, GBP: 0.88, INR: 103, SGD: 1.5, AUD: 1.7, CAD: 1.6, JPY: 180 };
    const cubes = Object.entries(per_euro).map(([name, rate]) => `<Cube currency='${name}' rate='${rate}'/>`);
    answer = { status: 200, body: `<Cube time='2026-11-20'>${cubes.join('')}</Cube>` };
    expect(await refreshFx(at('2026-11-20T12:05:00.000Z', `ecb:${url}`))).toBe(1);
    expect(await listDays(world.pool, { source: 'ecb', limit: 9 })).toMatchObject([{ fx_day: '2026-11-20' }]);
  });

  test('is nobody where the rates are those of the release', async () => {
    expect(await refreshFx(at(NOON, 'static'))).toBe(0);
    expect(asked).toEqual([]);
  });

  test('is asked once for a time of the schedule, which is noted', async () => {
    serve('2026-11-20');
    expect(await refreshFx(at('2026-11-20T00:15:00.000Z'))).toBe(1);
    expect(await last()).toEqual({ slot_at: SLOT, tried_at: SLOT, error: null });
    expect(await refreshFx(at('2026-11-20T15:29:59.999Z'))).toBe(0);
    expect(await refreshFx(at('2026-11-20T15:30:00.000Z'))).toBe(1);
    expect(asked).toHaveLength(2);
  });

  test('is asked again five minutes after a failure, to the millisecond', async () => {
    answer = { status: 503, body: '' };
    expect(await refreshFx(at(NOON))).toBe(0);
    serve('2026-11-20');
    expect(await refreshFx(at('2026-11-20T12:04:59.999Z'))).toBe(0);
    expect(asked).toHaveLength(1);
    expect(await refreshFx(at('2026-11-20T12:05:00.000Z'))).toBe(1);
  });
});

describe('an answer that is not taken', () => {
  const cases: [string, typeof answer, string][] = [
    ['a refusal', { status: 404, body: json('2026-11-20') }, 'the source answered 404'],
    ['another address', { status: 302, body: '', location: url }, 'fetch failed'],
    ['more than a megabyte', { status: 200, body: json('2026-11-20').padEnd(1_048_577) }, 'too long'],
    ['a day that is yet to come', { status: 200, body: json('2026-11-22') }, '2026-11-22 is yet to come'],
  ];
  test.each(cases)('%s is noted, and is in the log', async (_, given, words) => {
    answer = given;
    expect(await refreshFx(at(NOON))).toBe(0);
    expect(await days()).toEqual([]);
    expect(await last()).toEqual({
      ...{ slot_at: null, tried_at: new Date(NOON), error: expect.stringContaining(words) },
    });
    expect(warned).toEqual([{ error: expect.any(Error), source: 'json' }]);
  });

  test('is a megabyte at most, and of tomorrow at most', async () => {
    answer = { status: 200, body: json('2026-11-21').padEnd(1_048_576) };
    expect(await refreshFx(at('2026-11-20T00:15:00.000Z'))).toBe(1);
    serve('2026-11-22');
    expect(await refreshFx(at('2026-11-21T00:00:00.000Z'))).toBe(1);
    expect(await days()).toEqual(['2026-11-22 in_force', '2026-11-21 in_force']);
  });
});

describe('a day', () => {
  test('that is older than the one in force is not kept', async () => {
    serve('2026-11-20');
    await refreshFx(at(NOON));
    serve('2026-11-19');
    expect(await refreshFx(at('2026-11-20T16:00:00.000Z'))).toBe(1);
    expect(await days()).toEqual(['2026-11-20 in_force']);
  });

  test('on which a rate jumped waits for a person, who sees both rates and both days', async () => {
    serve('2026-11-19');
    await refreshFx(at('2026-11-19T12:00:00.000Z'));
    serve('2026-11-20', { INR: 98 });
    await refreshFx(at(NOON));
    expect(await days()).toEqual(['2026-11-20 waiting', '2026-11-19 in_force']);
    const items = async () => (await listStaffItems(world.pool)).filter(({ kind }) => kind === 'fx_jump');
    const details = {
      currency: 'INR',
      before: '88.00000000',
      after: '98.00000000',
      before_day: '2026-11-19',
    };
    expect(await items()).toMatchObject([{ subject: 'json 2026-11-20', created_at: new Date(NOON) }]);
    expect((await items())[0]?.details).toEqual(details);
    // Told again, it is the same matter.
    expect(await refreshFx(at('2026-11-20T16:00:00.000Z'))).toBe(1);
    expect(await items()).toHaveLength(1);
    await acceptFxDay(at('2026-11-20T17:00:00.000Z'), '2026-11-20');
    expect([await days(), await items()]).toEqual([['2026-11-20 in_force', '2026-11-19 in_force'], []]);
    expect(
      await rows(
        `select action, org_id, target_type, target_id, target_display from audit_entry
          where action = 'staff.fx.accept'`,
      ),
    ).toEqual([
      {
        ...{ action: 'staff.fx.accept', org_id: '', target_type: 'fx_day', target_id: '2026-11-20' },
        target_display: 'json 2026-11-20',
      },
    ]);
    const again = acceptFxDay(at('2026-11-20T17:00:00.000Z'), '2026-11-20');
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
  });
});
