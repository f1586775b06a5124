// Builds the console into dist/: documents, pages, and operations.json, the list of documents that the admin
// server lets sessions run. `--documents` stops after the first step, which is what a check of the types needs.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { generateDocuments } from './codegen.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

await generateDocuments();
if (!process.argv.includes('--documents')) {
  await build({ root: here('./'), logLevel: process.argv.includes('--quiet') ? 'warn' : 'info' });
  const hashed = JSON.parse(readFileSync(here('./src/api/gen/persisted-documents.json'), 'utf8'));
  const operations = Object.entries(hashed).map(([hash, text]) => [hash.replace('sha256:', ''), text]);
  writeFileSync(
    here('./dist/operations.json'),
    `${JSON.stringify(Object.fromEntries(operations), null, 1)}\n`,
  );
}
