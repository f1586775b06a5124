// Gifts, codes and check-ins in words. Pure.
import type { GiftRowFragment } from '../../../api/gen/graphql.ts';
import type { Shape, Tone } from '../../../ui/status.tsx';

const marks: Record<GiftRowFragment['status'], { tone: Tone; shape: Shape; word: string }> = {
  OPEN: { tone: 'mute', shape: 'half', word: 'open' },
  REDEEMED: { tone: 'ok', shape: 'ok', word: 'redeemed' },
  CANCELLED: { tone: 'mute', shape: 'mute', word: 'given back' },
};

/** How the state of a gift is shown. */
export function giftMark(status: GiftRowFragment['status']) {
  return marks[status];
}

/** "Once a day, until midnight UTC; it ends after 30 days." */
export function checkinText({ doneToday, creditDays }: { doneToday: boolean; creditDays: number }): string {
  const ends = `The credit ends after ${creditDays} days.`;
  return doneToday ? `The next is from midnight UTC. ${ends}` : ends;
}

/** Days in a row; nothing for none. */
export function streakText(days: number): string {
  if (days === 0) return '';
  return days === 1 ? 'One day so far.' : `${days} days in a row.`;
}

/** A code of a gift or of staff while it is typed: groups of four after the prefix; anything else stays. */
export function groupedCode(text: string): string {
  const plain = text.toUpperCase().replaceAll(/[\s\p{Pd}]/gu, '');
  const [, prefix, rest] = /^(GIFT|CR)([0-9A-Z]*)$/.exec(plain) ?? [];
  if (prefix === undefined || rest === undefined || rest === '') return text;
  return [prefix, ...(rest.match(/.{1,4}/g) ?? [])].join('-');
}
