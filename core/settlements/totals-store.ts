// Sums over what rails took beyond the fees of payments, for accounts.
import type { Db } from '../kernel/index.ts';

/** Fees that no top-up says, in the smallest unit of their currency. */
export interface FeeTotal {
  readonly currency: string;
  readonly fee: bigint;
}

/** Fees of refunds, disputes and accounts, and what was more than said at payments, settled from `from` on and before `to`. */
export async function sumFees(db: Db, of: { from: Date | null; to: Date }): Promise<FeeTotal[]> {
  const { rows } = await db.query<{ currency: string; fee: string }>({
    name: 'settlements.sum_fees',
    text: `
      select currency, sum(extra_fee_minor)::text as fee from settlement_line
       where extra_fee_minor <> 0 and settled_at >= coalesce($1, '-infinity'::timestamptz) and settled_at < $2
       group by currency`,
    values: [of.from, of.to],
  });
  return rows.map(({ currency, fee }) => ({ currency, fee: BigInt(fee) }));
}
