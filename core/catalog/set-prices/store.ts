// SQL of prices that staff set. A row is never changed: what a price was set to and by whom stays.
import type { Db, Id } from '../../kernel/index.ts';
import type { SetPrices } from './filed.ts';
import type { EndpointPrices, SetPrice } from './rows.ts';

type Row = SetPrice & { readonly endpoint_id: Id<'endpoint'> };

const COLUMNS = 'set_no, endpoint.id as endpoint_id, from_day::text as "from", prices, replaces';

/** Prices that staff set, of one endpoint or of all (null), in the order of their days. */
export async function listSetPrices(db: Db, endpoint_id: string | null): Promise<SetPrices> {
  const { rows } = await db.query<Row>({
    name: 'catalog.list_set_prices',
    text: `
      select ${COLUMNS} from catalog.set_price join catalog.endpoint using (endpoint_no)
       where $1::text is null or endpoint.id = $1
       order by from_day, set_no`,
    values: [endpoint_id],
  });
  return Map.groupBy(rows, (row) => row.endpoint_id);
}

/** Number of the price that was set last; 0 before the first. Prices are set under the lock, so it grows in the order of commits. */
export async function lastSetNo(db: Db): Promise<number> {
  const { rows } = await db.query<{ last: number }>({
    name: 'catalog.last_set_price',
    text: 'select coalesce(max(set_no), 0) as last from catalog.set_price',
  });
  return rows[0]?.last ?? 0;
}

/** Keeps a price. Needs the lock. */
export async function insertSetPrice(
  db: Db,
  set: {
    endpoint_no: number;
    from: string;
    prices: EndpointPrices;
    replaces: string;
    approval_id: Id<'approval'>;
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'catalog.insert_set_price',
    text: `
      insert into catalog.set_price (endpoint_no, from_day, prices, replaces, approval_id, set_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [set.endpoint_no, set.from, JSON.stringify(set.prices), set.replaces, set.approval_id, set.at],
  });
}

/** A price that staff set, with who did. */
interface SetPriceRecord extends Row {
  readonly model: string;
  readonly provider: string;
  readonly region: string;
  readonly approval_id: Id<'approval'>;
  readonly set_at: Date;
}

/** The newest prices that were set, at most `limit`. */
export async function listSetRecords(db: Db, limit: number): Promise<SetPriceRecord[]> {
  const { rows } = await db.query<SetPriceRecord>({
    name: 'catalog.list_set_records',
    text: `
      select ${COLUMNS}, model.id as model, endpoint.provider, endpoint.region, approval_id, set_at
        from catalog.set_price
        join catalog.endpoint using (endpoint_no)
        join catalog.model using (model_no)
       order by set_no desc limit $1`,
    values: [limit],
  });
  return rows;
}
