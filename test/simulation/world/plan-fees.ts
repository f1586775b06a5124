// Fees of plans: the leader's job begins a month, perhaps two leaders at once, and the steps of its workflow follow, repeated as Temporal
// repeats them.
import type { Context, Id } from '@svc/core/kernel/index.ts';
import { advancePeriod, openPeriods } from '@svc/core/plans/index.ts';
import { DATABASE_URL, LEDGER_URL } from '../engine/database.ts';
import type { Loop } from '../engine/loop.ts';
import { insist, pause, TRIES, type Within } from './payments.ts';
import { RUNS_MS } from './plan.ts';
import { withClient } from './verdict.ts';

const periodOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 7)}-01`;
const FIRST = periodOf(RUNS_MS);
/** In a run that begins this long before the end of a month its fee is taken under calls. */
const SOON_MS = 10_000;

export interface PlanFeeParts {
  readonly loop: Loop;
  readonly inWorker: Within;
  /** Organizations on a plan with a fee. */
  readonly subscribers: readonly Id<'org'>[];
}

/** The next month, where a run comes to it. */
export class PlanFees {
  readonly #parts: PlanFeeParts;

  constructor(parts: PlanFeeParts) {
    this.#parts = parts;
  }

  async all(): Promise<void> {
    const { loop } = this.#parts;
    const deadline_ms = loop.now_ms + SOON_MS;
    while (periodOf(loop.now_ms) === FIRST && loop.now_ms < deadline_ms) await pause(SOON_MS / 100);
    if (periodOf(loop.now_ms) === FIRST) return;
    await Promise.all([this.#open(TRIES), this.#open(TRIES), this.#advance(2)]);
  }

  #open(tries: number): Promise<unknown> {
    return insist(this.#parts.inWorker, async (context) => ({ done: await openPeriods(context) }), tries);
  }

  /** Takes `steps` steps of each fee that has begun. */
  async #advance(steps: number): Promise<void> {
    const { loop, inWorker, subscribers } = this.#parts;
    for (let n = 0; n < steps; n++) {
      await pause(loop.draw.unit() * 1_500);
      const period = periodOf(loop.now_ms);
      for (const org_id of subscribers)
        await inWorker((context: Context) => advancePeriod(context, { org_id, period })).catch(() => null);
    }
  }

  /** Whatever is due by now is begun, and comes to its end or waits for credit. */
  async end(): Promise<void> {
    if (periodOf(this.#parts.loop.now_ms) === FIRST) return;
    await this.#open(60);
    await this.#advance(6);
  }
}

interface FeeRow {
  readonly org_id: string;
  readonly period: string;
  readonly status: string;
  readonly fee: number;
  readonly included: number;
  readonly book_id: number;
}

const FEES_SQL = `
  select c.org_id, c.period::text as period, c.status, c.fee_micro as fee, c.included_micro as included, o.live_book_id as book_id
    from plan_charge c join org o on o.id = c.org_id`;

const BOOKED_SQL = `
  select e.book_id, coalesce(sum(e.amount) filter (where k.name = 'plan_fee'), 0)::bigint as fee,
         coalesce(sum(e.amount) filter (where k.name = 'plan_credit'), 0)::bigint as included
    from ledger.entry e join ledger.entry_kind k using (kind) where k.name in ('plan_fee', 'plan_credit') group by e.book_id`;

/** Compares fees with the ledger. `paying` has the credit for its fee, and has a fee in each month that has come. */
export async function judgePlanFees(now_ms: number, paying: Id<'org'>): Promise<string[]> {
  const { rows } = await withClient(DATABASE_URL, (client) => client.query<FeeRow>(FEES_SQL));
  const booked = await withClient(LEDGER_URL, (client) =>
    client.query<{ book_id: number; fee: number; included: number }>(BOOKED_SQL),
  );
  const faults: string[] = [];
  const paid = rows.filter(({ org_id, status }) => org_id === paying && status === 'paid');
  const due = periodOf(now_ms) === FIRST ? 0 : 1;
  if (paid.length !== due) faults.push(`${paying} paid ${paid.length} fees, and ${due} were due`);
  for (const { org_id, period, status, fee, included, book_id } of rows) {
    if (status === 'pending') faults.push(`the fee of ${org_id} for ${period} is pending when all is over`);
    const of = booked.rows.find((row) => row.book_id === book_id) ?? { fee: 0, included: 0 };
    const [taken, given] = status === 'paid' ? [-fee, included] : [0, 0];
    if (of.fee !== taken || of.included !== given)
      faults.push(
        `the fee of ${org_id} is ${status}: its book has ${of.fee} for it and ${of.included} with it`,
      );
  }
  for (const { book_id } of booked.rows)
    if (!rows.some((row) => row.book_id === book_id)) faults.push(`book ${book_id} paid a fee of nobody`);
  return faults;
}
