// SQL of the rates of GST.
import type { Db } from '../kernel/index.ts';

export interface GstRate {
  /** The first day, in Kolkata, of which this is the rate. */
  readonly from_day: string;
  readonly rate_bps: number;
}

/** The rate that was last set to begin on `day` or before it; null when there is none. */
export async function findGstRate(db: Db, day: string): Promise<number | null> {
  const { rows } = await db.query<{ rate_bps: number }>({
    name: 'invoices.find_gst_rate',
    text: 'select rate_bps from gst_rate where from_day <= $1 order by from_day desc limit 1',
    values: [day],
  });
  return rows[0]?.rate_bps ?? null;
}

/** All rates that were set, oldest first. */
export async function listGstRates(db: Db): Promise<GstRate[]> {
  const { rows } = await db.query<GstRate>({
    name: 'invoices.list_gst_rates',
    text: 'select from_day::text as from_day, rate_bps from gst_rate order by gst_rate.from_day',
    values: [],
  });
  return rows;
}

/** Sets the rate from a day on; a rate set for that day before is replaced. */
export async function putGstRate(db: Db, rate: GstRate & { readonly at: Date }): Promise<void> {
  await db.query({
    name: 'invoices.put_gst_rate',
    text: `
      insert into gst_rate (from_day, rate_bps, set_at) values ($1, $2, $3)
      on conflict (from_day) do update set rate_bps = excluded.rate_bps, set_at = excluded.set_at`,
    values: [rate.from_day, rate.rate_bps, rate.at],
  });
}

/** Whether a document was issued at `since` or later. */
export async function hasDocumentsSince(db: Db, since: Date): Promise<boolean> {
  const { rows } = await db.query<{ is_some: boolean }>({
    name: 'invoices.has_documents_since',
    text: 'select exists (select from invoice where issued_at >= $1) as is_some',
    values: [since],
  });
  return rows[0]?.is_some ?? false;
}
