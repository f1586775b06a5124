// What a hold covers and what it does not: bills above the hold, calls without max_tokens, repeated upstream ids.
import { beforeAll, expect, test } from 'vitest';
import { servedBy } from '../crash/provider.ts';
import { readBook, untilBook, withClient } from '../support/books.ts';
import { aCall, shareGateways } from './money.ts';

let openMoney: Awaited<ReturnType<typeof shareGateways>>;
beforeAll(async () => {
  openMoney = await shareGateways(1);
});

// What a call may be charged above its hold, and what is written off then: test/calls/money/money.test.ts.
test('a bill above what the call can have used takes from the balance what the answer says, and no more', async () => {
  const balance = 10_000;
  const money = await openMoney({ balance, processes: 1 });
  const origin = money.gateways[0]?.base_url ?? '';
  // 10,000 input tokens are reported for a prompt of a few dozen: 30,000 micro-USD on a balance of 10,000.
  const call = aCall(money.live_key, { model: 'crash/chat', over_report: 10_000 });
  const { seen } = await money.callers.send(origin, call);
  expect(servedBy(money.provider).get(call.no)?.cost_micro_usd).toBeGreaterThan(30_000);
  expect(seen.kind).toBe('final');
  const cost = seen.kind === 'final' ? seen.cost_micro_usd : 0;
  expect(cost).toBeGreaterThan(0);
  const book = await untilBook(money.database_url, money.live_book_id, (b) => b.held === 0);
  expect(book.charges.map((charge) => charge.amount)).toEqual([-cost]);
  expect(book.available).toBe(balance - cost);
  const lost = await withClient(money.database_url, (client) =>
    client.query('select 1 from ledger.writeoff where book_id = $1', [money.live_book_id]),
  );
  expect(lost.rows).toEqual([]);
  const next = await money.callers.send(origin, aCall(money.live_key));
  expect(next.seen.kind).toBe('final');
});

test('two small calls without max_tokens run side by side on a balance that covers one maximum', async () => {
  // 8,192 tokens of output would hold 16,384 of the 20,000.
  const money = await openMoney({ balance: 20_000, processes: 1 });
  const origin = money.gateways[0]?.base_url ?? '';
  const options = { model: 'crash/chat', max_tokens: null, chunk_ms: 40 };
  const both = await Promise.all([
    money.callers.send(origin, aCall(money.live_key, options)),
    money.callers.send(origin, aCall(money.live_key, options)),
  ]);
  expect(both.map(({ seen }) => seen.kind)).toEqual(['final', 'final']);
  const book = await untilBook(money.database_url, money.live_book_id, (b) => b.held === 0);
  const costs = both.map(({ seen }) => (seen.kind === 'final' ? seen.cost_micro_usd : 0));
  expect(book.available).toBe(20_000 - costs.reduce((sum, cost) => sum + cost, 0));
});

test('the same response id from the provider twice makes two requests and two charges', async () => {
  const money = await openMoney({ balance: 100_000, processes: 1 });
  const origin = money.gateways[0]?.base_url ?? '';
  const call = { ...aCall(money.live_key), behaviour: 'same_id' as const };
  const first = await money.callers.send(origin, call);
  const second = await money.callers.send(origin, call);
  expect(first.seen.kind).toBe('final');
  expect(second.seen.kind).toBe('final');
  const { charges } = await readBook(money.database_url, money.live_book_id);
  expect(charges.map((charge) => charge.request_id).sort()).toEqual(
    [first.seen.request_id, second.seen.request_id].sort(),
  );
});
