// The periodic work on rows of calls that needs no more of an installation than them.
import { type RequestLog, rebuildRows } from '../analytics/index.ts';
import type { Pool } from '../db/index.ts';
import { publishFigures, readAsked } from '../figures/index.ts';
import { now, type Services } from '../kernel/index.ts';
import type { Job } from '../runtime/index.ts';

const SECOND = 1_000;

interface FigureParts {
  readonly pool: Pool;
  readonly rows?: Pick<Services, 'row_reader'>;
  readonly public_min_orgs?: number;
}

interface RowParts extends FigureParts {
  readonly request_log: Pick<RequestLog, 'write' | 'flush'>;
  readonly cell: string;
}

/** Rebuilds rows of calls that are missing, from their metering records. */
export function rebuildJob({ pool, request_log, cell, rows }: RowParts): Job {
  return {
    name: 'rebuild_rows',
    every_ms: 600 * SECOND,
    run: () => rebuildRows({ pool, request_log, cell, reader: rows?.row_reader, now: now() }),
  };
}

/** Publishes what everybody may see of traffic: every ten minutes, and when staff ask for it. */
export function figureJobs({ pool, rows, public_min_orgs: min_orgs = 3 }: FigureParts): Job[] {
  // One after the other: two at once would sum the same days twice.
  let last: Promise<unknown> = Promise.resolve();
  const publish = () => {
    const made = last.then(() => publishFigures(pool, { now: now(), min_orgs, reader: rows?.row_reader }));
    last = made.catch(() => {});
    return made;
  };
  return [
    { name: 'publish_figures', every_ms: 600 * SECOND, run: publish },
    {
      name: 'publish_asked_figures',
      every_ms: 5 * SECOND,
      run: async () => ((await readAsked(pool)).waiting ? Math.max(1, await publish()) : 0),
    },
  ];
}
