// Moves the clock of a development installation forward, to try out expiry, budgets and retries.

import { now } from '@svc/core/kernel/index.ts';
import { advanceClock } from '@svc/core/runtime/index.ts';
import { type Command, UsageError } from '../command.ts';
import { developmentDatabase } from '../installation.ts';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of `8d`, `90m`, `1h30m`. @throws UsageError on anything else. */
function parseDuration(text: string): number {
  if (!/^(\d+[smhd])+$/.test(text))
    throw new UsageError(`a duration like 8d, 12h or 1h30m is needed, got ${text}`);
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g))
    ms += Number(count) * units[unit as keyof typeof units];
  return ms;
}

export const command: Command = {
  positionals: [{ name: 'DURATION', doc: 'how far: 8d, 12h, 90m, 1h30m', required: true }],
  example: 'svcctl dev clock advance 8d',
  async run(input) {
    const add_ms = parseDuration(input.positionals[0] as string);
    const offset_ms = await developmentDatabase((pool) => advanceClock(pool, add_ms));
    const present = new Date(now().getTime() + offset_ms).toISOString();
    return { json: { offset_ms, now: present }, text: `now ${present} (shifted by ${offset_ms / 1000} s)` };
  },
};
