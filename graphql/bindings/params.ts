// GraphQL over HTTP for an endpoint that reads its own requests: parameters in, status and media type out
// (docs/graphql.md).
import { isObject } from '@svc/core/kernel/index.ts';
import { GraphQLError } from 'graphql';
import { refuseNesting } from '../limits.ts';

interface GraphqlParams {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly operationName: string | null;
}

function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'GRAPHQL_BAD_REQUEST' } });
}

/** The parameters of a POST body. @throws GraphQLError with the code GRAPHQL_BAD_REQUEST. */
export function readParams(body: unknown): GraphqlParams {
  if (Array.isArray(body)) throw badRequest('Send one operation, not a list.');
  if (!isObject(body)) throw badRequest('The body is an object with query, variables and operationName.');
  const { query, variables = null, operationName = null, extensions = null } = body;
  if (typeof query !== 'string' || query === '') throw badRequest('query is the text of a document.');
  // A server might accept a parsed tree instead of text, and so bypass the limit on tokens.
  if (/^\s*[{[]\s*"/.test(query)) throw badRequest('query is the text of a document.');
  refuseNesting(query);
  if (variables !== null && !isObject(variables)) throw badRequest('variables is an object.');
  if (operationName !== null && typeof operationName !== 'string') throw badRequest('operationName is text.');
  if (extensions !== null && !isObject(extensions)) throw badRequest('extensions is an object.');
  return { query, variables: variables ?? {}, operationName };
}

/** The parameters of a GET, as a body would have them. @throws GraphQLError with the code GRAPHQL_BAD_REQUEST. */
export function paramsInUrl(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const name of ['query', 'operationName'] as const) {
    if (query[name] !== undefined) params[name] = query[name];
  }
  for (const name of ['variables', 'extensions'] as const) {
    const text = query[name];
    if (text === undefined || text === '') continue;
    if (typeof text !== 'string') throw badRequest(`${name} is given more than once.`);
    try {
      params[name] = JSON.parse(text);
    } catch {
      throw badRequest(`${name} is a JSON object.`);
    }
  }
  return params;
}

const RESPONSE_TYPE = 'application/graphql-response+json';

/** The media type of an answer to a request with this `accept` header; null when it accepts none that we send. */
export function answerType(accept: string | undefined): string | null {
  if (accept === undefined || accept === '') return 'application/json; charset=utf-8';
  const types = accept.split(',').map((item) => (item.split(';')[0] as string).trim().toLowerCase());
  if (types.includes(RESPONSE_TYPE)) return `${RESPONSE_TYPE}; charset=utf-8`;
  const takes_json = types.some((type) => ['application/json', 'application/*', '*/*'].includes(type));
  return takes_json ? 'application/json; charset=utf-8' : null;
}
