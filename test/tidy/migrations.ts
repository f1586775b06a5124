// Migrations: numbered without a gap, named for one concept, nothing else in their folder or that of the ledger's.
import type { Fault, Source } from './sources.ts';

const FOLDER = 'core/db/migrations/';
const LEDGER = `${FOLDER}ledger/`;

/** Files in the migrations folder that are not the next number, and numbers that are taken twice. */
export function migrationsInOrder(sources: readonly Source[]): Fault[] {
  const files = sources.map(({ path }) => path).filter((path) => path.startsWith(FOLDER));
  const isOfLedger = (path: string) => path.startsWith(LEDGER);
  return [
    ...inOrder(
      FOLDER,
      files.filter((path) => !isOfLedger(path)),
    ),
    ...inOrder(LEDGER, files.filter(isOfLedger)),
  ];
}

function inOrder(folder: string, files: readonly string[]): Fault[] {
  const names = files.map((path) => path.slice(folder.length)).sort();
  return names.flatMap((name, at) => {
    const expected = String(at + 1).padStart(4, '0');
    if (/^\d{4}_[a-z][a-z0-9_]*\.sql$/.test(name) && name.startsWith(expected)) return [];
    return [{ path: folder + name, line: 1, message: `expected ${expected}_<concept>.sql at this place` }];
  });
}
