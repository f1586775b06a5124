// A GraphQL document as the pages carry it: hash and text. Most of the console's documents are never sent by a page, so each is
// parsed when it is first looked into.
import { type DocumentNode, parse } from '@0no-co/graphql.web';

/** The document of `text`, which the server knows by `hash`. */
export function documentOf(hash: string, text: string): object {
  let parsed: DocumentNode['definitions'] | null = null;
  return {
    kind: 'Document',
    __meta__: { hash },
    get definitions() {
      parsed ??= parse(text, { noLocation: true }).definitions;
      return parsed;
    },
  };
}
