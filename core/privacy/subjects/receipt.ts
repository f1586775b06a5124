// The digest of an erasure: SHA-256 over the sorted ids of its calls, each with a line feed behind it. Whoever exported the
// subject before can recompute it; from the digest nobody finds the calls again.
import { Sha256 } from '../../kernel/index.ts';

/** The digest over ids that come in ascending order of their bytes, a page at a time. */
export async function digestOf(pages: AsyncIterable<readonly string[]>): Promise<string> {
  const hash = new Sha256();
  for await (const page of pages) for (const id of page) hash.add(`${id}\n`);
  return hash.hex();
}

/** The digest over ids in any order, as people have them in a file. */
export function digestOfIds(ids: Iterable<string>): string {
  const hash = new Sha256();
  // Ids are ASCII: the order of their characters is that of their bytes.
  for (const id of [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1))) hash.add(`${id}\n`);
  return hash.hex();
}
