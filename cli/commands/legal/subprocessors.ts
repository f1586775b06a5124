// Shows the published list of sub-processors, or publishes the next one from a file.
import { readFileSync } from 'node:fs';
import { publishList, readLists, type Subprocessor, SubprocessorView } from '@svc/core/legal/index.ts';
import { Type } from 'typebox';
import Value from 'typebox/value';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

function readEntries(file: string): Subprocessor[] {
  const entries: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Value.Check(Type.Array(SubprocessorView, { maxItems: 100 }), entries))
    throw new UsageError(
      'the file is not a list of {id, name, category, location, purpose, trains, retention_days, zdr, regions}',
    );
  return entries;
}

export const command: Command = {
  flags: {
    publish: { type: 'text', doc: 'JSON file with the entries of the next list', value: 'FILE' },
    version: { type: 'text', doc: 'its name: a date, maybe with .2 after it', value: 'DATE' },
    notice: { type: 'text', doc: 'days before it takes effect; 30 unless given', value: 'DAYS' },
  },
  example: 'svcctl legal subprocessors --publish list.json --version 2026-12-01',
  async run(input) {
    const [file, version, notice] = [input.find('publish'), input.find('version'), input.find('notice')];
    if ((file === null) !== (version === null)) throw new UsageError('--publish and --version go together');
    if (notice !== null && !/^\d{1,3}$/.test(notice)) throw new UsageError('--notice is a number of days');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      if (file !== null && version !== null)
        await publishList(context, {
          ...{ version, entries: readEntries(file) },
          ...(notice === null ? {} : { notice_days: Number(notice) }),
        });
      const { current, pending } = await readLists(context);
      const lines = (current?.entries ?? []).map(({ id, name, location, purpose }) =>
        [id, name, location, purpose].join('  '),
      );
      const next =
        pending === null ? [] : [`next: ${pending.version}, from ${pending.effective_at.toISOString()}`];
      const text = [...lines, ...next].join('\n') || 'Nobody besides the providers of the catalog.';
      return { json: { current, pending }, text };
    });
  },
};
