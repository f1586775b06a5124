// The flags that name a rail and a day.
import { type RailName, railNames } from '@svc/core/topups/index.ts';
import { type Input, UsageError } from '../../command.ts';

/** The rail that was named; null: both. */
export function railOf(input: Input): RailName | null {
  return (input.find('rail') as RailName | null) ?? null;
}

export const railFlag = {
  type: 'text',
  doc: 'one rail; without it all',
  choices: railNames,
} as const;

/** The day of a flag, UTC; null where it was not given. */
export function dayOf(input: Input, flag: string): string | null {
  const text = input.find(flag);
  if (text === null) return null;
  const day = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text))
    throw new UsageError(`--${flag} takes a day like 2026-11-21, got ${JSON.stringify(text)}`);
  return text;
}
