// Writes entries of the audit log as CSV, newest first. That an organization's entries left the database is an entry too.
import { closeSync, openSync, writeSync } from 'node:fs';
import { auditCsv, readLog, writeAudit } from '@svc/core/identity/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { filterFlags, filterOf, rangeFlags } from './entries.ts';

const PAGE = 1_000;

export const command: Command = {
  flags: {
    ...filterFlags,
    ...rangeFlags,
    out: { type: 'text', doc: 'the file; it must not exist', value: 'FILE', required: true },
  },
  example: 'svcctl audit export --org acme --since 2026-11-01 --until 2026-12-01 --out audit-2026-11.csv',
  run: (input) =>
    withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const filter = await filterOf(context, input);
      const out = input.get('out');
      // Names of people and their networks stand in it: the file is its owner's alone, and nothing is written over.
      const file = openSync(out, 'wx', 0o600);
      let entries = 0;
      try {
        for (let before: number | null = null; ; ) {
          const rows = await readLog(pool, { filter, before, after: null, limit: PAGE });
          const text = auditCsv(rows);
          writeSync(file, entries === 0 ? text : text.slice(text.indexOf('\n') + 1));
          entries += rows.length;
          before = rows.at(-1)?.id ?? null;
          if (rows.length < PAGE) break;
        }
      } finally {
        closeSync(file);
      }
      await writeAudit(context, {
        ...{
          action: 'audit.export',
          org_id: filter.org_id === '' ? null : filter.org_id,
          after: { entries },
        },
      });
      return { json: { file: out, entries }, text: `${entries} entries in ${out}` };
    }),
};
