import { expect, test } from 'vitest';
import { type Context, readConfig, type Services } from '../kernel/index.ts';
import { type MoneyIn, moneyIn, openMoneyIn, railFailure, railOrRefuse } from './money-in.ts';
import { RailError } from './rails/types.ts';

const RAIL_B = { SVC_RAIL_B_KEY_SECRET: 'sk_test_1', SVC_RAIL_B_WEBHOOK_SECRET: 'whsec_1' };
const open = (env: Record<string, string>) => openMoneyIn(readConfig(env));
const having = (money_in?: MoneyIn): Pick<Context, 'services'> => ({
  services: (money_in === undefined ? {} : { money_in }) as Services,
});

test('payers return to the first origin of the console and pay at the gateway, on this machine where none is named', () => {
  const named = { SVC_CONSOLE_ORIGINS: 'https://console.example,https://other.example' };
  expect(open({ ...named, SVC_BASE_URL: 'https://api.example' })).toMatchObject({
    console_url: 'https://console.example',
    base_url: 'https://api.example',
  });
  expect(open({ SVC_PORT: '1234', SVC_ADMIN_PORT: '5678' })).toMatchObject({
    console_url: 'http://127.0.0.1:5678',
    base_url: 'http://127.0.0.1:1234',
    refund_wait_ms: 10_000,
    fx: { kind: 'static', url: null },
  });
});

test('a process without settings of money has no rails, and the rates and addresses of a release', () => {
  expect(moneyIn(having())).toEqual({
    rails: { 'rail-a': null, 'rail-b': null },
    fx: { kind: 'static', url: null },
    console_url: 'http://127.0.0.1:8081',
    base_url: 'http://127.0.0.1:8080',
    refund_wait_ms: 10_000,
  });
  const of_process = open(RAIL_B);
  expect(moneyIn(having(of_process))).toBe(of_process);
});

test('the rail that is asked for is given, and one that is not configured is refused by its name', () => {
  const context = having(open(RAIL_B));
  expect(railOrRefuse(context, 'rail-b').name).toBe('rail-b');
  expect(() => railOrRefuse(context, 'rail-a')).toThrow(
    expect.objectContaining({
      code: 'rail_unavailable',
      details: { rail: 'rail-a', reason: 'not_configured' },
    }),
  );
});

test('out of reach the caller may try again, and a refusal is told in the words of the rail', () => {
  const args = { rail: 'rail-b', safe: 'Nothing was charged.', details: { topup_id: 'tup_1' } } as const;
  const lost = railFailure(new RailError('connect ECONNREFUSED', { declined: false }), args);
  expect(lost).toMatchObject({
    code: 'rail_unavailable',
    details: { rail: 'rail-b', reason: 'unreachable', topup_id: 'tup_1' },
  });
  // What the network said is of no use to a caller.
  expect(lost.message).toContain('Nothing was charged.');
  expect(lost.message).not.toContain('ECONNREFUSED');
  const refused = railFailure(
    new RailError('Amount too small.', { declined: true, code: 'too_small' }),
    args,
  );
  expect(refused).toMatchObject({
    code: 'conflict',
    details: { rail: 'rail-b', reason: 'declined', rail_code: 'too_small', topup_id: 'tup_1' },
  });
  expect(refused.message).toContain('Amount too small. Nothing was charged.');
});
