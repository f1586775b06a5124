// Types and hashes of the documents beside the pages, made from the printed schemas: those of src/staff from the staff
// schema, all others from the tenant schema. Nothing of it is committed; build.ts runs this before the types are checked
// and before the pages are built.
import { fileURLToPath } from 'node:url';
import { generate } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Source {
  readonly schema: string;
  readonly documents: readonly string[];
  readonly to: string;
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
}

/** Writes typed documents, and persisted-documents.json (SHA-256 in hex to text), for both consoles. */
export async function generateDocuments(): Promise<void> {
  await write({
    schema: '../graphql/tenant/schema.graphql',
    documents: ['./src/**/*.graphql', '!./src/staff/**'],
    to: './src/api/gen/',
  });
  await write({
    schema: '../graphql/staff/schema.graphql',
    documents: ['./src/staff/**/*.graphql', './src/api/refusal.graphql'],
    to: './src/api/gen/staff/',
  });
}
