// The statements of the batchers: one call of a function per batch, prepared once per connection. Answers are strings
// of letters and short array literals, so that nothing is parsed per item that need not be.
import { microUsd } from '../../kernel/index.ts';
import type { Hold, HoldResult, Settle, SettleResult, Subject } from '../types.ts';
import { meterNumbers, place } from './batch.ts';
import { int4Array, int8Array, uuidArray } from './encode.ts';
import type { Target } from './target.ts';

/** Told the available balance of each book of a batch as its answer arrives. */
type OnAvailable = (book_id: number, available_micro_usd: number) => void;

function call(
  name: string,
  columns: string,
  types: string,
): { name: string; text: string; rowMode: 'array' } {
  const args = types.split(' ').map((type, i) => `$${i + 1}::${type}`);
  return { name: `ledger.${name}`, text: `select ${columns} from ledger.${name}(${args})`, rowMode: 'array' };
}

const WINDOWS = 'bigint[] smallint[] int[] date[] int[]';
const HOLD = call(
  'hold',
  'o_status, o_available::text',
  `${WINDOWS} uuid[] int[] int[] int[] bigint[] int[] text[] bytea[] bytea[] bigint timestamptz uuid[] bigint[]`,
);
const SETTLE = call(
  'settle',
  'o_status, o_charged::text, o_available::text',
  `${WINDOWS} uuid[] int[] int[] int[] bigint[] int[] uuid[] timestamptz uuid[]`,
);
const RELEASE = call('release', 'release', 'bigint[] uuid[]');
const EXTEND = call('extend', 'extend', 'bigint[] uuid[] bigint[]');

const EMPTY_INT4 = int4Array([]);
const EMPTY_UUID = uuidArray([]);
const EMPTY_INT8 = int8Array([]);

const HOLD_RESULTS: Readonly<Record<string, HoldResult>> = {
  o: { status: 'ok' },
  c: { status: 'insufficient_credits' },
  k: { status: 'budget_exhausted', scope: 'key' },
  p: { status: 'budget_exhausted', scope: 'project' },
  r: { status: 'budget_exhausted', scope: 'run' },
  d: { status: 'claimed' },
  u: { status: 'unknown' },
  e: { status: 'refused', reason: 'the hold is not possible' },
};

const SETTLE_STATUS: Readonly<Record<string, SettleResult['status']>> = {
  s: 'settled',
  l: 'late',
  d: 'duplicate',
  r: 'replaced',
  u: 'refused',
  e: 'refused',
};

/** `{1,NULL,3}` told element by element; NULL is left out. */
function tellAvailable(books: readonly number[], literal: string | null, tell: OnAvailable): void {
  if (literal === null) return;
  let at = 1;
  for (const book of books) {
    let end = literal.indexOf(',', at);
    if (end < 0) end = literal.length - 1;
    const value = Number(literal.slice(at, end));
    if (Number.isSafeInteger(value)) tell(book, value);
    at = end + 1;
  }
}

/** Sorts by book and keeps the order of arrival within one. */
export function byBook(a: Subject, b: Subject): number {
  return a.book_id - b.book_id;
}

/** Sorts by (book, request id): the order that ledger.settle asks for. */
export function byBookAndId(a: Settle, b: Settle): number {
  if (a.book_id !== b.book_id) return a.book_id - b.book_id;
  if (a.request_id === b.request_id) return 0;
  return a.request_id < b.request_id ? -1 : 1;
}

/** Holds `items` (sorted by book) for `lease_id`; results in their order. */
export async function runHolds(
  db: Target,
  items: readonly Hold[],
  args: { lease_id: number; now: Date; tell: OnAvailable },
): Promise<HoldResult[]> {
  const { common, places, books } = place(items);
  const claimed: number[] = [];
  for (let i = 0; i < items.length; i++) if (items[i]!.idempotency !== undefined) claimed.push(i);
  const claims = claimed.map((i) => items[i]!.idempotency!);
  const in_runs = items.some(({ budget }) => budget !== undefined);
  const { rows } = await db.query<[string, string | null]>({
    ...HOLD,
    values: [
      ...common,
      uuidArray(items.map((item) => item.request_id)),
      ...places,
      int8Array(items.map((item) => item.amount_micro_usd)),
      claimed.length === 0 ? EMPTY_INT4 : int4Array(claimed.map((i) => i + 1)),
      claims.map((claim) => claim.scope),
      claims.map((claim) => claim.key_hash),
      claims.map((claim) => claim.fingerprint),
      args.lease_id,
      args.now,
      in_runs ? items.map(({ budget }) => budget?.run ?? null) : EMPTY_UUID,
      in_runs ? items.map(({ budget }) => budget?.max_micro_usd ?? null) : EMPTY_INT8,
    ],
  });
  const [letters, available] = rows[0]!;
  tellAvailable(books, available, args.tell);
  return items.map((_, i) => HOLD_RESULTS[letters[i]!]!);
}

/** Settles `items` (sorted by book and id); results in their order. */
export async function runSettles(
  db: Target,
  items: readonly Settle[],
  args: { now: Date; tell: OnAvailable },
): Promise<SettleResult[]> {
  const { common, places, books } = place(items);
  const claimed = items.filter((item) => item.claimed === true).map((item) => item.request_id);
  const { rows } = await db.query<[string, string | null, string | null]>({
    ...SETTLE,
    values: [
      ...common,
      uuidArray(items.map((item) => item.request_id)),
      ...places,
      int8Array(items.map((item) => item.cost_micro_usd)),
      meterNumbers(items),
      claimed.length === 0 ? EMPTY_UUID : uuidArray(claimed),
      args.now,
      items.some(({ run }) => run !== undefined) ? items.map(({ run }) => run ?? null) : EMPTY_UUID,
    ],
  });
  const [letters, charges, available] = rows[0]!;
  tellAvailable(books, available, args.tell);
  const charged = charges === null ? null : charges.slice(1, -1).split(',');
  return items.map((item, i) => {
    const status = SETTLE_STATUS[letters[i]!]!;
    if (status === 'replaced') return { status, charged_micro_usd: microUsd(0) };
    if (status !== 'settled' && status !== 'late') return { status, charged_micro_usd: null };
    const micro = charged === null ? item.cost_micro_usd : (Number(charged[i]) as Settle['cost_micro_usd']);
    return { status, charged_micro_usd: micro };
  });
}

export interface Release {
  readonly book_id: number;
  readonly request_id: string;
}

export interface Extension extends Release {
  readonly total_micro_usd: number;
}

/** Gives the holds of `items` back; what has no hold any more is ignored. */
export async function runReleases(db: Target, items: readonly Release[]): Promise<true[]> {
  await db.query({
    ...RELEASE,
    values: [int8Array(distinctBooks(items)), uuidArray(items.map((item) => item.request_id))],
  });
  return items.map(() => true);
}

export type ExtendResult = 'ok' | 'insufficient_credits' | 'budget_exhausted' | 'missing';
const EXTEND_RESULTS: Readonly<Record<string, ExtendResult>> = {
  o: 'ok',
  c: 'insufficient_credits',
  b: 'budget_exhausted',
  m: 'missing',
};

/** Raises holds to new totals, decided in order. */
export async function runExtensions(db: Target, items: readonly Extension[]): Promise<ExtendResult[]> {
  const { rows } = await db.query<[string]>({
    ...EXTEND,
    values: [
      int8Array(distinctBooks(items)),
      uuidArray(items.map((item) => item.request_id)),
      int8Array(items.map((item) => item.total_micro_usd)),
    ],
  });
  return items.map((_, i) => EXTEND_RESULTS[rows[0]![0][i]!]!);
}

function distinctBooks(items: readonly Release[]): number[] {
  return [...new Set(items.map((item) => item.book_id))].sort((a, b) => a - b);
}
