// Shows entries of the audit log as they are written, until it is ended.
import { type AuditRow, type LogFilter, readLog } from '@svc/core/identity/index.ts';
import type { Db } from '@svc/core/kernel/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { entryJson, entryLine, filterFlags, filterOf } from './entries.ts';

const LOOK_MS = 500;
/**
 * Numbers are given before transactions end, so an entry may appear below one that was shown. This many numbers are read
 * again each time.
 */
const OVERLAP = 1_000;
const PAGE = 2 * OVERLAP;

/** What is new at each look, oldest first: everything above the place where it began, each entry once. */
export function newEntries(db: Db, filter: LogFilter, begin: number): () => Promise<AuditRow[]> {
  let seen: ReadonlySet<number> = new Set();
  let highest = begin;
  return async () => {
    const after = Math.max(begin, highest - OVERLAP);
    const found: AuditRow[] = [];
    for (let before: number | null = null; ; ) {
      const rows = await readLog(db, { filter, before, after, limit: PAGE });
      found.push(...rows);
      before = rows.at(-1)?.id ?? null;
      if (rows.length < PAGE) break;
    }
    const fresh = found.filter(({ id }) => !seen.has(id)).reverse();
    seen = new Set(found.map(({ id }) => id));
    highest = Math.max(highest, found[0]?.id ?? begin);
    return fresh;
  };
}

const everything: LogFilter = {
  ...{ org_id: null, actor: null, action: null, target: null, outcome: null, since: null, until: null },
};

export const command: Command = {
  flags: filterFlags,
  example: 'svcctl audit follow --action staff.',
  run: (input) =>
    withDatabase(async (pool) => {
      const ended = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
      const filter = await filterOf(await staffContext(pool), input);
      const [newest] = await readLog(pool, { filter: everything, before: null, after: null, limit: 1 });
      const look = newEntries(pool, filter, newest?.id ?? 0);
      process.stderr.write('following\n');
      let entries = 0;
      while (!ended.signal.aborted) {
        for (const row of await look()) {
          entries++;
          const line = input.has('json') ? JSON.stringify(entryJson(row)) : entryLine(row);
          process.stdout.write(`${line}\n`);
        }
        await new Promise<void>((done) => {
          const timer = setTimeout(done, LOOK_MS);
          ended.signal.addEventListener('abort', () => {
            clearTimeout(timer);
            done();
          });
        });
      }
      return { json: { entries }, text: `${entries} entries` };
    }),
};
