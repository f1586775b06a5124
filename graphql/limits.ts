// Limits on documents (docs/graphql.md), checked before anything runs. Yoga and mercurius share them, so that both
// refuse the same documents with the same messages.
import { complexityFromQuery } from '@pothos/plugin-complexity';
import { ServiceError } from '@svc/core/kernel/index.ts';
import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql';

export const limits = {
  depth: 12,
  aliases_of_a_field: 15,
  aliases: 30,
  root_fields: 20,
  directives: 20,
  tokens: 5_000,
  fields: 1_000,
  nesting: 200,
  body_bytes: 262_144,
  complexity: 5_000,
  page_default: 20,
  page_max: 100,
  /** Endpoints of one route: a catalog may hold hundreds for one model. */
  route_max: 500,
  timeout_ms: 15_000,
} as const;

export interface Cost {
  readonly requested: number;
  readonly limit: number;
}

function tooMuch(what: string, found: number, limit: number): GraphQLError {
  return new GraphQLError(`The document has ${found} ${what}, the limit is ${limit}.`, {
    extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', limit: what, found, allowed: limit },
  });
}

/**
 * Index where the string that begins at `at` ends: after its closing quotes, or where the lexer will report it
 * unterminated.
 */
function endOfString(text: string, at: number): number {
  const is_block = text.startsWith('"""', at);
  const quotes = is_block ? '"""' : '"';
  for (let i = at + quotes.length; i < text.length; i++) {
    if (text[i] === '\\' && is_block) i += text.startsWith('"""', i + 1) ? 3 : 0;
    else if (text[i] === '\\') i++;
    else if (text.startsWith(quotes, i)) return i + quotes.length;
    else if (!is_block && text[i] === '\n') return i;
  }
  return text.length;
}

/**
 * Refuses a text with deeply nested brackets before it is parsed. Parser, validator and executor recurse once per
 * level, and some thousand levels would overflow the stack. @throws GraphQLError.
 */
export function refuseNesting(text: string): void {
  let nesting = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (character === '"') i = endOfString(text, i) - 1;
    else if (character === '#') {
      const end = text.slice(i).search(/[\n\r]/);
      if (end < 0) break;
      i += end;
    } else if ('[{('.includes(character)) deepest = Math.max(deepest, ++nesting);
    else if (']})'.includes(character)) nesting--;
  }
  if (deepest > limits.nesting) throw tooMuch('levels of nesting', deepest, limits.nesting);
}

/**
 * Limits fields, aliases, directives and root fields as they are written; the cost accounts for what fragments
 * multiply. Throws on entering the document, before any other rule runs, because the rule that compares fields of the
 * same name takes quadratic time.
 */
export const documentLimits: ValidationRule = (context: ValidationContext) => ({
  Document(document) {
    checkDocument(document);
    for (const operation of context.getDocument().definitions) {
      if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
      const roots = rootFields(operation, document);
      if (roots > limits.root_fields) throw tooMuch('root fields', roots, limits.root_fields);
    }
  },
});

function checkDocument(document: DocumentNode): void {
  const by_field = new Map<string, number>();
  let fields = 0;
  let aliases = 0;
  let directives = 0;
  visit(document, {
    Directive() {
      directives++;
    },
    Field(node: FieldNode) {
      fields++;
      if (node.alias === undefined) return;
      aliases++;
      by_field.set(node.name.value, (by_field.get(node.name.value) ?? 0) + 1);
    },
  });
  const of_field = Math.max(0, ...by_field.values());
  if (fields > limits.fields) throw tooMuch('fields', fields, limits.fields);
  if (directives > limits.directives) throw tooMuch('directives', directives, limits.directives);
  if (of_field > limits.aliases_of_a_field) {
    throw tooMuch('aliases of one field', of_field, limits.aliases_of_a_field);
  }
  if (aliases > limits.aliases) throw tooMuch('aliases', aliases, limits.aliases);
}

/** Root fields of an operation. Each fragment counts once, because its fields are merged. */
function rootFields(operation: OperationDefinitionNode, document: DocumentNode): number {
  const seen = new Set<string>();
  const count = (selections: OperationDefinitionNode['selectionSet']['selections']): number => {
    let fields = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields++;
      else if (selection.kind === Kind.INLINE_FRAGMENT) fields += count(selection.selectionSet.selections);
      else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value);
        const fragment = document.definitions.find(
          (found) => found.kind === Kind.FRAGMENT_DEFINITION && found.name.value === selection.name.value,
        );
        if (fragment?.kind === Kind.FRAGMENT_DEFINITION) fields += count(fragment.selectionSet.selections);
      }
    }
    return fields;
  };
  return count(operation.selectionSet.selections);
}

/** The operation of a valid document that `name` selects; null when it selects none. */
export function operationOf(document: DocumentNode, name: string | null): OperationDefinitionNode | null {
  const operations = document.definitions.filter((found) => found.kind === Kind.OPERATION_DEFINITION);
  if (name === null || name === '') return operations.length === 1 ? (operations[0] ?? null) : null;
  return operations.find((operation) => operation.name?.value === name) ?? null;
}

/**
 * The cost of an operation: a field costs 1, a page the cost of its fields times `first`. Fragments count wherever
 * they are spread. @throws GraphQLError beyond the limits of cost and depth, and for variables of the wrong type.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): Cost {
  const fragments = document.definitions.filter((found) => found.kind === Kind.FRAGMENT_DEFINITION);
  const { complexity, depth } = complexityFromQuery(
    { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] },
    { schema, variables },
  );
  if (depth > limits.depth) throw tooMuch('levels', depth, limits.depth);
  if (complexity > limits.complexity) throw tooMuch('points of cost', complexity, limits.complexity);
  return { requested: complexity, limit: limits.complexity };
}

/** Whether `operation` is of `kind`. Mutations need POST; subscriptions are served only where there are streams. */
export function isKind(
  operation: OperationDefinitionNode | null,
  kind: 'mutation' | 'subscription',
): boolean {
  const wanted = kind === 'mutation' ? OperationTypeNode.MUTATION : OperationTypeNode.SUBSCRIPTION;
  return operation?.operation === wanted;
}

/**
 * What `work` resolves with. @throws ServiceError deadline_exceeded after `ms`; statements already running are not
 * cancelled.
 */
export async function withTimeLimit<T>(work: PromiseLike<T> | T, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => {
      fail(new ServiceError('deadline_exceeded', `The query took more than ${ms} ms. Ask for less at once.`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
