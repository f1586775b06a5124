// What must be true when everything has come to rest. The rails' own books say what was paid and given back; this shares no
// code with the product but `ledger verify` and the trial balance, which are checked elsewhere.
import { existsSync, readdirSync } from 'node:fs';
import { trialBalance } from '@svc/core/accounting/index.ts';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import type { Promised } from './customer.ts';
import { judgeCredits, judgeDisputes, judgeDocuments, judgeGrants, judgePlans } from './oracle-money.ts';
import { type Kept, type RailBooks, readRailBooks } from './rail-books.ts';
import type { StaffActs } from './staff.ts';
import type { World } from './world.ts';

interface TopupRow {
  readonly id: string;
  readonly status: string;
  readonly total: number;
  readonly refunded: number;
  readonly lost: number;
  readonly payment_ref: string | null;
  readonly fee: number | null;
  readonly entries: number;
  readonly credited: number;
  readonly credits: number;
  readonly invoices: number;
}

const TOPUPS = `
  select t.id, t.status, t.total_minor::float8 as total, t.refunded_minor::float8 as refunded,
         t.credits_micro::float8 as credits, t.payment_ref, t.fee_minor::float8 as fee,
         (select coalesce(sum(d.amount_minor), 0)::float8 from dispute d
           where d.topup_id = t.id and d.status = 'lost') as lost,
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

function judgeTopups(topups: readonly TopupRow[], { kept, fees }: RailBooks): string[] {
  const faults: string[] = [];
  for (const topup of topups) {
    const { id, status, total, refunded, lost, entries, credited, credits, invoices, fee } = topup;
    const minor = kept.get(id)?.minor ?? 0;
    const booked = status === 'paid' ? 1 : 0;
    if (entries !== booked || credited !== booked * credits) {
      faults.push(`${id} (${status}) has ${entries} entries of ${credited}, its credit is ${credits}`);
    }
    if (invoices !== booked) faults.push(`${id} (${status}) has ${invoices} invoices`);
    // What came in another amount than asked for waits for the staff.
    const says = booked * (total - refunded - lost);
    if (status === 'review' ? minor === 0 : minor !== says)
      faults.push(`${id} (${status}): the rail keeps ${minor}, the books say ${says}`);
    // Asked about a session, rail-b names one payment and its fee; which of two came first is a matter of luck.
    const is_known = fee !== null || kept.get(id)?.payments === 1;
    const taken = fees.get(topup.payment_ref ?? '') ?? null;
    if (booked === 1 && is_known && taken !== fee)
      faults.push(`${id}: the rail took ${taken}, the books say ${fee}`);
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

function judgePromises(
  promised: Promised,
  ids: Record<'topups' | 'refunds' | 'mandates', Set<string>>,
): string[] {
  const faults: string[] = [];
  for (const [what, found] of [
    [promised.topups, ids.topups],
    [promised.refunds, ids.refunds],
    [promised.mandates, ids.mandates],
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
  const unsent = await world.rows<{ template: string; reference: string; became: string }>(`
    select template, reference, string_agg(concat_ws(' ', status, answer), '; ') as became
      from mail group by template, reference having bool_and(status <> 'sent')`);
  for (const { template, reference, became } of unsent)
    faults.push(`the mail ${template} of ${reference} was not sent: ${became}`);
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
export async function judge(world: World, promised: Promised, staff: StaffActs): Promise<string[]> {
  const topups = await world.rows<TopupRow>(TOPUPS);
  const refunds = await world.rows<RefundRow>(REFUNDS);
  const mandates = await world.rows<{ id: string }>('select id from mandate');
  const books = readRailBooks(world);
  const idsOf = (rows: readonly { id: string }[]) => new Set(rows.map(({ id }) => id));
  const ids = { topups: idsOf(topups), refunds: idsOf(refunds), mandates: idsOf(mandates) };
  const { findings } = await verifyLedger({ url: world.database_url });
  const balance = await world.withPool((pool) =>
    trialBalance(pool, { from: null, to: new Date(Date.now() + 365 * 86_400_000), current: true }),
  );
  const off = balance.controls.filter(({ expected, found }) => expected !== found);
  return [
    ...judgeTopups(topups, books),
    ...judgeRefunds(refunds, books.kept),
    ...judgePromises(promised, ids),
    ...(await judgeGifts(world, promised)),
    ...(await judgeMails(world)),
    ...(await judgeDisputes(world, books)),
    ...(await judgePlans(world, promised)),
    ...(await judgeGrants(world, staff)),
    ...(await judgeDocuments(world, books)),
    ...(await judgeCredits(world)),
    ...books.faults,
    ...findings.map((finding) => `ledger verify: ${JSON.stringify(finding)}`),
    ...off.map(
      ({ name, currency, expected, found }) =>
        `trial balance: ${name} ${currency} is ${found}, not ${expected}`,
    ),
    ...world.died.map((words) => `ended by itself: ${words}`),
  ];
}
