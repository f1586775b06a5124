// Known rivals let 14 to 100 of 100 callers through on a budget for ten. Here the balance, the key's budget, the project's
// budget and that of a run are each exact, whatever the number of processes.
import { beforeAll, describe, expect, test } from 'vitest';
import { untilBook } from '../support/books.ts';
import { allUntilHeld, countSeen, EXACT_MICRO, type Money, shareGateways } from './money.ts';

const SLOW = { chunk_ms: 30 };
let openMoney: Awaited<ReturnType<typeof shareGateways>>;
beforeAll(async () => {
  openMoney = await shareGateways(3);
});
const rest = (money: Money) => untilBook(money.database_url, money.live_book_id, (book) => book.held === 0);

describe.each([
  [1, 100, 10],
  [3, 100, 10],
  [3, 1000, 10],
  [2, 1000, 300],
])('%i processes, %i callers at once', (processes, callers, affordable) => {
  test(`a balance for ${affordable} calls serves exactly ${affordable}`, { timeout: 120_000 }, async () => {
    const money = await openMoney({ balance: affordable * EXACT_MICRO, processes });
    const seen = await allUntilHeld(money, callers, SLOW);
    expect(countSeen(seen)).toEqual({
      final: affordable,
      '402 insufficient_credits': callers - affordable,
    });
    expect(money.provider.calls.length).toBe(affordable);
    const book = await rest(money);
    expect(book.available).toBe(0);
    expect(book.entries_sum).toBe(0);
    expect(book.charges).toHaveLength(affordable);
    expect(new Set(book.charges.map((charge) => charge.amount))).toEqual(new Set([-EXACT_MICRO]));
  });
});

describe.each([
  [1, 100, 10],
  [3, 100, 10],
  [2, 1000, 300],
])('%i processes, %i callers at once on a rich balance', (processes, callers, affordable) => {
  const cap = affordable * EXACT_MICRO;
  const balance = 1_000_000_000;

  test(`a key's hard daily budget for ${affordable} calls lets exactly ${affordable} through`, {
    timeout: 120_000,
  }, async () => {
    const keys = [{ name: 'capped', daily_budget_micro: cap }];
    const money = await openMoney({ balance, processes, keys });
    const seen = await allUntilHeld(money, callers, SLOW);
    expect(countSeen(seen)).toEqual({ final: affordable, '402 budget_exhausted': callers - affordable });
    expect(money.provider.calls.length).toBe(affordable);
    expect((await rest(money)).available).toBe(balance - cap);
  });

  test(`a run's budget for ${affordable} calls lets exactly ${affordable} through`, {
    timeout: 120_000,
  }, async () => {
    const money = await openMoney({ balance, processes });
    const budget = { id: 'research', max_micro: cap };
    const seen = await allUntilHeld(money, callers, { ...SLOW, budget });
    expect(countSeen(seen)).toEqual({ final: affordable, '402 budget_exhausted': callers - affordable });
    expect(money.provider.calls.length).toBe(affordable);
    expect((await rest(money)).available).toBe(balance - cap);
  });

  test(`a project's hard monthly budget for ${affordable} calls lets exactly ${affordable} through`, {
    timeout: 120_000,
  }, async () => {
    const money = await openMoney({ balance, processes, project_monthly_micro: cap });
    const seen = await allUntilHeld(money, callers, SLOW);
    expect(countSeen(seen)).toEqual({ final: affordable, '402 budget_exhausted': callers - affordable });
    expect(money.provider.calls.length).toBe(affordable);
    expect((await rest(money)).available).toBe(balance - cap);
  });
});
