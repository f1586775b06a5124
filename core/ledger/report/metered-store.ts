// What was metered in a span of time, by the time inside the request id: the order of the primary key of metering records.
import { crockford, type Db, type RequestId } from '../../kernel/index.ts';
import { ulidToUuid, uuidToUlid } from '../batch/encode.ts';

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
