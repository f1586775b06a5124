// Which endpoints changed their price lately.
import type { Db } from '../kernel/index.ts';

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
