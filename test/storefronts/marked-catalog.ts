// The committed catalog, changed for a test.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { committedCatalog } from '@svc/core/catalog/index.ts';
import { atFileEnd } from '../support/ends.ts';

/** A file that lasts as long as the test file: the committed catalog, where every model costs half more than its provider asks. */
export async function markedCatalog(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-marked-'));
  atFileEnd(() => rm(folder, { recursive: true }));
  const path = join(folder, 'catalog.yaml');
  const text = await readFile(committedCatalog, 'utf8');
  await writeFile(path, text.replace(/^( +)- id: .+\/.+$/gm, '$&\n$1  markup_bps: 5000'));
  return path;
}
