// Builds the console into dist/: documents, pages, and operations.json, the list of documents that the admin
// server lets sessions run. `--documents` stops after the first step, which is what a check of the types needs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
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

await generateDocuments();
if (!process.argv.includes('--documents')) {
  await build({ root: here('./'), logLevel: process.argv.includes('--quiet') ? 'warn' : 'info' });
  compress(here('./dist/assets'));
  const hashed = JSON.parse(readFileSync(here('./src/api/gen/persisted-documents.json'), 'utf8'));
  const operations = Object.entries(hashed).map(([hash, text]) => [hash.replace('sha256:', ''), text]);
  writeFileSync(
    here('./dist/operations.json'),
    `${JSON.stringify(Object.fromEntries(operations), null, 1)}\n`,
  );
}
