// The GraphQL client: documents go by hash, answers into a document cache.
import {
  type AnyVariables,
  Client,
  cacheExchange,
  type DocumentInput,
  fetchExchange,
  makeOperation,
  mapExchange,
  stringifyDocument,
  type TypedDocumentNode,
} from '@urql/core';
import { graphqlHeaders, guardedFetch, sessionEnded } from './session.ts';

const ADDRESS = '/graphql';
/** Text of each document that was sent by its hash, for a server that does not know the hash (another version). */
const texts = new Map<string, string>();

interface Hashed {
  readonly __meta__?: { readonly hash?: string };
}
interface PersistedQuery {
  readonly version: 1;
  readonly sha256Hash: string;
}

/** The hash that is sent in place of a document's text; null in development, where documents are sent as text. */
function persistedQueryOf(document: DocumentInput): PersistedQuery | null {
  const hash = (document as Hashed).__meta__?.hash?.replace('sha256:', '');
  if (hash === undefined || import.meta.env.DEV) return null;
  if (!texts.has(hash)) texts.set(hash, stringifyDocument(document as TypedDocumentNode));
  return { version: 1, sha256Hash: hash };
}

interface Body {
  query?: string;
  extensions?: { persistedQuery?: PersistedQuery };
}

/** Sends a request; once more with its text when the server does not know the hash. */
const send: typeof fetch = async (input, init) => {
  const response = await guardedFetch(input, init);
  if (response.status === 401) sessionEnded();
  const type = response.headers.get('content-type') ?? '';
  const body = JSON.parse(String(init?.body ?? '{}')) as Body;
  const text = texts.get(body.extensions?.persistedQuery?.sha256Hash ?? '');
  if (text === undefined || body.query !== undefined || !type.includes('json')) return response;
  const answer = await response.text();
  if (answer.includes('"PersistedQueryNotFound"')) {
    return guardedFetch(input, {
      ...init,
      body: JSON.stringify({ ...body, extensions: undefined, query: text }),
    });
  }
  const { status, statusText, headers } = response;
  return new Response(answer, { status, statusText, headers });
};

const byHash = mapExchange({
  onOperation(operation) {
    const persistedQuery = persistedQueryOf(operation.query);
    if (persistedQuery === null || operation.kind === 'teardown') return operation;
    const request = { ...operation, extensions: { ...operation.extensions, persistedQuery } };
    return makeOperation(operation.kind, request, operation.context);
  },
  onError(error) {
    const code = error.graphQLErrors[0]?.extensions['code'];
    if (code === 'authentication_required' || code === 'session_expired') sessionEnded();
  },
});

/** A query that finds no connection answers what it has read last beside its error: what was read stays on the page. */
function keepsLast() {
  const last = new Map<number, unknown>();
  return mapExchange({
    onResult(result) {
      const { operation, data, error } = result;
      if (operation.kind !== 'query') return result;
      if (data) last.set(operation.key, data);
      else if (error?.networkError) return { ...result, data: last.get(operation.key) };
      return result;
    },
  });
}

/**
 * A client whose requests all act for `org_id`, where they act for one; another organisation is another client with an
 * empty cache.
 */
export function createClient(org_id: string | null): Client {
  return new Client({
    url: ADDRESS,
    preferGetMethod: false,
    exchanges: [byHash, keepsLast(), cacheExchange, fetchExchange],
    fetch: send,
    fetchOptions: () => ({ headers: graphqlHeaders(org_id) }),
    requestPolicy: 'cache-and-network',
  });
}

/** Opens a subscription: the answer is a stream of events while it is open, else a refusal. */
export function openStream<D, V extends AnyVariables>(args: {
  org_id: string;
  document: TypedDocumentNode<D, V>;
  variables: V;
  signal: AbortSignal;
}): Promise<Response> {
  const persistedQuery = persistedQueryOf(args.document as DocumentInput);
  const named =
    persistedQuery === null
      ? { query: stringifyDocument(args.document) }
      : { extensions: { persistedQuery } };
  return send(ADDRESS, {
    method: 'POST',
    signal: args.signal,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...graphqlHeaders(args.org_id),
    },
    body: JSON.stringify({ ...named, variables: args.variables }),
  });
}
