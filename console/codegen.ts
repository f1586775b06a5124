// Types and hashes of the documents beside the pages, made from the printed schemas: those of src/staff from the staff
// schema, all others from the tenant schema, in two parts. Nothing of it is committed; build.ts runs this before the types are checked
// and before the pages are built.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generate } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Source {
  readonly schema: string;
  readonly documents: readonly string[];
  readonly to: string;
}

/** How codegen writes a document: its hash, then everything that a parser finds in its text. */
const WRITTEN = /^(export const \w+ = )\{"__meta__":\{"hash":"([^"]+)"\}.*\}( as unknown as )/gm;

/**
 * Puts the text of each document in the place of its tree, which is seven times as long. All pages load all of them,
 * because they are in one file.
 */
function shorten(to: string): void {
  const texts = JSON.parse(readFileSync(here(`${to}persisted-documents.json`), 'utf8')) as Record<
    string,
    string
  >;
  const file = here(`${to}graphql.ts`);
  const written = readFileSync(file, 'utf8').replace(
    WRITTEN,
    (_, begin: string, hash: string, end: string) => {
      const [id, text] = [JSON.stringify(hash), JSON.stringify(texts[hash])];
      return `${begin}/* @__PURE__ */ documentOf(${id}, ${text})${end}`;
    },
  );
  const module = JSON.stringify(relative(here(to), here('./src/api/document.ts')));
  writeFileSync(file, `import { documentOf } from ${module};\n${written}`);
}

async function write({ schema, documents, to }: Source): Promise<void> {
  await generate(
    {
      cwd: here('./'),
      schema: here(schema),
      documents: documents.map((path) => (path.startsWith('!') ? `!${here(path.slice(1))}` : here(path))),
      silent: true,
      generates: {
        [here(to)]: {
          preset,
          documentTransforms: [addTypenameSelectionDocumentTransform],
          presetConfig: {
            fragmentMasking: false,
            persistedDocuments: { mode: 'embedHashInDocument', hashAlgorithm: 'sha256' },
          },
          config: {
            useTypeImports: true,
            enumsAsTypes: true,
            strictScalars: true,
            scalars: {
              ID: 'string',
              MicroUSD: 'string',
              Minor: 'string',
              Count: 'number',
              Date: 'string',
              DateTime: 'string',
              JSON: 'unknown',
            },
          },
        },
      },
    },
    true,
  );
  shorten(to);
}

/** Pages whose documents are loaded with them: each is many, and few people open one of them first. */
const TOOLS = [
  'evals',
  'policies',
  'webhooks',
  'byok',
  'privacy',
  'apps',
  'sign-on',
  'usage',
  'reseller',
  'tickets',
  'audit',
].map((page) => `./src/pages/${page}/**/*.graphql`);

/** Writes typed documents, and persisted-documents.json (SHA-256 in hex to text), for both consoles. */
export async function generateDocuments(): Promise<void> {
  const schema = '../graphql/tenant/schema.graphql';
  await write({
    schema,
    documents: ['./src/**/*.graphql', '!./src/staff/**', ...TOOLS.map((path) => `!${path}`)],
    to: './src/api/gen/',
  });
  await write({ schema, documents: [...TOOLS, './src/api/refusal.graphql'], to: './src/api/gen/tools/' });
  await write({
    schema: '../graphql/staff/schema.graphql',
    documents: ['./src/staff/**/*.graphql', './src/api/refusal.graphql'],
    to: './src/api/gen/staff/',
  });
}
