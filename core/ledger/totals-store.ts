// Sums over the entries of a ledger, for accounts. Live books alone: sandbox credit is no money.
import type { Db } from '../kernel/index.ts';
import type { EntryKind } from './kinds.ts';

/** What entries of a kind moved in a time, in micro-USD. */
export interface KindTotal {
  readonly kind: EntryKind;
  /** Of an expiry: whether the lot was granted. */
  readonly granted: boolean;
  /** Signed: what customers got less what was taken from them. */
  readonly amount: bigint;
  readonly written_off: bigint;
}

interface Totals {
  readonly kinds: readonly KindTotal[];
  /** available + held of all live books, as the books say now. */
  readonly balance: bigint;
}

/** Entries from `from` on and before `to`, by kind, and the balances now, in one snapshot. */
export async function sumEntries(ledger: Db, of: { from: Date | null; to: Date }): Promise<Totals> {
  const { rows } = await ledger.query<{
    kind: EntryKind | null;
    granted: boolean;
    amount: string;
    written_off: string;
  }>({
    name: 'ledger.sum_entries',
    text: `
      select k.name as kind, coalesce(l.is_grant, false) as granted, sum(e.amount)::text as amount,
             coalesce(sum(w.amount), 0)::text as written_off
        from ledger.entry e
        join ledger.book b on b.book_id = e.book_id and b.environment = 1
        join ledger.entry_kind k on k.kind = e.kind
        left join ledger.lot l on e.kind = 16 and l.lot_id = e.ref_id
        left join ledger.writeoff w on w.book_id = e.book_id and w.seq = e.seq
       where e.created_at >= coalesce($1, '-infinity'::timestamptz) and e.created_at < $2
       group by 1, 2
      union all
      select null, false, coalesce(sum(available + held), 0)::text, '0' from ledger.book where environment = 1`,
    values: [of.from, of.to],
  });
  const kinds = rows.flatMap(({ kind, granted, amount, written_off }) =>
    kind === null ? [] : [{ kind, granted, amount: BigInt(amount), written_off: BigInt(written_off) }],
  );
  return { kinds, balance: BigInt(rows.find(({ kind }) => kind === null)!.amount) };
}
