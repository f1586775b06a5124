// Instants as text: the reader's zone on the page, UTC with milliseconds on hover. Days of money are UTC and say so.

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const fullDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const utcDay = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** The instant of a DateTime of the API, also of a row time ("2026-11-21 10:00:00.000", UTC without saying so). */
export function instantOf(text: string): Date {
  return new Date(text.includes('T') ? text : `${text.replace(' ', 'T')}Z`);
}

/** "2026-11-21 10:42:07.318 UTC". */
export function utcText(at: Date): string {
  return `${at.toISOString().replace('T', ' ').slice(0, 23)} UTC`;
}

/** The time of day for dense feeds, with the date when it is not today's. */
export function feedText(at: Date, now: Date): string {
  return at.toDateString() === now.toDateString() ? clock.format(at) : dayAndClock.format(at);
}

/** "2 minutes ago", from four weeks on the date. */
export function agoText(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  const size = Math.abs(seconds);
  if (size < 45) return seconds > 0 ? 'in a moment' : 'just now';
  if (size < 3_600) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour');
  if (size < 28 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day');
  return fullDay.format(at);
}

const utcDate = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' },
});

const kolkata = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'Asia/Kolkata' },
});

/** The date that a document bears, wherever it is read: that of Kolkata. */
export function documentDate(at: Date): string {
  return kolkata.format(at);
}

/** "21 Nov 2026" of a UTC day "2026-11-21", where the year counts. */
export function dateText(day: string): string {
  return utcDate.format(new Date(`${day}T00:00:00Z`));
}

/** "Nov 21" of a UTC day "2026-11-21". */
export function dayText(day: string): string {
  return utcDay.format(new Date(`${day}T00:00:00Z`));
}

/** The last `count` UTC days up to `now`, oldest first, as "2026-11-21". */
export function lastDays(count: number, now: Date): string[] {
  return Array.from({ length: count }, (_, i) =>
    new Date(now.getTime() - (count - 1 - i) * 86_400_000).toISOString().slice(0, 10),
  );
}

/** The reader's zone as a table head names it: "UTC", "GMT+5:30". */
export function zoneName(now: Date): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(now);
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
}

/** A minute of UTC ("2026-11-19T18:30Z") as a field for local times has it: "2026-11-20T00:00". */
export function localMinute(minute: string): string {
  const at = new Date(minute);
  const two = (count: number) => String(count).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The minute of UTC that a field for local times has; undefined where it has none. */
export function utcMinute(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : `${at.toISOString().slice(0, 16)}Z`;
}

/** How a person is greeted at this hour of their clock. */
export function greetingAt(now: Date): string {
  const hour = now.getHours();
  if (hour < 5) return 'Hello';
  if (hour < 12) return 'Good morning';
  return hour < 18 ? 'Good afternoon' : 'Good evening';
}
