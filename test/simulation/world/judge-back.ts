// The verdict on money that went back: the books of the rails, the rows of refunds and disputes, and the ledger must agree.
import { DATABASE_URL, LEDGER_URL } from '../engine/database.ts';
import type { MoneyBack } from './money-back.ts';
import { withClient } from './verdict.ts';

/** A row of `refund` or `dispute`. */
interface Back {
  readonly id: string;
  readonly topup_id: string;
  readonly status: string;
  readonly ref: string | null;
  readonly credits_micro: number;
  readonly written_off_micro: number | null;
}

// In one order: without it that is how the rows lie, which runs before may have changed.
const REFUNDS_SQL = `
  select id, topup_id, status, gateway_ref as ref, credits_micro, null::bigint as written_off_micro from refund order by id`;
const DISPUTES_SQL = `
  select id, topup_id, status, gateway_ref as ref, credits_micro, written_off_micro from dispute order by id`;
/** All refunds and disputes. */
export function readBack(): Promise<{
  readonly refunds: readonly Back[];
  readonly disputes: readonly Back[];
}> {
  return withClient(DATABASE_URL, async (client) => ({
    refunds: (await client.query<Back>(REFUNDS_SQL)).rows,
    disputes: (await client.query<Back>(DISPUTES_SQL)).rows,
  }));
}

/** What the ledger has under a reference. */
interface InLedger {
  readonly id: string;
  /** What left its book. */
  readonly taken: number;
  readonly written_off: number;
  /** Whose credit it was: references of what brought it. */
  readonly from_ids: readonly string[];
}

const IN_LEDGER_SQL = `
  select e.ref_id as id, (-sum(e.amount))::bigint as taken,
         coalesce(sum((select sum(w.amount) from ledger.writeoff w where w.book_id = e.book_id and w.seq = e.seq)), 0)::bigint
           as written_off,
         array(select distinct o.ref_id from ledger.entry x join ledger.burn b on b.book_id = x.book_id and b.seq = x.seq
                 join ledger.lot l on l.lot_no = b.lot_no
                 join ledger.entry o on o.book_id = l.book_id and o.seq = l.origin_seq
                where x.book_id = e.book_id and x.ref_type = e.ref_type and x.ref_id = e.ref_id) as from_ids
    from ledger.entry e where e.ref_type in ('refund', 'dispute') group by e.book_id, e.ref_type, e.ref_id`;

/** Compares what rails gave back or lost with the rows of it, and those with the ledger. */
export async function judgeBack(back: MoneyBack): Promise<string[]> {
  const rows = await readBack();
  const booked = await withClient(LEDGER_URL, (client) => client.query<InLedger>(IN_LEDGER_SQL));
  const ledger = new Map(booked.rows.map((row) => [row.id, row]));
  const faults: string[] = [];
  const compare = ({ id, topup_id, written_off_micro }: Back, due: number) => {
    const { taken, written_off, from_ids } = ledger.get(id) ?? { taken: 0, written_off: 0, from_ids: [] };
    if (taken !== due) faults.push(`${id} took ${taken} from its book, and ${due} were due`);
    if (written_off !== (written_off_micro ?? 0))
      faults.push(`${id} cost ${written_off_micro ?? 0} that was spent, the ledger wrote ${written_off} off`);
    for (const from of from_ids)
      if (from !== topup_id) faults.push(`${id} is of ${topup_id}, and took credit of ${from}`);
  };
  for (const row of rows.refunds) {
    const at_rail = back.find(row.id)?.status ?? 'failed';
    if (row.status !== at_rail) faults.push(`${row.id} is ${row.status}, at the rail ${at_rail}`);
    compare(row, row.status === 'refunded' ? row.credits_micro : 0);
  }
  const known = new Set(rows.refunds.map(({ id }) => id));
  for (const id of back.refunds.keys())
    if (!known.has(id)) faults.push(`${id} is at the rail, and has no row`);
  for (const row of rows.disputes) {
    const at_rail = back.disputes.get(row.ref ?? '')?.status;
    if (row.status !== at_rail) faults.push(`${row.id} is ${row.status}, at the rail ${at_rail}`);
    if (row.status === 'lost' && row.written_off_micro === null)
      faults.push(`${row.id} is lost, and nobody knows what it cost`);
    compare(row, row.status === 'lost' ? row.credits_micro - (row.written_off_micro ?? 0) : 0);
  }
  return faults;
}
