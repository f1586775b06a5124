// Buckets of usage as text. Apart from other times, because few people open usage first.
import { plural } from './numbers.ts';

/** The reader's own zone, as the IANA database names it. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const inZones = new Map<string, Intl.DateTimeFormat>();

/** The bucket that begins at `at`: "Nov 21" of a day in `zone`, "Nov 21, 14:00" of an hour. */
export function bucketText(at: string, unit: 'DAY' | 'HOUR', zone: string): string {
  const key = `${unit} ${zone}`;
  let format = inZones.get(key);
  if (format === undefined) {
    const clock = unit === 'DAY' ? {} : ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const);
    format = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone: zone, ...clock });
    inZones.set(key, format);
  }
  return format.format(new Date(at));
}

/** A time in whole minutes, from two hours on in hours: "3 minutes", "41 hours". */
export function spanText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? plural(minutes, 'minute') : plural(Math.round(minutes / 60), 'hour');
}
