// Local times of rules (`match.time`). The formatter of a zone is made once, its reading kept for a minute.

const MINUTE = 60_000;
const ZONES_MAX = 1_000;
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
type Day = (typeof days)[number];

interface Zone {
  readonly format: Intl.DateTimeFormat;
  minute: number;
  day: number;
  minutes: number;
}

const zones = new Map<string, Zone>();

/** Whether `tz` is a time zone that this machine knows. */
export function isTimeZone(tz: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    return true;
  } catch {
    return false;
  }
}

/** Day of the week (0 is Sunday) and minutes since midnight at `now_ms` in `tz`. */
function localTime(tz: string, now_ms: number): Zone {
  let zone = zones.get(tz);
  if (zone === undefined) {
    const format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: tz, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    });
    zone = { format, minute: Number.NaN, day: 0, minutes: 0 };
    if (zones.size >= ZONES_MAX) zones.clear();
    zones.set(tz, zone);
  }
  const minute = Math.floor(now_ms / MINUTE);
  if (zone.minute !== minute) {
    const parts = new Map(zone.format.formatToParts(now_ms).map(({ type, value }) => [type, value]));
    zone.minute = minute;
    zone.day = days.indexOf((parts.get('weekday') as string).toLowerCase() as Day);
    zone.minutes = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  }
  return zone;
}

function minutesOf(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
}

/**
 * Whether `now_ms` lies in the window; `from` is inside, `to` is not. A window over midnight belongs to the day on which
 * it began.
 */
export function isWithin(
  window: { tz: string; days?: readonly Day[]; from?: string; to?: string },
  now_ms: number,
): boolean {
  const { day, minutes } = localTime(window.tz, now_ms);
  const from = window.from === undefined ? 0 : minutesOf(window.from);
  const to = window.to === undefined ? 24 * 60 : minutesOf(window.to);
  const isOn = (index: number) => window.days?.includes(days[index] as Day) ?? true;
  if (from < to) return minutes >= from && minutes < to && isOn(day);
  return (minutes >= from && isOn(day)) || (minutes < to && isOn((day + 6) % 7));
}
