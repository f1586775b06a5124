// A batch as the SQL functions want it: the distinct books and windows, and the place of each item among them.
import { isRequestId, microUsd } from '../../kernel/index.ts';
import { OTHER_UNITS } from '../kinds.ts';
import type { Hold, OtherUnits, Settle, Subject } from '../types.ts';
import { dateArray, int2Array, int4Array, int8Array, ulidDay } from './encode.ts';

/** Days from 1970-01-01 to 2000-01-01, where PostgreSQL counts dates from. */
const EPOCH_2000 = 10_957;
const DAY_MS = 86_400_000;
const WINDOW_OF = { key: 1, project: 2 } as const;

export interface Item extends Subject {
  readonly request_id: string;
}

/** What an item names, for the log. */
export function namesOf({ request_id, book_id, key_no, project_no }: Item) {
  return { request_id, book_id, key_no, project_no };
}

export interface Placed {
  /** p_books, p_wkind, p_wsub, p_wstart, p_wbix of ledger.hold and ledger.settle. */
  readonly common: readonly Buffer[];
  /** p_bix, p_kix, p_pix. */
  readonly places: readonly Buffer[];
  /** The distinct books in the order of the answer. */
  readonly books: readonly number[];
}

let monthDay = -1;
let monthStart = 0;
/** First day of the UTC month that holds `day`, both in days since 1970; the last answer is kept. */
function startOfMonth(day: number): number {
  if (day !== monthDay) {
    const date = new Date(day * DAY_MS);
    monthDay = day;
    monthStart = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS;
  }
  return monthStart;
}

/** Places `items`, which must be grouped by book in ascending order. A window belongs to the day of the ULID. */
export function place(items: readonly Item[]): Placed {
  const books: number[] = [];
  const kinds: number[] = [];
  const subjects: number[] = [];
  const starts: number[] = [];
  const owners: number[] = [];
  const seen = new Map<number, number>();
  const n = items.length;
  const atBook = new Array<number>(n);
  const atKey = new Array<number>(n);
  const atProject = new Array<number>(n);
  // A window of another book's key is a window of its own, so that it is refused and not mixed up.
  let firstOfBook = 0;
  const window = (kind: number, subject: number, start: number): number => {
    const key = (subject * 2 + kind - 1) * 65_536 + start;
    const known = seen.get(key);
    if (known !== undefined && known > firstOfBook) return known;
    kinds.push(kind);
    subjects.push(subject);
    starts.push(start - EPOCH_2000);
    owners.push(books.length);
    seen.set(key, kinds.length);
    return kinds.length;
  };
  for (let i = 0; i < n; i++) {
    const item = items[i]!;
    const day = ulidDay(item.request_id);
    if (item.book_id !== books[books.length - 1]) {
      books.push(item.book_id);
      firstOfBook = kinds.length;
    }
    atBook[i] = books.length;
    atKey[i] = window(WINDOW_OF.key, item.key_no, day);
    atProject[i] = window(WINDOW_OF.project, item.project_no, startOfMonth(day));
  }
  return {
    common: [int8Array(books), int2Array(kinds), int4Array(subjects), dateArray(starts), int4Array(owners)],
    places: [int4Array(atBook), int4Array(atKey), int4Array(atProject)],
    books,
  };
}

function isInt4(value: number): boolean {
  return (value | 0) === value;
}

function isCount(value: number): boolean {
  return isInt4(value) && value >= 0;
}

/** Whether the encoder can write the item; one that it cannot must fail its own call, never the batch. */
function isSound(item: Item, micro_usd: number): boolean {
  return (
    isRequestId(item.request_id) &&
    Number.isSafeInteger(item.book_id) &&
    isInt4(item.key_no) &&
    isInt4(item.project_no) &&
    Number.isSafeInteger(micro_usd)
  );
}

const RUN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function isRun(run: string): boolean {
  return RUN.test(run);
}

/** Why `hold` cannot be encoded, or null when it can. */
export function holdFault(hold: Hold): string | null {
  if (!isSound(hold, hold.amount_micro_usd)) return 'a value cannot be encoded';
  if (hold.amount_micro_usd < 0) return 'the amount is negative';
  if (hold.budget !== undefined) {
    const { run, max_micro_usd } = hold.budget;
    if (!isRun(run) || !Number.isSafeInteger(max_micro_usd) || max_micro_usd < 0) return 'the budget is none';
  }
  return null;
}

const names: readonly string[] = OTHER_UNITS;

function areUnits(other: OtherUnits): boolean {
  for (const [name, count] of Object.entries(other)) {
    if (!names.includes(name) || !isCount(count)) return false;
  }
  return true;
}

/** Why `settle` cannot be encoded, or null when it can. */
export function settleFault(settle: Settle): string | null {
  if (!isSound(settle, settle.cost_micro_usd)) return 'a value cannot be encoded';
  if (settle.cost_micro_usd < 0) return 'the cost is negative';
  if (settle.run !== undefined && !isRun(settle.run)) return 'the run is none';
  const { units: u } = settle;
  const counted =
    isCount(u.input_tokens) &&
    isCount(u.output_tokens) &&
    isCount(u.cache_read_tokens) &&
    isCount(u.cache_write_tokens) &&
    isCount(u.cache_write_5m_tokens) &&
    isCount(u.cache_write_1h_tokens) &&
    isCount(u.reasoning_tokens);
  if (!counted) return 'a unit is not a count';
  if (u.other !== undefined && !areUnits(u.other)) return 'another unit is unknown or not a count';
  if (!isInt4(settle.model_no) || !isInt4(settle.endpoint_no) || !isInt4(settle.price_no)) {
    return 'a catalog number is out of range';
  }
  return settle.outcome in OUTCOMES ? null : 'the outcome is unknown';
}

export const OUTCOMES = { ok: 0, cancelled: 1, error: 2 } as const;

/** Writes behind all items' numbers those of `other`, of the item at place `item` (from 1): item, kind, count. */
function addOther(numbers: number[], item: number, other: OtherUnits): void {
  for (const [i, name] of OTHER_UNITS.entries()) {
    const count = other[name];
    if (count !== undefined) numbers.push(item, i + 1, count);
  }
}

/**
 * The twelve integers of each metering record in the order of ledger.meter, one item after the other, and behind them
 * the other units of those that have some.
 */
export function meterNumbers(items: readonly Settle[]): Buffer {
  const numbers = new Array<number>(items.length * 12);
  for (let i = 0, at = 0; i < items.length; i++, at += 12) {
    const item = items[i]!;
    const u = item.units;
    numbers[at] = item.model_no;
    numbers[at + 1] = item.endpoint_no;
    numbers[at + 2] = item.price_no;
    numbers[at + 3] = u.input_tokens;
    numbers[at + 4] = u.output_tokens;
    numbers[at + 5] = u.cache_read_tokens;
    numbers[at + 6] = u.cache_write_tokens;
    numbers[at + 7] = u.cache_write_5m_tokens;
    numbers[at + 8] = u.cache_write_1h_tokens;
    numbers[at + 9] = u.reasoning_tokens;
    numbers[at + 10] = OUTCOMES[item.outcome];
    numbers[at + 11] = item.estimated ? 1 : 0;
    if (u.other !== undefined) addOther(numbers, i + 1, u.other);
  }
  return int4Array(numbers);
}

/** What is recorded of a call that lost its Idempotency-Key to another one: all of it but its cost. */
export function withoutCharge({ claimed: _, ...settle }: Settle): Settle {
  const { units } = settle;
  const other = { ...units.other, insured: 1 };
  return { ...settle, cost_micro_usd: microUsd(0), units: { ...units, other } };
}
