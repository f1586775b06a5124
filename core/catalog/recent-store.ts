// Which endpoints changed their price lately, and every change there was.
import type { Db, Id } from '../kernel/index.ts';
import type { PriceContent } from './build.ts';

/** Ids of endpoints whose standard price changed at or after `since`; a first price is no change. */
export async function selectRepriced(db: Db, since: Date): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'catalog.repriced',
    text: `
      select distinct endpoint.id
        from catalog.price_history as change join catalog.endpoint using (endpoint_no)
       where change.effective_from >= $1 and change.use = 'standard'
         and exists (select from catalog.price_history as earlier
                      where earlier.endpoint_no = change.endpoint_no and earlier.use = change.use
                        and earlier.history_no < change.history_no)`,
    values: [since],
  });
  return rows.map((row) => row.id);
}

/** A price that an endpoint had from a moment on. */
export interface PriceRecord {
  readonly history_no: number;
  readonly price_id: Id<'price'>;
  readonly model: string;
  readonly endpoint_id: Id<'endpoint'>;
  readonly provider: string;
  readonly region: string;
  readonly use: string;
  readonly content: PriceContent;
  readonly effective_from: Date;
  /** When another price followed; null: it holds. */
  readonly effective_until: Date | null;
}

/** Prices of models whose id has `model` in it (null: of all), newest first, before the record `before`. */
export async function listPriceRecords(
  db: Db,
  args: { model: string | null; before: number | null; limit: number },
): Promise<PriceRecord[]> {
  const { rows } = await db.query<PriceRecord>({
    name: 'catalog.list_price_records',
    text: `
      select h.history_no, price.id as price_id, model.id as model, endpoint.id as endpoint_id, endpoint.provider,
             endpoint.region, h.use, price.content, h.effective_from, next.effective_from as effective_until
        from catalog.price_history h
        join catalog.price_version price using (price_no)
        join catalog.endpoint endpoint on endpoint.endpoint_no = h.endpoint_no
        join catalog.model model using (model_no)
        left join lateral (
               select later.effective_from from catalog.price_history later
                where later.endpoint_no = h.endpoint_no and later.use = h.use and later.history_no > h.history_no
                order by later.history_no limit 1) next on true
       where ($1::text is null or strpos(model.id, lower($1)) > 0) and ($2::int is null or h.history_no < $2)
       order by h.history_no desc limit $3`,
    values: [args.model, args.before, args.limit],
  });
  return rows;
}
