// What a statement says beside the ledger itself: figures that are worked out from its entries alone.
import type { StatementView } from '@svc/core/resellers/index.ts';
import { expect } from 'vitest';

/** An organization as its book is needed here. */
interface WithBook {
  readonly id: string;
  readonly live_book_id: number;
}

interface LedgerRows {
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
}

/** What the entries of a UTC month moved in the book of an organization, by kind, and its balance before and after. */
async function movedIn({ rows }: LedgerRows, { live_book_id }: WithBook, month: string) {
  const of_month = `to_char(e.created_at at time zone 'UTC', 'YYYY-MM')`;
  const found = await rows<{ kind: string; amount: number }>(
    `select k.name as kind, sum(e.amount)::bigint as amount
       from ledger.entry e join ledger.entry_kind k on k.kind = e.kind
      where e.book_id = $1 and ${of_month} = $2 group by k.name`,
    [live_book_id, month],
  );
  const [balance] = await rows<{ opening: number; closing: number }>(
    `select coalesce(sum(amount) filter (where ${of_month} < $2), 0)::bigint as opening,
            coalesce(sum(amount) filter (where ${of_month} <= $2), 0)::bigint as closing
       from ledger.entry e where book_id = $1`,
    [live_book_id, month],
  );
  const by_kind = new Map(found.map(({ kind, amount }) => [kind, amount]));
  const of = (...kinds: readonly string[]) => kinds.reduce((sum, kind) => sum + (by_kind.get(kind) ?? 0), 0);
  return {
    of,
    all: found.reduce((sum, { amount }) => sum + amount, 0),
    ...(balance as NonNullable<typeof balance>),
  };
}

/** The statement of a month is, figure by figure, what the ledger says of the reseller and of each customer. */
export async function expectStatement(
  ledger: LedgerRows,
  statement: StatementView,
  { reseller, children }: { reseller: WithBook; children: readonly WithBook[] },
): Promise<void> {
  const { month } = statement;
  const lines = new Map(statement.customers.map((line) => [line.child_org_id, line]));
  for (const child of children) {
    const { of, all } = await movedIn(ledger, child, month);
    const line = lines.get(child.id);
    const charged = 0 - of('settle');
    const [sold, refunded] = [of('topup'), 0 - of('refund', 'refund_reversal')];
    const [given, reclaimed] = [of('allocation_in'), 0 - of('allocation_reclaim')];
    expect(
      [
        line?.charged_micro,
        line?.sold_micro,
        line?.refunded_micro,
        line?.given_micro,
        line?.reclaimed_micro,
      ].map((figure) => figure ?? 0),
    ).toEqual([charged, sold, refunded, given, reclaimed]);
    expect(line?.other_micro ?? 0).toBe(all + charged - sold + refunded - given + reclaimed);
    if (line !== undefined) expect(line.catalog_micro + line.markup_micro).toBe(line.usage_micro);
  }
  for (const [name, total] of Object.entries(statement.totals))
    expect(total, name).toBe(
      statement.customers.reduce((sum, line) => sum + (line as unknown as Record<string, number>)[name]!, 0),
    );
  const own = await movedIn(ledger, reseller, month);
  const [allocated, reclaimed, accruals] = ['allocation_out', 'allocation_reclaim', 'accrual'].map((kind) =>
    own.of(kind),
  );
  expect(statement.account).toEqual({
    ...{ opening_micro: own.opening, closing_micro: own.closing, allocated_micro: allocated },
    ...{ reclaimed_micro: reclaimed, accruals_micro: accruals },
    other_micro: own.all - (allocated ?? 0) - (reclaimed ?? 0) - (accruals ?? 0),
  });
}
