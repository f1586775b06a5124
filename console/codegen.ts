// Types and hashes of the documents beside the pages, made from the printed tenant schema. Nothing of it is
// committed; build.ts runs this before the types are checked and before the pages are built.
import { fileURLToPath } from 'node:url';
import { generate } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Writes src/api/gen: typed documents, and persisted-documents.json (SHA-256 in hex to text). */
export async function generateDocuments(): Promise<void> {
  await generate(
    {
      cwd: here('./'),
      schema: here('../graphql/tenant/schema.graphql'),
      documents: [here('./src/**/*.graphql')],
      silent: true,
      generates: {
        [here('./src/api/gen/')]: {
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
