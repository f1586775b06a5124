// The oracle: compares what callers saw, what the provider served and what the ledger says. It reads the tables
// with SQL of its own and knows nothing of the functions that wrote them.
import type { VerifyReport } from '@svc/core/ledger/index.ts';
import type pg from 'pg';
import { ulidOf } from '../support/books.ts';
import type { Seen, Witness } from './caller.ts';
import { MAX_TOKENS } from './plan.ts';
import type { Served } from './provider.ts';
import { judgeTopUps, judgeTries } from './repeats.ts';
import type { TopUp } from './worker-process.ts';

/** One metered call as the ledger recorded it. */
export interface Charge {
  readonly request_id: string;
  readonly book_id: number;
  readonly key_no: number;
  readonly cost: number;
  /** What left the balance: the entries of this request id, added up. */
  readonly charged: number;
  readonly entries: number;
  readonly written_off: number;
  readonly estimated: boolean;
}

export interface BookState {
  readonly book_id: number;
  readonly available: number;
  readonly held: number;
  readonly credited: number;
  readonly charged: number;
}

export interface WindowState {
  readonly kind: number;
  readonly subject: number;
  readonly spent: number;
  readonly held: number;
  /** null: none, or a soft one. */
  readonly hard_cap: number | null;
}

export interface LedgerState {
  readonly charges: ReadonlyMap<string, Charge>;
  readonly books: readonly BookState[];
  readonly windows: readonly WindowState[];
  readonly holds: number;
  readonly top_ups: readonly Booked[];
}

/** A top-up as a book has it. */
export interface Booked {
  readonly reference: string;
  readonly book_id: number;
  readonly amount: number;
}

/** Several ledgers as one: no book, key or request id is in two. */
export function together(states: readonly LedgerState[]): LedgerState {
  return {
    charges: new Map(states.flatMap(({ charges }) => [...charges])),
    books: states.flatMap(({ books }) => books),
    windows: states.flatMap(({ windows }) => windows),
    holds: states.reduce((sum, { holds }) => sum + holds, 0),
    top_ups: states.flatMap(({ top_ups }) => top_ups),
  };
}

/** Reads the ledger in `schema` in one snapshot. */
export async function readLedger(client: pg.Client, schema: string): Promise<LedgerState> {
  await client.query('begin isolation level repeatable read read only');
  try {
    const charges = await client.query<Omit<Charge, 'request_id'> & { id: string }>(`
      select coalesce(m.request_id, e.request_id)::text as id, coalesce(m.book_id, e.book_id) as book_id,
             coalesce(m.key_no, 0) as key_no, coalesce(m.cost, 0) as cost, coalesce(m.estimated, false) as estimated,
             coalesce(e.charged, 0)::bigint as charged, coalesce(e.n, 0)::int as entries,
             coalesce(w.amount, 0)::bigint as written_off
        from ${schema}.meter m
        full join (select request_id, min(book_id) as book_id, -sum(amount) as charged, count(*) as n
                     from ${schema}.entry where request_id is not null group by request_id) e
          on e.request_id = m.request_id
        left join (select request_id, sum(amount) as amount from ${schema}.writeoff group by request_id) w
          on w.request_id = coalesce(m.request_id, e.request_id)`);
    const books = await client.query<BookState>(`
      select b.book_id, b.available, b.held, coalesce(sum(e.amount) filter (where e.request_id is null), 0)::bigint as credited,
             (-coalesce(sum(e.amount) filter (where e.request_id is not null), 0))::bigint as charged
        from ${schema}.book b left join ${schema}.entry e using (book_id) group by b.book_id`);
    const windows = await client.query<WindowState>(
      `select kind, subject, spent, held, case when hard then cap end as hard_cap from ${schema}.win`,
    );
    const topUps = await client.query<Booked>(
      `select ref_id as reference, book_id, amount from ${schema}.entry where ref_type = 'topup'`,
    );
    const holds = await client.query<{ n: number }>(`select count(*)::int as n from ${schema}.hold`);
    return {
      charges: new Map(
        charges.rows.map(({ id, ...rest }) => [ulidOf(id), { ...rest, request_id: ulidOf(id) }]),
      ),
      books: books.rows,
      windows: windows.rows,
      holds: (holds.rows[0] as { n: number }).n,
      top_ups: topUps.rows,
    };
  } finally {
    await client.query('rollback');
  }
}

/** Books with less at the beginning of a round may run dry in the middle of a call, whatever is paid in later. */
const POOR_MAX_MICRO = 1_000_000;

/** An estimate may err, but never above what a call of this test can have held. */
const MOST_MICRO = 1_000 + MAX_TOKENS * 2;

/**
 * What a call that its provider finished is charged: its price. Reported usage above the hold is charged where balance,
 * budget and a ledger at hand allow it, and never more than is reported.
 */
function judgeCost(
  { call, holds_at_risk }: Witness,
  cost: number,
  { cost_micro_usd }: Served,
  bounded: boolean,
) {
  const may_be_cut = call.over_report > 0 && (bounded || holds_at_risk);
  if (cost === cost_micro_usd || (may_be_cut && cost > 0 && cost < cost_micro_usd)) return null;
  return `cost ${cost} instead of ${cost_micro_usd}`;
}

/** Whether another execution took the key of an answer before its settle was booked: then it is recorded, and free. */
function isReplaced({ call, key_at_risk }: Witness, { cost, estimated }: Charge): boolean {
  return key_at_risk === true && call.habit === 'keyed' && cost === 0 && !estimated;
}

function judgeFinal(
  witness: Witness,
  charge: Charge | undefined,
  served: Served | undefined,
  bounded: boolean,
): string | null {
  const { seen } = witness;
  if (seen.kind !== 'final') return null;
  if (charge === undefined)
    return seen.cost_micro_usd === 0 ? null : 'was answered with its cost and is not in the ledger';
  if (isReplaced(witness, charge)) return null;
  if (charge.cost !== seen.cost_micro_usd)
    return `saw cost ${seen.cost_micro_usd}, the ledger has ${charge.cost}`;
  if (charge.estimated) return 'was charged by estimate though the provider reports usage';
  if (served?.finished !== true) return 'ended well, and the provider never finished';
  return judgeCost(witness, charge.cost, served, bounded);
}

/**
 * Whether a caller that left owes something: its gateway lived on, and a provider that behaves had the call. Who leaves
 * pays for what was produced, the prompt at least.
 */
function owes({ call, seen, spared }: Witness, served: Served | undefined): boolean {
  const behaves = call.behaviour === 'ok' || call.behaviour === 'same_id';
  return seen.kind === 'left' && spared && behaves && served !== undefined && served.cost_micro_usd > 0;
}

function judgeUnfinished(
  witness: Witness,
  charge: Charge | undefined,
  served: Served | undefined,
  bounded: boolean,
): string | null {
  const { seen } = witness;
  if (charge === undefined || charge.cost === 0)
    return owes(witness, served) ? 'left a call that its provider had, and was not charged' : null;
  if (seen.kind === 'refused') return `ended in an error (${seen.code}) and was charged ${charge.cost}`;
  if (served === undefined) return `never reached the provider and was charged ${charge.cost}`;
  if (charge.estimated) {
    if (seen.kind !== 'left') return 'was charged by estimate though the caller had not left';
    if (drains(witness) && served.finished && witness.spared)
      return 'was charged by estimate though its provider finished';
    return charge.cost > MOST_MICRO ? `was charged ${charge.cost} by estimate` : null;
  }
  if (!served.finished) return `was charged ${charge.cost} and the provider never finished`;
  return judgeCost(witness, charge.cost, served, bounded);
}

/** Whether a left call is read to its end: its provider bills it whole. */
function drains({ call }: Witness): boolean {
  return call.model === 'crash/full' && call.behaviour === 'ok';
}

function judgeCharge(charge: Charge): string | null {
  const entries = charge.cost > 0 ? 1 : 0;
  if (charge.entries !== entries) return `has ${charge.entries} entries for cost ${charge.cost}`;
  if (charge.charged + charge.written_off !== charge.cost)
    return `cost ${charge.cost}, charged ${charge.charged}, written off ${charge.written_off}`;
  return null;
}

/** Whether what a client asked on another connection is a call of its own: late, or the gateway of the first was killed. */
function isApart({ call, spared, late }: Witness): boolean {
  return call.habit === 'retries' && (!spared || late);
}

/** Whether a try of a call ended without an id and may have been charged. */
function isNameless(witness: Witness): boolean {
  const unknown = (one: Seen | null) =>
    (one?.kind === 'lost' || one?.kind === 'left') && one.request_id === null;
  return unknown(witness.seen) || (isApart(witness) && unknown(witness.again));
}

/**
 * Charges whose request id no caller knows: each must be the price of a call that ended without an id, and that
 * the provider served; each such call explains one charge.
 */
function judgeStrangers(
  { charges }: LedgerState,
  witnesses: readonly Witness[],
  served: ReadonlyMap<number, Served>,
): string[] {
  const known = new Set(witnesses.flatMap(({ ids }) => ids));
  const strangers = [...charges.values()].filter((charge) => !known.has(charge.request_id));
  const nameless = witnesses.filter(isNameless);
  const open = new Map<number, number>();
  let left = 0;
  let owing = 0;
  /** Of calls that may have been charged less than was reported. */
  const most: number[] = [];
  for (const witness of nameless) {
    const { call, seen } = witness;
    if (seen.kind === 'left' || (isApart(witness) && witness.again?.kind === 'left')) left++;
    const answer = served.get(call.no);
    // Of several tries under one key the one that its provider had may be one with an id.
    const is_charged = witness.ids.some((id) => (charges.get(id)?.cost ?? 0) > 0);
    if (!is_charged && owes(witness, answer)) owing++;
    if (answer?.finished && call.over_report > 0) most.push(answer.cost_micro_usd);
    if (answer?.finished) open.set(answer.cost_micro_usd, (open.get(answer.cost_micro_usd) ?? 0) + 1);
  }
  const faults: string[] = [];
  for (const charge of strangers) {
    if (charge.cost === 0) continue;
    if (charge.estimated && left > 0 && charge.cost <= MOST_MICRO) {
      left--;
      continue;
    }
    const n = open.get(charge.cost) ?? 0;
    const cut = most.findIndex((cost) => charge.cost < cost);
    if (n > 0) open.set(charge.cost, n - 1);
    else if (cut >= 0) most.splice(cut, 1);
    else faults.push(`${charge.request_id}: charged ${charge.cost}, and no caller made such a call`);
  }
  const paid = strangers.filter(({ cost }) => cost > 0).length;
  if (paid < owing)
    faults.push(`${owing} callers left calls that their provider had, and ${paid} were charged`);
  return faults;
}

function judgeBooks(state: LedgerState): string[] {
  const faults: string[] = [];
  for (const book of state.books) {
    if (book.held !== 0) faults.push(`book ${book.book_id} still holds ${book.held}`);
    if (book.available < 0) faults.push(`book ${book.book_id} is at ${book.available}`);
    const due = book.credited - book.charged;
    if (book.available + book.held !== due)
      faults.push(`book ${book.book_id} has ${book.available + book.held}, its entries say ${due}`);
  }
  for (const window of state.windows) {
    if (window.held !== 0) faults.push(`window ${window.kind}/${window.subject} still holds ${window.held}`);
  }
  if (state.holds !== 0) faults.push(`${state.holds} holds are left`);
  return faults;
}

function judgeWindows(state: LedgerState): string[] {
  const spent = new Map<number, number>();
  for (const charge of state.charges.values())
    spent.set(charge.key_no, (spent.get(charge.key_no) ?? 0) + charge.charged);
  const kept = new Map<number, number>();
  for (const window of state.windows) {
    if (window.kind === 1) kept.set(window.subject, (kept.get(window.subject) ?? 0) + window.spent);
  }
  return [...kept]
    .filter(([key_no, micro]) => micro !== (spent.get(key_no) ?? 0))
    .map(
      ([key_no, micro]) =>
        `windows of key ${key_no} say ${micro} spent, its charges ${spent.get(key_no) ?? 0}`,
    );
}

/** What only a lost hold can bring about in a round: a budget overrun, and money that was not there any more. */
function judgeOverruns(state: LedgerState, { before, holds_may_be_lost, open_ids }: Round): string[] {
  if (holds_may_be_lost) return [];
  const faults: string[] = [];
  for (const { kind, subject, spent, hard_cap } of state.windows) {
    if (hard_cap !== null && spent > hard_cap)
      faults.push(`window ${kind}/${subject} spent ${spent} of a hard budget of ${hard_cap}`);
  }
  for (const charge of state.charges.values()) {
    if (open_ids?.has(charge.request_id) === true) continue;
    if (charge.written_off > 0 && !before.charges.has(charge.request_id))
      faults.push(`${charge.request_id}: ${charge.written_off} written off`);
  }
  return faults;
}

/** Budgets are so tight that every round reaches them, so a budget that refuses no call is a fault. */
function judgeReached({ seen, budget_keys }: Round): string[] {
  return budget_keys.flatMap((key, n) => {
    const refused = seen.some(
      (one) => one.call.key === key && one.seen.kind === 'refused' && one.seen.code === 'budget_exhausted',
    );
    return refused ? [] : [`the budget of key ${n} refused nobody in this round`];
  });
}

/** What is checked per round. */
export interface Round {
  readonly before: LedgerState;
  readonly seen: readonly Witness[];
  /** PostgreSQL was killed in it: a hold that was acknowledged in its last moments may be lost. */
  readonly holds_may_be_lost: boolean;
  /** Secrets of the keys with a hard budget. */
  readonly budget_keys: readonly string[];
  /** Calls with input that only their provider can count: what they cost above the balance is written off. */
  readonly open_ids?: ReadonlySet<string>;
  /** Top-ups that were acknowledged, in this round and before. */
  readonly top_ups: readonly TopUp[];
}

export interface Evidence {
  readonly round: Round;
  readonly witnesses: readonly Witness[];
  readonly served: ReadonlyMap<number, Served>;
  readonly state: LedgerState;
  /** Of each ledger. */
  readonly verified: readonly VerifyReport[];
}

/** A sentence for every broken promise; empty when there is none. */
export function judge({ witnesses, served, state, verified, round }: Evidence): string[] {
  const faults: string[] = [];
  for (const witness of witnesses) {
    const { call, ids } = witness;
    const charged = ids
      .map((id) => state.charges.get(id))
      .find((charge) => charge !== undefined && charge.cost > 0);
    const request_id = charged?.request_id ?? witness.seen.request_id;
    faults.push(...judgeTries(witness, state.charges, round.seen));
    if (request_id === null) continue;
    const charge = state.charges.get(request_id);
    const bounded =
      round.budget_keys.includes(call.key) ||
      round.before.books.some(
        ({ book_id, credited }) => book_id === charge?.book_id && credited <= POOR_MAX_MICRO,
      );
    const judgeOne = witness.seen.kind === 'final' ? judgeFinal : judgeUnfinished;
    const fault = judgeOne(witness, charge, served.get(call.no), bounded);
    if (fault !== null)
      faults.push(`call ${call.no} ${request_id} (${call.dialect} ${call.model}): ${fault}`);
  }
  for (const charge of state.charges.values()) {
    const fault = judgeCharge(charge);
    if (fault !== null) faults.push(`${charge.request_id}: ${fault}`);
  }
  faults.push(...judgeStrangers(state, witnesses, served), ...judgeBooks(state), ...judgeWindows(state));
  faults.push(...judgeOverruns(state, round), ...judgeReached(round), ...judgeTopUps(state, round.top_ups));
  for (const finding of verified.flatMap(({ findings }) => findings))
    faults.push(`ledger verify: ${finding.check} of book ${finding.book_id}: ${finding.message}`);
  return faults;
}

/** Whether nothing is under way any more: no holds, and every cost that a caller saw and every top-up is booked. */
export function isQuiet(
  witnesses: readonly Witness[],
  state: LedgerState,
  top_ups: readonly TopUp[],
): boolean {
  if (state.holds > 0 || state.top_ups.length < top_ups.length) return false;
  return witnesses.every(
    ({ seen }) => seen.kind !== 'final' || seen.cost_micro_usd === 0 || state.charges.has(seen.request_id),
  );
}
