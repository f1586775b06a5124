// Asks the running installation to compare a day with the books of a rail, and shows what it found. The keys of rails are
// where the programs are, so it is they who ask the rail.
import { setTimeout as wait } from 'node:timers/promises';
import { type Context, machineMs, ServiceError } from '@svc/core/kernel/index.ts';
import { askForDay, type Comparison, findComparison } from '@svc/core/settlements/index.ts';
import type { RailName } from '@svc/core/topups/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { dayOf, railFlag, railOf } from './flags.ts';
import { isRight, textOf, viewOf } from './shown.ts';

const PATIENCE_MS = 120_000;
const LOOK_MS = 500;

/** Waits until the day was compared, or could not be. */
async function waitFor(
  context: Context,
  { rail, day, since }: { rail: RailName; day: string; since: Date },
): Promise<Comparison> {
  const until = machineMs() + PATIENCE_MS;
  for (;;) {
    const found = await findComparison(context, { rail, day });
    const ended = [found?.compared_at, found?.failed_at].some((at) => at != null && at >= since);
    if (found !== null && ended) return found;
    if (machineMs() > until)
      throw new ServiceError(
        'service_unavailable',
        `Nothing has compared ${rail} yet. Is the installation running, and the rail configured? It does as soon as it is.`,
        { details: { component: 'comparison' } },
      );
    await wait(LOOK_MS);
  }
}

export const command: Command = {
  flags: {
    rail: { ...railFlag, doc: 'the rail', required: true },
    day: { type: 'text', doc: 'the day (UTC)', value: 'DAY', required: true },
  },
  example: 'svcctl rails compare --rail rail-a --day 2026-11-21',
  run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const [rail, day] = [railOf(input) as RailName, dayOf(input, 'day') as string];
      const since = context.now();
      if (day > since.toISOString().slice(0, 10)) throw new UsageError('--day has not begun yet');
      await askForDay(context.db, { rail, day, at: since });
      const found = await waitFor(context, { rail, day, since });
      return { json: viewOf(found), text: textOf(found), ok: isRight(found) };
    });
  },
};
