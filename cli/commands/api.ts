// Calls an operation of the REST API by its name. The operations and the places of their members come from the
// OpenAPI document of the gateway that is called, so this works with any base URL.
import { isObject } from '@svc/core/kernel/index.ts';
import { type Command, type Result, UsageError } from '../command.ts';
import { call, gatewayFlags, readTarget } from '../gateway-client.ts';

interface Member {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
}

interface ApiOperation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly members: readonly Member[];
}

interface Document {
  readonly paths: Record<
    string,
    Record<string, { operationId?: string; summary?: string; parameters?: Member[] }>
  >;
}

async function readOperations(base: string): Promise<ApiOperation[]> {
  const answer = await fetch(`${base}/openapi.json`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${base}/openapi.json answers ${answer.status}`);
  const { paths } = (await answer.json()) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, summary, parameters }]) =>
      operationId === undefined
        ? []
        : [
            {
              name: operationId,
              method: method.toUpperCase(),
              path,
              summary: summary ?? '',
              members: parameters ?? [],
            },
          ],
    ),
  );
}

/** Members on the command line: `name=text` is text, `name:=json` is a JSON value. */
export function parseMembers(words: readonly string[]): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const word of words) {
    const match = /^([\w-]+)(:?=)(.*)$/s.exec(word);
    if (match === null)
      throw new UsageError(`members are name=text or name:=json, got ${JSON.stringify(word)}`);
    const [, name, sign, value] = match as unknown as [string, string, string, string];
    if (sign === '=') members.set(name, value);
    else {
      try {
        members.set(name, JSON.parse(value));
      } catch {
        throw new UsageError(`${name}:= takes JSON, got ${JSON.stringify(value)}`);
      }
    }
  }
  return members;
}

/**
 * The request for `operation`: members go into the path and query where the operation has them there, all others into
 * the body.
 */
export function requestFor(
  operation: Pick<ApiOperation, 'path' | 'method' | 'members'>,
  given: ReadonlyMap<string, unknown>,
): { path: string; body: string | null } {
  const left = new Map(given);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = left.get(name);
    if (value === undefined) throw new UsageError(`${name}= is needed: it is part of ${operation.path}`);
    left.delete(name);
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams();
  const inQuery = (name: string) =>
    ['GET', 'DELETE'].includes(operation.method) ||
    operation.members.some((member) => member.name === name && member.in === 'query');
  for (const [name, value] of left) {
    if (!inQuery(name)) continue;
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    left.delete(name);
  }
  const body =
    operation.method === 'GET' || operation.method === 'DELETE'
      ? null
      : JSON.stringify(Object.fromEntries(left));
  return { path: query.size > 0 ? `${path}?${query}` : path, body };
}

function listOperations(operations: readonly ApiOperation[]): Result {
  const width = Math.max(0, ...operations.map(({ name }) => name.length));
  const text = operations.map(
    ({ name, method, path, summary }) => `${name.padEnd(width)}  ${method} ${path}  ${summary}`,
  );
  return {
    json: {
      operations: operations.map(({ name, method, path, summary }) => ({ name, method, path, summary })),
    },
    text: text.join('\n'),
  };
}

export const command: Command = {
  positionals: [
    { name: 'OPERATION', doc: 'name of the operation, e.g. keys.list; without one, all are listed' },
    { name: 'MEMBER', doc: 'name=text or name:=json, for path, query and body', many: true },
  ],
  flags: gatewayFlags,
  example: 'svcctl api keys.create name=ci \'scopes:=["inference"]\' project_id=prj_…',
  async run(input) {
    const [name, ...words] = input.positionals;
    const { base, key } = readTarget(input);
    const operations = await readOperations(base);
    if (name === undefined) return listOperations(operations);
    const operation = operations.find((one) => one.name === name);
    if (operation === undefined)
      throw new UsageError(`no operation ${JSON.stringify(name)}; \`svcctl api\` lists them`);
    const request = requestFor(operation, parseMembers(words));
    const { status, ok, value, text } = await call({ base, key }, { method: operation.method, ...request });
    const json = isObject(value) ? value : { status, body: text };
    const shown = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return { json, text: ok ? shown : `${status}\n${shown}`, ok };
  },
};
