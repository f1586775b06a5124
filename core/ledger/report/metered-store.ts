// What was metered in a span of time, by the time inside the request id: the order of the primary key of metering records.
import { crockford, type Db, type MicroUsd, type RequestId, ulidMs } from '../../kernel/index.ts';
import { ulidToUuid, uuidToUlid } from '../batch/encode.ts';
import { type Metered, type MeteredRow, unitsOf } from '../read-store.ts';

/** The lowest request id of a millisecond, as the ledger keeps it. */
const lowest = (at: Date) => ulidToUuid(crockford(at.getTime(), 10) + '0'.repeat(16));

interface Span {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
}

/** Calls that began in a span and were metered, and what they were charged. */
export async function sumMetered(
  ledger: Db,
  { from, until }: Span,
): Promise<{ calls: number; charged_micro: number }> {
  const { rows } = await ledger.query<{ calls: number; charged_micro: number }>({
    name: 'ledger.sum_metered',
    text: `
      select count(*)::bigint as calls, coalesce(sum(m.cost - coalesce(w.amount, 0)), 0)::bigint as charged_micro
        from ledger.meter m
        left join ledger.writeoff w on w.book_id = m.book_id and w.seq = m.seq
       where m.request_id >= $1 and m.request_id < $2`,
    values: [lowest(from), lowest(until)],
  });
  return rows[0] ?? { calls: 0, charged_micro: 0 };
}

/** Ids of calls that began in a span and were metered, ascending, strictly after `after`. */
export async function listMetered(
  ledger: Db,
  { from, until, after, limit }: Span & { readonly after: RequestId | null; readonly limit: number },
): Promise<RequestId[]> {
  const { rows } = await ledger.query<{ request_id: string }>({
    name: 'ledger.list_metered',
    text: `
      select request_id from ledger.meter
       where request_id >= $1 and request_id < $2 and ($3::uuid is null or request_id > $3)
       order by request_id limit $4`,
    values: [lowest(from), lowest(until), after === null ? null : ulidToUuid(after), limit],
  });
  return rows.map(({ request_id }) => uuidToUlid(request_id) as RequestId);
}

/** Calls that used and cost the same, at one price. */
export interface MeteredAlike extends Pick<Metered, 'units' | 'estimated' | 'price_no'> {
  readonly calls: number;
  /** Of one of them. */
  readonly cost_micro_usd: MicroUsd;
}

/**
 * From when on at most `rows` calls, of all endpoints, began in a span; `from` where there are no more in all of it. Reads so many
 * entries of an index. Calls of one millisecond stay together, so of more than `rows` in the last one all are in it.
 */
export async function findSpanOf(
  ledger: Db,
  { from, until, rows: at_most }: Span & { readonly rows: number },
): Promise<Date> {
  const { rows } = await ledger.query<{ request_id: string }>({
    name: 'ledger.find_span',
    text: `
      select request_id from ledger.meter
       where request_id >= $1 and request_id < $2
       order by request_id desc offset $3 limit 1`,
    values: [lowest(from), lowest(until), at_most],
  });
  const [next] = rows;
  if (next === undefined) return from;
  const ms = ulidMs(uuidToUlid(next.request_id));
  return new Date(Math.min(ms + 1, until.getTime() - 1));
}

/** Calls of an endpoint that began in a span, those that are alike together. Reads all calls of the span: see `findSpanOf`. */
export async function listMeteredAlike(
  ledger: Db,
  { endpoint_no, from, until }: Span & { readonly endpoint_no: number },
): Promise<MeteredAlike[]> {
  const { rows } = await ledger.query<MeteredRow & Omit<MeteredAlike, 'units'>>({
    name: 'ledger.list_metered_alike',
    text: `
      select count(*)::bigint as calls, price_no, cost as cost_micro_usd, estimated, input_tokens, output_tokens,
             cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens,
             other_units
        from ledger.meter
       where request_id >= $1 and request_id < $2 and endpoint_no = $3
       group by 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12`,
    values: [lowest(from), lowest(until), endpoint_no],
  });
  return rows.map(({ calls, price_no, cost_micro_usd, estimated, ...units }) => ({
    ...{ calls, price_no, cost_micro_usd, estimated, units: unitsOf(units) },
  }));
}
