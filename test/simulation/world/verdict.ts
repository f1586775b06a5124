// The verdict on a run: the oracle of the crash test, what the rails and their top-ups say, and what only the ledger's own
// records can tell: that each cost is the price of the units beside it, and that no run of an agent passed its budget.
import { OTHER_UNITS, verifyLedger } from '@svc/core/ledger/index.ts';
import pg from 'pg';
import type { Witness } from '../../crash/caller.ts';
import { type Evidence, isQuiet, judge, type LedgerState, readLedger } from '../../crash/oracle.ts';
import type { TopUp } from '../../crash/worker-process.ts';
import { ulidOf } from '../../support/books.ts';
import { DATABASE_URL, LEDGER_URL } from '../engine/database.ts';
import type { Loop } from '../engine/loop.ts';
import { costOf, isOpen, type Priced } from './models.ts';
import type { Keys } from './plan.ts';

/** A lease lapses, a new worker waits one lease time, journals are adopted: within so long all is booked or released. */
const QUIET_MS_MAX = 300_000;
const LOOK_MS = 4_000;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Does `work` on a connection to the server at `url`. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The ledger when nothing is under way any more, or has been for far too long. */
async function untilQuiet(
  loop: Loop,
  witnesses: readonly Witness[],
  top_ups: readonly TopUp[],
): Promise<LedgerState> {
  const deadline_ms = loop.now_ms + QUIET_MS_MAX;
  return withClient(LEDGER_URL, async (client) => {
    for (;;) {
      const state = await readLedger(client, 'ledger');
      if (isQuiet(witnesses, state, top_ups) || loop.now_ms > deadline_ms) return state;
      await pause(LOOK_MS);
    }
  });
}

/** Until what was ordered from the ledger has been carried out. */
export function untilOrdered(loop: Loop): Promise<void> {
  const deadline_ms = loop.now_ms + QUIET_MS_MAX;
  return withClient(DATABASE_URL, async (client) => {
    const left = 'select 1 from ledger_task where applied_at is null';
    while ((await client.query(left)).rowCount !== 0 && loop.now_ms < deadline_ms) await pause(LOOK_MS);
  });
}

interface MeterRow {
  readonly id: string;
  readonly price_no: number;
  readonly cost: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Pairs of kind and count. */
  readonly other_units: readonly number[] | null;
}

const METERS = `
  select request_id::text as id, price_no, cost, input_tokens + cache_read_tokens + cache_write_tokens as input_tokens,
         output_tokens, other_units
    from ledger.meter`;

/** How many of `unit` a call has beside its tokens or of them. */
function countOf({ other_units }: MeterRow, unit: (typeof OTHER_UNITS)[number]): number {
  const kind = OTHER_UNITS.indexOf(unit) + 1;
  const at = other_units?.findIndex((value, n) => n % 2 === 0 && value === kind) ?? -1;
  return at < 0 ? 0 : (other_units?.[at + 1] ?? 0);
}

/** Compares each cost with the price of the units beside it. */
function judgeMeters(rows: readonly MeterRow[], prices: ReadonlyMap<number, Priced>): string[] {
  return rows.flatMap((row) => {
    const { id, cost, input_tokens: input, output_tokens: output } = row;
    const used = { input, output, audio: countOf(row, 'audio_input_tokens') };
    const due = countOf(row, 'insured') > 0 ? 0 : costOf(prices.get(row.price_no) as Priced, used);
    return cost === due ? [] : [`${ulidOf(id)}: cost ${cost}, and its units cost ${due}`];
  });
}

interface RunRow {
  readonly run: string;
  readonly cap: number;
  readonly spent: number;
  readonly held: number;
}

function judgeRuns(rows: readonly RunRow[], holds_may_be_lost: boolean): string[] {
  return rows.flatMap(({ run, cap, spent, held }) => {
    if (held !== 0) return [`run ${run} still holds ${held}`];
    return spent > cap && !holds_may_be_lost ? [`run ${run} spent ${spent} of its budget of ${cap}`] : [];
  });
}

interface WindowRow {
  readonly kind: number;
  readonly subject: number;
  readonly window_cap: number;
  readonly cap: number;
}

/** Windows that run now, and that do not have the cap of their budget. */
const WINDOWS = `
  select w.kind, w.subject, w.cap as window_cap, b.cap from ledger.win w join ledger.budget b using (kind, subject)
   where w.cap is distinct from b.cap and w.start = case w.kind when 1 then $1::date else date_trunc('month', $1::date) end`;

/** What the world knows of a run. */
export interface Known {
  readonly before: LedgerState;
  /** When what was ordered of a budget was carried out. */
  readonly ordered_ms: number;
  readonly witnesses: readonly Witness[];
  readonly served: Evidence['served'];
  readonly top_ups: readonly TopUp[];
  readonly holds_may_be_lost: boolean;
  readonly keys: Keys;
  readonly prices: ReadonlyMap<number, Priced>;
}

/** Waits until all is booked, and judges it. */
export async function judgeLedger(loop: Loop, known: Known): Promise<string[]> {
  const { before, ordered_ms, witnesses, served, top_ups, holds_may_be_lost, keys, prices } = known;
  const state = await untilQuiet(loop, witnesses, top_ups);
  const verified = [await verifyLedger({ url: LEDGER_URL })];
  const day = new Date(ordered_ms).toISOString().slice(0, 10);
  const { meters, runs, windows } = await withClient(LEDGER_URL, async (client) => ({
    meters: (await client.query<MeterRow>(METERS)).rows,
    windows: (await client.query<WindowRow>(WINDOWS, [day])).rows,
    runs: (await client.query<RunRow>('select run, cap, spent, held from ledger.run')).rows,
  }));
  const open = meters.filter(({ price_no }) => isOpen((prices.get(price_no) as Priced).model));
  const open_ids = new Set(open.map(({ id }) => ulidOf(id)));
  const round = { before, seen: witnesses, holds_may_be_lost, budget_keys: keys.budgets, open_ids, top_ups };
  return [
    // A run is too short for every budget to refuse somebody.
    ...judge({ witnesses, served, state, verified, round }).filter((one) => !one.includes('refused nobody')),
    ...judgeMeters(meters, prices),
    ...judgeRuns(runs, holds_may_be_lost),
    ...windows.map(
      ({ kind, subject, window_cap, cap }) =>
        `window ${kind}/${subject} has a cap of ${window_cap}, its budget of ${cap}`,
    ),
  ];
}
