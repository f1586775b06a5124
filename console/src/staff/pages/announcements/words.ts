// Words and values of announcements.
import type { AnnouncementRowFragment } from '../../../api/gen/staff/graphql.ts';
import type { Tone } from '../../../ui/status.tsx';

const HOUR_MS = 3_600_000;

/** What audiences that name something take. */
export const named = {
  PLANS: { label: 'Plans', hint: 'With commas: payg, team, scale, enterprise.' },
  COUNTRIES: { label: 'Countries', hint: 'Two letters each, with commas: IN, US.' },
  ORGS: { label: 'Organizations', hint: 'Ids or slugs, with commas.' },
} as const;

/** The end of what is shown for `text` hours from `now_ms` on; null without an end. What is no number is for the server to refuse. */
export function hoursFrom(text: string, now_ms: number): string | null {
  if (text === '') return null;
  const hours = Number(text);
  return Number.isFinite(hours) && Math.abs(hours) < 1_000_000
    ? new Date(now_ms + hours * HOUR_MS).toISOString()
    : text;
}

/** Whether an announcement is shown at `now_ms`. */
export function standing(
  row: Pick<AnnouncementRowFragment, 'startsAt' | 'endsAt'>,
  now_ms: number,
): { tone: Tone; word: string } {
  if (row.endsAt && Date.parse(row.endsAt) <= now_ms) return { tone: 'mute', word: 'ended' };
  if (Date.parse(row.startsAt) > now_ms) return { tone: 'warn', word: 'not yet shown' };
  return { tone: 'ok', word: 'shown' };
}
