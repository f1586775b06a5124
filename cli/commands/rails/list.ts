// Shows what the daily comparison with the books of the rails has found.
import { comparisonsOf } from '@svc/core/settlements/index.ts';
import { railNames } from '@svc/core/topups/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { dayOf, railFlag, railOf } from './flags.ts';
import { isRight, textOf, viewOf } from './shown.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;

export const command: Command = {
  flags: {
    rail: railFlag,
    from: { type: 'text', doc: 'first day (UTC); default: 29 days before the last', value: 'DAY' },
    to: { type: 'text', doc: 'last day, included; default: today', value: 'DAY' },
  },
  example: 'svcctl rails list --from 2026-11-01 --to 2026-11-30',
  run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const to = dayOf(input, 'to') ?? context.now().toISOString().slice(0, 10);
      const first = new Date(Date.parse(to) - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
      const from = dayOf(input, 'from') ?? first;
      const one = railOf(input);
      const rails = one === null ? railNames : [one];
      const found = (
        await Promise.all(rails.map((rail) => comparisonsOf(context.db, { rail, from, to })))
      ).flat();
      const lines = found.map(textOf);
      const text = lines.length === 0 ? 'no day was compared' : lines.join('\n');
      return { json: { comparisons: found.map(viewOf) }, text, ok: found.every(isRight) };
    });
  },
};
