// Builds the console of customers into dist/ and that of staff into dist-staff/: documents, pages, and operations.json,
// the list of documents that a listener knows. Two folders, because each listener serves all of its own and nothing else.
// `--documents` stops after the first step, which is what a check of the types needs.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { generateDocuments } from './codegen.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Puts the compressed forms beside each file: on a slow line most of a first load is the way of these bytes. */
function compress(dir: string): void {
  for (const name of readdirSync(dir).filter((name) => /\.(?:js|css|svg)$/.test(name))) {
    const body = readFileSync(join(dir, name));
    writeFileSync(
      join(dir, `${name}.br`),
      brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    );
    writeFileSync(join(dir, `${name}.gz`), gzipSync(body, { level: 9 }));
  }
}

/** Writes the list of documents that codegen left in each of `folders` into the built `dist`. */
function listOperations(folders: readonly string[], dist: string): void {
  const hashed = folders.map((gen) =>
    JSON.parse(readFileSync(here(`${gen}/persisted-documents.json`), 'utf8')),
  );
  const operations = Object.entries<string>(Object.assign({}, ...hashed)).map(([hash, text]) => [
    hash.replace('sha256:', ''),
    text,
  ]);
  writeFileSync(
    here(`${dist}/operations.json`),
    `${JSON.stringify(Object.fromEntries(operations), null, 1)}\n`,
  );
}

await generateDocuments();
if (!process.argv.includes('--documents')) {
  const logLevel = process.argv.includes('--quiet') ? 'warn' : 'info';
  await build({ root: here('./'), mode: 'staff', logLevel });
  renameSync(here('./dist-staff/staff.html'), here('./dist-staff/index.html'));
  compress(here('./dist-staff/assets'));
  listOperations(['./src/api/gen/staff'], './dist-staff');
  await build({ root: here('./'), logLevel });
  compress(here('./dist/assets'));
  // The last file that is written: what is older than its sources is built anew.
  listOperations(['./src/api/gen', './src/api/gen/tools'], './dist');
}
