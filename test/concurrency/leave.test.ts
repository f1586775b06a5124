// A caller that hangs up, and a gateway that is told to stop.
import { expect, test } from 'vitest';
import { untilBook } from '../support/books.ts';
import { aCall, allAtOnce, countSeen, EXACT_MICRO, openMoney } from './money.ts';

test('a caller gone in mid-stream ends the upstream call, and every view shows one same charge', async () => {
  const money = await openMoney({ balance: 1_000_000, processes: 1 });
  const origin = money.gateways[0]?.base_url ?? '';
  const call = aCall(money.live_key, {
    stream: true,
    chunks: 400,
    chunk_ms: 50,
    leave_after_ms: 1_000,
    model: 'crash/chat',
  });
  const start = performance.now();
  const { seen } = await money.callers.send(origin, call);
  expect(seen.kind).toBe('left');
  const book = await untilBook(
    money.database_url,
    money.live_book_id,
    (b) => b.held === 0 && b.charges.length > 0,
  );
  // The whole answer would have taken twenty seconds.
  expect(performance.now() - start).toBeLessThan(15_000);
  expect(money.provider.calls[0]?.finished).toBe(false);
  const [charge] = book.charges;
  expect(charge?.request_id).toBe(seen.request_id);
  expect(charge?.amount).toBeLessThan(0);
  const headers = { authorization: `Bearer ${money.live_key}` };
  const generation = await fetch(`${origin}/v1/generation/${seen.request_id}`, { headers });
  const record = (await generation.json()) as { cost: { total_micro_usd: number } };
  expect(record.cost.total_micro_usd).toBe(-(charge?.amount ?? 0));
});

test('a gateway that is stopped cuts no call and loses no charge', { timeout: 60_000 }, async () => {
  const money = await openMoney({ balance: 1_000_000, processes: 1 });
  const [gateway] = money.gateways;
  const running = allAtOnce(money, 100, { chunk_ms: 250, chunks: 20 });
  // All run at once, which they have five seconds for.
  await untilBook(money.database_url, money.live_book_id, (book) => book.held === 100 * EXACT_MICRO);
  const code = await gateway?.stop();
  expect(code).toBe(0);
  expect(countSeen(await running)).toEqual({ final: 100 });
  const book = await untilBook(money.database_url, money.live_book_id, (b) => b.held === 0);
  expect(book.charges).toHaveLength(100);
  expect(book.available).toBe(1_000_000 - 100 * EXACT_MICRO);
});
