// What calls were charged and which credit paid them, in the order of the ledger, for whoever counts each once.
import type { Db, MicroUsd } from '../../kernel/index.ts';
import { ENTRY_KINDS, type EntryKind } from '../kinds.ts';
import { type Metered, type MeteredRow, unitsOf } from '../read-store.ts';

/** An entry with what it was charged for, where it is a call's. */
export interface Charged {
  readonly seq: number;
  readonly created_at: Date;
  readonly kind: EntryKind;
  /** As it moved the balance. */
  readonly amount_micro: MicroUsd;
  readonly written_off_micro: MicroUsd;
  /** Null: no call. */
  readonly call:
    | (Pick<Metered, 'units' | 'estimated' | 'price_no'> & { readonly cost_micro_usd: MicroUsd })
    | null;
}

interface Row extends MeteredRow {
  readonly seq: number;
  readonly created_at: Date;
  readonly kind_no: number;
  readonly amount_micro: MicroUsd;
  readonly written_off_micro: MicroUsd;
  readonly price_no: number | null;
  readonly cost: MicroUsd;
  readonly estimated: boolean;
}

/** Entries of a book with a seq above `after_seq`, oldest first. */
export async function readCharged(
  db: Db,
  args: { book_id: number; after_seq: number; limit: number },
): Promise<Charged[]> {
  const { rows } = await db.query<Row>({
    name: 'ledger.read_charged',
    text: `select e.seq, e.created_at, e.kind as kind_no, e.amount as amount_micro, coalesce(w.amount, 0) as written_off_micro, m.price_no, m.cost, m.estimated,
                  m.input_tokens, m.output_tokens, m.cache_read_tokens, m.cache_write_tokens,
                  m.cache_write_5m_tokens, m.cache_write_1h_tokens, m.reasoning_tokens, m.other_units
             from ledger.entry e
             left join ledger.meter m on m.request_id = e.request_id
             left join ledger.writeoff w on w.book_id = e.book_id and w.seq = e.seq
            where e.book_id = $1 and e.seq > $2
            order by e.seq limit $3`,
    values: [args.book_id, args.after_seq, args.limit],
  });
  return rows.map(
    ({ seq, created_at, kind_no, amount_micro, written_off_micro, price_no, cost, estimated, ...units }) => ({
      ...{ seq, created_at, kind: ENTRY_KINDS[kind_no - 1] as EntryKind, amount_micro, written_off_micro },
      call: price_no === null ? null : { price_no, estimated, cost_micro_usd: cost, units: unitsOf(units) },
    }),
  );
}

/** What calls used of a lot in a month. */
interface LotUse {
  readonly lot_id: string;
  /** First day, `YYYY-MM-DD`. */
  readonly month: string;
  /** Paid, or given by the organization's reseller. */
  readonly is_paid: boolean;
  readonly used_micro: MicroUsd;
  /** How far the lot is burned after it. */
  readonly burned_to_micro: MicroUsd;
}

/** What calls used of each lot of a book beyond the place in `counted`, by month. Ranges of a lot follow each other (L6). */
export async function readLotUse(
  db: Db,
  args: { book_id: number; counted: readonly { lot_id: string; counted_micro: number }[] },
): Promise<LotUse[]> {
  const { rows } = await db.query<LotUse>({
    name: 'ledger.read_lot_use',
    text: `select l.lot_id, (date_trunc('month', k.created_at at time zone 'UTC'))::date::text as month,
                  not l.is_grant or e.kind = 12 as is_paid,
                  coalesce(sum(b.to_micro - b.from_micro) filter (where b.seq is null), 0)::bigint as used_micro,
                  max(b.to_micro) as burned_to_micro
             from ledger.lot l
             join ledger.entry e on e.book_id = l.book_id and e.seq = l.origin_seq
             left join unnest($2::text[], $3::bigint[]) c (lot_id, counted) on c.lot_id = l.lot_id
             join ledger.burn b on b.lot_no = l.lot_no and b.from_micro >= coalesce(c.counted, 0)
             join ledger.block k on k.book_id = b.book_id and k.block_no = b.block_no
            where l.book_id = $1 and l.burned > coalesce(c.counted, 0)
            group by 1, 2, 3`,
    values: [
      args.book_id,
      args.counted.map(({ lot_id }) => lot_id),
      args.counted.map(({ counted_micro }) => counted_micro),
    ],
  });
  return rows;
}
