// Many mandates over many days: no rule of the rail is broken, nothing is debited without a notice that arrived, nothing
// twice. `make mandates` does the same with a thousand mandates over ninety days.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { startPost } from '../mail/post.ts';
import type { Payment } from '../sim/rails/rail-a/objects.ts';
import { atFileEnd } from '../support/ends.ts';
import { startWorld } from '../topups/world.ts';
import { type Lived, liveMany } from './many.ts';

const COUNT = Number(process.env['MANDATES'] ?? 9);
const DAYS = Number(process.env['MANDATE_DAYS'] ?? 15);
const SEED = Number(process.env['MANDATE_SEED'] ?? 7);
const HOUR_S = 3_600;
/** What a mandate may cost in a day, debits included, whatever their number. */
const STATEMENTS_MAX = 60;

const world = await startWorld();
const { sim_a } = world;
const post = await startPost(world);
atFileEnd(async () => {
  shiftClock(0);
  sim_a.turn({ clock_shift_ms: 0 });
});

/** When the mails that gave notice of debits were taken by a mail server, by top-up. */
async function mailed(): Promise<Map<string, number>> {
  const rows = await world.rows<{ reference: string; sent_at: Date }>(
    `select reference, min(sent_at) as sent_at from mail where template = 'debit_notice' and status = 'sent' group by 1`,
  );
  return new Map(rows.map(({ reference, sent_at }) => [reference, sent_at.getTime() / 1_000]));
}

/** Debits that were made before the notice of each had arrived for long enough. */
async function unannounced({ debits }: Lived): Promise<Payment[]> {
  const mails = await mailed();
  return debits.filter(({ order_id, method, created_at, notes }) => {
    const reported = sim_a.store.mandates.notices.get(order_id)?.delivered_at;
    const by_mail = mails.get(String((notes as Record<string, string>)['topup_id']));
    const since = method === 'emandate' ? by_mail : reported;
    const wait_s = method === 'card' ? 36 * HOUR_S + 300 : 24 * HOUR_S;
    // Mails have milliseconds, the rail has seconds.
    return since == null || created_at - since < wait_s - 1;
  });
}

/** Debits of which another one stands on the same order, or on the same day of India and the same mandate. */
function twice({ debits }: Lived): Payment[] {
  const seen = new Set<string>();
  return debits.filter(({ order_id, token_id, created_at }) => {
    const day = `${token_id} ${Math.floor((created_at + 19_800) / 86_400)}`;
    const again = seen.has(order_id) || seen.has(day);
    seen.add(order_id).add(day);
    return again;
  });
}

/** Each organization has what its bank account lost, and an event for each failure. */
async function unbooked(lived: Lived): Promise<unknown[]> {
  const taken = Map.groupBy(lived.debits, ({ notes }) => (notes as Record<string, string>)['org_id']);
  const rows = await world.rows<{
    org_id: string;
    paid: number;
    failed: number;
    reported: number;
    open: number;
  }>(`
    select a.org_id,
           (select coalesce(sum(t.total_minor), 0)::bigint from topup t
             where t.org_id = a.org_id and t.source = 'auto' and t.status = 'paid') as paid,
           (select count(*)::int from topup t
             where t.org_id = a.org_id and t.source = 'auto' and t.status = 'failed') as failed,
           (select count(*)::int from (select org_id, topic, payload from ledger.outbox union all
                                       select org_id, topic, payload from outbox) o
             where o.org_id = a.org_id and o.topic = 'topup.failed') as reported,
           (select count(*)::int from auto_topup_attempt t
             where t.org_id = a.org_id and t.ended_at is null and t.sent_at is not null) as open
      from auto_topup a`);
  return rows.filter(({ org_id, paid, failed, reported, open }) => {
    const lost = (taken.get(org_id) ?? []).reduce((sum, { amount }) => sum + amount, 0);
    // A debit that a bank took its time for may not have been asked for yet when the last day ends.
    return open === 0 && (paid !== lost || reported < failed);
  });
}

test(`${COUNT} mandates over ${DAYS} days: no refusal by rule, no debit without a notice that arrived, none twice`, {
  timeout: 60_000 + COUNT * DAYS * 300,
}, async () => {
  const started = performance.now();
  const progress = COUNT * DAYS > 1_000 ? (line: string) => process.stdout.write(`  ${line}\n`) : () => {};
  const lived = await liveMany(world, post, { count: COUNT, days: DAYS, seed: SEED, progress });
  const per_day = lived.statements / (COUNT * DAYS);
  const top = [...lived.names].sort(([, a], [, b]) => b - a).slice(0, 12);
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  progress(
    `${lived.debits.length} debits, ${lived.resumed} resumed, ${lived.lost_events} events lost, ${seconds} s, ` +
      `${per_day.toFixed(1)} statements a mandate and day`,
  );
  for (const [name, n] of top) progress(`${(n / (COUNT * DAYS)).toFixed(2)} ${name}`);

  expect(sim_a.store.mandates.refused).toEqual([]);
  expect(await unannounced(lived)).toEqual([]);
  expect(twice(lived)).toEqual([]);
  expect(await unbooked(lived)).toEqual([]);
  // What a mandate comes to in ten days, with all that befalls it.
  expect(lived.debits.length).toBeGreaterThan((COUNT * DAYS) / 10);
  expect(new Set(lived.debits.map(({ method }) => method)).size).toBe(3);
  expect(per_day).toBeLessThan(STATEMENTS_MAX);
  await world.expectRight();
});
