// Shows entries of the audit log, newest first.
import { readLog } from '@svc/core/identity/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { entryJson, entryLine, filterFlags, filterOf, rangeFlags } from './entries.ts';

const DEFAULT = 50;
const MOST = 1_000;

export const command: Command = {
  flags: {
    ...filterFlags,
    ...rangeFlags,
    limit: { type: 'integer', doc: `how many; default: ${DEFAULT}`, min: 1, max: MOST },
    before: { type: 'integer', doc: 'only those with a number below this one', min: 1 },
  },
  example: 'svcctl audit list --org acme --action keys. --since 2026-11-01',
  run: (input) =>
    withDatabase(async (pool) => {
      const filter = await filterOf(await staffContext(pool), input);
      const limit = input.integer('limit') ?? DEFAULT;
      const rows = await readLog(pool, { filter, before: input.integer('before'), after: null, limit });
      const last = rows.length === limit ? rows.at(-1) : undefined;
      const more = last === undefined ? [] : [`older: --before ${last.id}`];
      const lines = rows.length === 0 ? ['There is no such entry.'] : rows.map(entryLine);
      return { json: { data: rows.map(entryJson) }, text: [...lines, ...more].join('\n') };
    }),
};
