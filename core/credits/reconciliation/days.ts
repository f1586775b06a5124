// The days of a reconciliation from what the ledger and the request rows say. Pure.
import type { DayMovements } from '../../ledger/index.ts';

/** What the request rows of a UTC day say: cost and number of calls. */
export interface DayUsage {
  readonly usage_micro: number;
  readonly requests: number;
}

/** A UTC day of one book. opening + added − charged − other debits = closing; variance = charged − usage. */
export interface ReconciliationDay extends DayUsage {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly opening_micro: number;
  readonly added_micro: number;
  readonly charged_micro: number;
  readonly other_debits_micro: number;
  readonly closing_micro: number;
  readonly variance_micro: number;
}

export type ReconciliationTotals = Omit<ReconciliationDay, 'day'>;

const DAY_MS = 86_400_000;

/** The UTC date `days` after `day`. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** How many days lie from `from` to `to`, both included; below 1 where `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

interface Facts {
  readonly from: string;
  readonly to: string;
  /** The balance before the first day. */
  readonly opening_micro: number;
  readonly movements: readonly DayMovements[];
  /** Null: the request rows cannot be read, and nothing is compared. */
  readonly usage: ReadonlyMap<string, DayUsage> | null;
}

/** Every day of the range, oldest first, those without a movement too. */
export function daysOf({ from, to, opening_micro, movements, usage }: Facts): ReconciliationDay[] {
  const moved = new Map(movements.map((each) => [each.day, each]));
  const days: ReconciliationDay[] = [];
  let balance = opening_micro;
  for (let at = 0; at < daysBetween(from, to); at++) {
    const day = dayAfter(from, at);
    const { added_micro = 0, charged_micro = 0, other_debits_micro = 0 } = moved.get(day) ?? {};
    const { usage_micro, requests } = usage?.get(day) ?? { usage_micro: 0, requests: 0 };
    const opening = balance;
    balance += added_micro - charged_micro - other_debits_micro;
    days.push({
      day,
      opening_micro: opening,
      added_micro,
      charged_micro,
      other_debits_micro,
      closing_micro: balance,
      usage_micro,
      requests,
      variance_micro: usage === null ? 0 : charged_micro - usage_micro,
    });
  }
  return days;
}

/** The range as one day: the first opening, the last closing, and sums. @throws Error (a defect) without a day. */
export function totalsOf(days: readonly ReconciliationDay[]): ReconciliationTotals {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a reconciliation of no day');
  const sum = (of: (day: ReconciliationDay) => number) => days.reduce((total, day) => total + of(day), 0);
  return {
    opening_micro: first.opening_micro,
    added_micro: sum((day) => day.added_micro),
    charged_micro: sum((day) => day.charged_micro),
    other_debits_micro: sum((day) => day.other_debits_micro),
    closing_micro: last.closing_micro,
    usage_micro: sum((day) => day.usage_micro),
    requests: sum((day) => day.requests),
    variance_micro: sum((day) => day.variance_micro),
  };
}
