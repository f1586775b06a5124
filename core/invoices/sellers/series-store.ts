// SQL of series of numbers: whose each is, and whether it was used.
import type { Db } from '../../kernel/index.ts';

/** Gives `series` to `supplier` unless it is somebody's; true where it is theirs then. */
export async function claimSeries(db: Db, args: { supplier: string; series: string }): Promise<boolean> {
  await db.query({
    name: 'invoices.claim_series',
    text: 'insert into invoice_series (series, supplier) values ($1, $2) on conflict (series) do nothing',
    values: [args.series, args.supplier],
  });
  const { rows } = await db.query<{ supplier: string }>({
    name: 'invoices.find_series',
    text: 'select supplier from invoice_series where series = $1',
    values: [args.series],
  });
  return rows[0]?.supplier === args.supplier;
}

/** Whether `supplier` has a number of one of `series`; `fy` null: of any financial year. */
export async function isSeriesUsed(
  db: Db,
  args: { supplier: string; series: readonly string[]; fy: string | null },
): Promise<boolean> {
  const { rows } = await db.query<{ is_used: boolean }>({
    name: 'invoices.is_series_used',
    text: `
      select exists (select from invoice_counter
                      where supplier = $1 and series = any($2) and ($3::text is null or fy = $3)) as is_used`,
    values: [args.supplier, args.series, args.fy],
  });
  return rows[0]?.is_used ?? false;
}

/** Gives series up that `supplier` never used. */
export async function releaseSeries(
  db: Db,
  args: { supplier: string; series: readonly string[] },
): Promise<void> {
  await db.query({
    name: 'invoices.release_series',
    text: `
      delete from invoice_series as given
       where given.supplier = $1 and given.series = any($2)
         and not exists (select from invoice_counter used
                          where used.supplier = given.supplier and used.series = any($2))`,
    values: [args.supplier, args.series],
  });
}
