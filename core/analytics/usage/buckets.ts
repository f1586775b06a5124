// The buckets of usage: hours of UTC, or days as the reader's calendar has them. Pure.
import { invalid, ServiceError, timeInMs } from '../../kernel/index.ts';

export const usageRanges = ['24h', '7d', '30d', '90d', 'custom'] as const;
export const usageGranularities = ['hour', 'day'] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_MAX = 400;
const spans = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS, '90d': 90 * DAY_MS } as const;

/** Where a zone's wall clock stands at `at`, as if it were UTC (milliseconds). */
type WallClock = (at: number) => number;

const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
const ZONES_MAX = 64;
const clocks = new Map<string, WallClock>();

function clockOf(zone: string): WallClock | null {
  if (!ZONE.test(zone)) return null;
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      ...{ ...parts, minute: 'numeric', second: 'numeric' },
      ...{ timeZone: zone, hourCycle: 'h23', calendar: 'iso8601' },
    });
    return (at) => {
      const of = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = of;
      return Date.UTC(year, month - 1, day, hour, minute, second);
    };
  } catch {
    return null;
  }
}

/** @throws ServiceError invalid_request for a zone that is not in the IANA database. */
function wallClock(zone: string): WallClock {
  const known = clocks.get(zone) ?? clockOf(zone);
  if (known === null) throw invalid('timezone', 'format', 'timezone is a name like Asia/Kolkata.');
  if (clocks.size >= ZONES_MAX) clocks.clear();
  clocks.set(zone, known);
  return known;
}

const dayOf = (wall: number) => Math.floor(wall / DAY_MS);

/** The first moment of the calendar's day `day` (days since 1970). Where clocks leap over midnight, the moment they leap. */
function startOf(day: number, clock: WallClock): number {
  const midnight = day * DAY_MS;
  const offset = clock(midnight) - midnight;
  const guess = midnight - (clock(midnight - offset) - (midnight - offset));
  if (clock(guess) === midnight && dayOf(clock(guess - 1_000)) < day) return guess;
  // A change of clocks near midnight: the first second of the day, found by halves. Zones lie within 15 hours of UTC.
  let [before, after] = [midnight - 15 * HOUR_MS, midnight + 15 * HOUR_MS];
  while (after - before > 1_000) {
    const middle = before + Math.floor((after - before) / 2_000) * 1_000;
    if (dayOf(clock(middle)) < day) before = middle;
    else after = middle;
  }
  return after;
}

/** Starts of the days of `zone` that lie in `[from, to)`, the one that `from` is in first; ascending. */
export function dayStarts(of: { from: number; to: number }, zone = 'UTC'): number[] {
  const clock = wallClock(zone);
  const starts: number[] = [];
  for (let day = dayOf(clock(of.from)); ; day++) {
    const start = startOf(day, clock);
    if (start >= of.to && starts.length > 0) return starts;
    // A day that a zone left out begins with the next one.
    if (start !== starts.at(-1)) starts.push(start);
  }
}

function hourStarts({ from, to }: { from: number; to: number }): number[] {
  const first = Math.floor(from / HOUR_MS);
  return Array.from({ length: Math.ceil(to / HOUR_MS) - first }, (_, i) => (first + i) * HOUR_MS);
}

interface Asked {
  readonly range?: (typeof usageRanges)[number];
  readonly from?: string;
  readonly to?: string;
  readonly granularity?: (typeof usageGranularities)[number];
  readonly timezone?: string;
}

export interface UsageRange {
  /** The start of the first bucket. */
  readonly from: number;
  readonly to: number;
  readonly unit: 'hour' | 'day';
  readonly zone: string;
  readonly starts: readonly number[];
}

/** @throws ServiceError invalid_request, range_too_long. */
function customRange({ from, to }: Asked): { from: number; to: number } {
  if (from === undefined) throw invalid('from', 'missing', 'A range of your own needs from.');
  if (to === undefined) throw invalid('to', 'missing', 'A range of your own needs to.');
  const range = { from: timeInMs(from), to: timeInMs(to) };
  if (range.from >= range.to) throw invalid('from', 'range', 'from lies before to.');
  if (range.to - range.from > DAYS_MAX * DAY_MS) {
    throw new ServiceError('range_too_long', `A range has at most ${DAYS_MAX} days.`, {
      param: 'from',
      details: { days_max: DAYS_MAX },
    });
  }
  return range;
}

/** What is asked for by name; sums of another time than the given one would be taken for those of the given one. */
function nameOf({ range, from, to }: Asked): NonNullable<Asked['range']> {
  if (from === undefined && to === undefined) return range ?? '24h';
  if (range === undefined || range === 'custom') return 'custom';
  const field = from === undefined ? 'to' : 'from';
  throw invalid(field, 'conflict', `${field} goes with range=custom, or with no range.`);
}

/** The range that `asked` names at `now` (milliseconds). @throws ServiceError invalid_request, range_too_long. */
export function usageRange(asked: Asked, now: number): UsageRange {
  const { timezone: zone = 'UTC' } = asked;
  const range = nameOf(asked);
  const { from, to } = range === 'custom' ? customRange(asked) : { from: now - spans[range], to: now };
  const natural = to - from > 30 * DAY_MS ? 'day' : 'hour';
  const unit = to - from > 90 * DAY_MS ? 'day' : (asked.granularity ?? natural);
  // A zone that nobody knows is refused also where it changes nothing.
  wallClock(zone);
  const starts = unit === 'day' ? dayStarts({ from, to }, zone) : hourStarts({ from, to });
  return { from: starts[0] as number, to, unit, zone, starts };
}
