// What must be true when everything has come to rest. The rails' own books say what was paid and given back; this shares no
// code with the product but `ledger verify` and the trial balance, which are checked elsewhere.
import { existsSync, readdirSync } from 'node:fs';
import { trialBalance } from '@svc/core/accounting/index.ts';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import type { Promised } from './customer.ts';
import type { World } from './world.ts';

interface Kept {
  /** Of all payments of a top-up: captured and not given back, in the smallest unit. */
  minor: number;
  /** Refunds at the rail, by the id of ours that they name; '' for those of its dashboard. */
  readonly refunds: { readonly id: string; readonly amount: number }[];
}

/** What each top-up's payer has paid and got back, as the rails say. */
function keptAtRails({ sim_a, sim_b }: World): Map<string, Kept> {
  const kept = new Map<string, Kept>();
  const of = (topup_id: string): Kept => {
    const found = kept.get(topup_id) ?? { minor: 0, refunds: [] };
    kept.set(topup_id, found);
    return found;
  };
  for (const { captured, amount, amount_refunded, order_id } of sim_a.store.payments.values()) {
    if (captured) of(sim_a.store.order(order_id).receipt ?? '').minor += amount - amount_refunded;
  }
  for (const { payment_id, amount, notes } of sim_a.store.refunds.values()) {
    const { order_id } = sim_a.store.payment(payment_id);
    const id = (notes as Record<string, string>)['refund_id'] ?? '';
    of(sim_a.store.order(order_id).receipt ?? '').refunds.push({ id, amount });
  }
  const topupOf = (intent_id: string) => sim_b.store.intents.get(intent_id)?.metadata['topup_id'] ?? '';
  for (const { amount, amount_refunded, payment_intent } of sim_b.store.charges.values()) {
    of(topupOf(payment_intent)).minor += amount - amount_refunded;
  }
  for (const { payment_intent, amount, metadata } of sim_b.store.refunds.values()) {
    of(topupOf(payment_intent)).refunds.push({ id: metadata['refund_id'] ?? '', amount });
  }
  return kept;
}

interface TopupRow {
  readonly id: string;
  readonly status: string;
  readonly total: number;
  readonly refunded: number;
  readonly entries: number;
  readonly credited: number;
  readonly credits: number;
  readonly invoices: number;
}

const TOPUPS = `
  select t.id, t.status, t.total_minor::float8 as total, t.refunded_minor::float8 as refunded,
         t.credits_micro::float8 as credits,
         (select count(*)::int from ledger.entry e where e.ref_type = 'topup' and e.ref_id = t.id) as entries,
         (select coalesce(sum(e.amount), 0)::float8 from ledger.entry e
           where e.ref_type = 'topup' and e.ref_id = t.id) as credited,
         (select count(*)::int from invoice i where i.topup_id = t.id and i.kind <> 'credit_note') as invoices
    from topup t`;

interface RefundRow {
  readonly id: string;
  readonly topup_id: string;
  readonly status: string;
  readonly source: string;
  readonly total: number;
  readonly credits: number;
  readonly moved: number;
  readonly notes: number;
}

const REFUNDS = `
  select r.id, r.topup_id, r.status, r.source, r.total_minor::float8 as total, r.credits_micro::float8 as credits,
         (select coalesce(sum(e.amount), 0) - coalesce(sum(w.amount), 0)
            from ledger.entry e left join ledger.writeoff w on w.book_id = e.book_id and w.seq = e.seq
           where e.ref_type = 'refund' and e.ref_id = r.id)::float8 as moved,
         (select count(*)::int from invoice i where i.refund_id = r.id) as notes
    from refund r`;

const GAPS = `
  select c.series, c.fy, c.last_no::float8 as last_no, count(i.id)::int as documents
    from invoice_counter c join invoice i on i.number like c.series || '/' || c.fy || '/%'
   group by c.supplier, c.series, c.fy, c.last_no having count(i.id) <> c.last_no`;

/** What waits, by name: payers, rails and a mail that failed once may take longer, everything else happens at once. */
export interface Waiting {
  readonly days: readonly string[];
  readonly moments: readonly string[];
}

export async function waiting(world: World): Promise<Waiting> {
  const [row] = await world.rows<Record<string, number>>(`
    select (select count(*)::int from topup where status = 'pending') as topups,
           (select count(*)::int from refund where status = 'pending') as refunds,
           (select count(*)::int from mail where status in ('queued', 'sending')) as mails,
           (select count(*)::int from mail
             where status = 'sending' or (status = 'queued' and next_at <= now() + make_interval(secs => (
                   select coalesce(sum((value->>'offset_ms')::float8), 0) / 1000 from settings where name = 'dev_clock')))
           ) as mails_due,
           (select count(*)::int from workflow_start where started_at is null) as starts,
           (select count(*)::int from rail_task where done_at is null) as rail_tasks,
           (select count(*)::int from rail_refund where refund_id is null) as rail_refunds,
           (select count(*)::int from outbox) as outbox`);
  const named = (names: readonly string[]) =>
    names.flatMap((name) => (row?.[name] === 0 ? [] : [`${row?.[name]} ${name}`]));
  return {
    days: named(['topups', 'refunds', 'rail_tasks', 'rail_refunds', 'mails']),
    moments: named(['mails_due', 'starts', 'outbox']),
  };
}

function judgeTopups(topups: readonly TopupRow[], kept: ReadonlyMap<string, Kept>): string[] {
  const faults: string[] = [];
  for (const { id, status, total, refunded, entries, credited, credits, invoices } of topups) {
    const minor = kept.get(id)?.minor ?? 0;
    const booked = status === 'paid' ? 1 : 0;
    if (entries !== booked || credited !== booked * credits) {
      faults.push(`${id} (${status}) has ${entries} entries of ${credited}, its credit is ${credits}`);
    }
    if (invoices !== booked) faults.push(`${id} (${status}) has ${invoices} invoices`);
    // What came in another amount than asked for waits for the staff.
    if (status === 'review' ? minor === 0 : minor !== booked * (total - refunded)) {
      faults.push(`${id} (${status}): the rail keeps ${minor}, the books say ${booked * (total - refunded)}`);
    }
  }
  const known = new Set(topups.map(({ id }) => id));
  for (const [id, { minor }] of kept) {
    if (minor !== 0 && !known.has(id)) faults.push(`the rail keeps ${minor} for "${id}", which nobody knows`);
  }
  return faults;
}

function judgeRefunds(refunds: readonly RefundRow[], kept: ReadonlyMap<string, Kept>): string[] {
  const faults: string[] = [];
  for (const { id, topup_id, status, source, total, credits, moved, notes } of refunds) {
    const at_rail = (kept.get(topup_id)?.refunds ?? []).filter((refund) => refund.id === id);
    const paid = status === 'refunded' ? 1 : 0;
    if (source === 'request' && (at_rail.length !== paid || at_rail.some(({ amount }) => amount !== total))) {
      faults.push(`${id} (${status}) of ${total} is at the rail as ${JSON.stringify(at_rail)}`);
    }
    if (notes !== paid) faults.push(`${id} (${status}) has ${notes} credit notes`);
    const taken = status === 'failed' ? 0 : -credits;
    if (moved !== taken) faults.push(`${id} (${status}) moved ${moved} credits, not ${taken}`);
  }
  return faults;
}

function judgePromises(promised: Promised, ids: { topups: Set<string>; refunds: Set<string> }): string[] {
  const faults: string[] = [];
  for (const [what, found] of [
    [promised.topups, ids.topups],
    [promised.refunds, ids.refunds],
  ] as const) {
    const seen = new Set<string>();
    for (const [key, id] of what) {
      if (!found.has(id)) faults.push(`${key} was answered with ${id}, which is not there`);
      if (seen.has(id)) faults.push(`${id} answered two different requests`);
      seen.add(id);
    }
  }
  return faults;
}

async function judgeGifts(world: World, promised: Promised): Promise<string[]> {
  const rows = await world.rows<{ id: string; status: string; amount: number; moved: number }>(`
    select g.id, g.status, g.amount_micro_usd::float8 as amount,
           (select coalesce(sum(e.amount), 0)::float8 from ledger.entry e
             where e.ref_type = 'gift' and e.ref_id = g.id) as moved
      from gift g`);
  return rows.flatMap(({ id, status, amount, moved }) => {
    const is_redeemed = promised.gifts.get(id)?.redeemed === true;
    const faults = is_redeemed && status !== 'redeemed' ? [`${id} was redeemed and is ${status}`] : [];
    // What the giver lost, the redeemer has got or nobody yet.
    const sum = status === 'open' ? -amount : 0;
    return moved === sum ? faults : [...faults, `${id} (${status}) of ${amount} moved ${moved}`];
  });
}

async function judgeMails(world: World): Promise<string[]> {
  const faults: string[] = [];
  const wanted = await world.rows<{ template: string; reference: string; sent: number }>(`
    select template, reference, count(*) filter (where status = 'sent')::int as sent
      from mail group by template, reference`);
  for (const { template, reference, sent } of wanted) {
    if (sent === 0) faults.push(`the mail ${template} of ${reference} was not sent`);
  }
  const [{ unmailed } = { unmailed: -1 }] = await world.rows<{ unmailed: number }>(`
    select count(*)::int as unmailed from topup t
     where t.status = 'paid' and not exists
           (select from mail m where m.template = 'receipt' and m.reference = t.invoice_id)`);
  if (unmailed !== 0) faults.push(`${unmailed} paid top-ups have no receipt`);
  const [{ rows } = { rows: -1 }] = await world.rows<{ rows: number }>(
    `select count(*)::int as rows from mail`,
  );
  // One whose sender died goes once more under the same name.
  const names = world.mail_dirs.flatMap((dir) => (existsSync(dir) ? readdirSync(dir) : []));
  const files = new Set(names.filter((name) => name.endsWith('.eml'))).size;
  if (files !== rows) faults.push(`${rows} mails were asked for and ${files} files were written`);
  return faults;
}

/** Everything that is wrong, in words. */
export async function judge(world: World, promised: Promised): Promise<string[]> {
  const topups = await world.rows<TopupRow>(TOPUPS);
  const refunds = await world.rows<RefundRow>(REFUNDS);
  const kept = keptAtRails(world);
  const ids = { topups: new Set(topups.map(({ id }) => id)), refunds: new Set(refunds.map(({ id }) => id)) };
  const gaps = await world.rows(GAPS);
  const { findings } = await verifyLedger({ url: world.database_url });
  const balance = await world.withPool((pool) =>
    trialBalance(pool, { from: null, to: new Date(Date.now() + 365 * 86_400_000), current: true }),
  );
  const off = balance.controls.filter(({ expected, found }) => expected !== found);
  return [
    ...judgeTopups(topups, kept),
    ...judgeRefunds(refunds, kept),
    ...judgePromises(promised, ids),
    ...(await judgeGifts(world, promised)),
    ...(await judgeMails(world)),
    ...gaps.map((gap) => `documents have a gap: ${JSON.stringify(gap)}`),
    ...findings.map((finding) => `ledger verify: ${JSON.stringify(finding)}`),
    ...off.map(
      ({ name, currency, expected, found }) =>
        `trial balance: ${name} ${currency} is ${found}, not ${expected}`,
    ),
    ...world.died.map((words) => `ended by itself: ${words}`),
  ];
}
