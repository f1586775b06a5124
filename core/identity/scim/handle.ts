// A request of a directory, from its path to its answer, and the row of the log that every request leaves.
import { type Context, isId, type JsonObject, ServiceError } from '../../kernel/index.ts';
import { addressHere } from '../seller.ts';
import { directoryOf } from './directory.ts';
import { describeSchemas, describeTypes, serviceProviderConfig } from './discovery.ts';
import { hasTag } from './etag.ts';
import { faultBody, missing, ScimFault, wrong } from './fault.ts';
import {
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  patchGroup,
  replaceGroup,
  viewGroup,
} from './groups.ts';
import { listOfResources, readQuery, readSearch, type Shown, showing, shows, type Wanted } from './list.ts';
import { insertLogRow } from './token-store.ts';
import { viewUser } from './user-record.ts';
import { createUser, deleteUser, getUser, listUsers, patchUser, replaceUser } from './users.ts';

interface ScimRequest {
  readonly method: string;
  /** The parts of the path behind `/scim/v2`, decoded. */
  readonly path: readonly string[];
  readonly query: JsonObject;
  /** Reads the body. @throws ScimFault invalidSyntax, ServiceError. */
  body(): unknown;
}

interface ScimAnswer {
  readonly status: number;
  /** Null: none. */
  readonly body: object | null;
  readonly location?: string;
  readonly etag?: string;
}

interface Asked extends ScimRequest {
  readonly wanted: Wanted;
}

/** What can be done with one type of resource. */
interface Resources {
  list(context: Context, wanted: Wanted): Promise<{ total: number; shown: JsonObject[] }>;
  create(context: Context, body: unknown): Promise<JsonObject>;
  get(context: Context, id: string, shown: Shown): Promise<JsonObject>;
  replace(context: Context, id: string, asked: Asked): Promise<JsonObject>;
  patch(context: Context, id: string, asked: Asked): Promise<JsonObject>;
  delete(context: Context, id: string): Promise<void>;
}

const users: Resources = {
  async list(context, { slice }) {
    const { total, records } = await listUsers(context, slice);
    return { total, shown: await Promise.all(records.map((record) => viewUser(context, record))) };
  },
  create: async (context, body) => viewUser(context, await createUser(context, body)),
  get: async (context, id) => viewUser(context, await getUser(context, id)),
  replace: async (context, id, asked) => viewUser(context, await replaceUser(context, id, asked.body())),
  patch: async (context, id, asked) => viewUser(context, await patchUser(context, id, asked.body())),
  delete: deleteUser,
};

/** Members are read only where they are shown: a group may have thousands. */
const withMembers = (shown: Shown) => shows(shown, 'members');

const groups: Resources = {
  async list(context, { slice, shown }) {
    const { total, records } = await listGroups(context, slice, withMembers(shown));
    return { total, shown: await Promise.all(records.map((record) => viewGroup(context, record))) };
  },
  create: async (context, body) => viewGroup(context, await createGroup(context, body)),
  get: async (context, id, shown) => viewGroup(context, await getGroup(context, id, withMembers(shown))),
  replace: async (context, id, asked) =>
    viewGroup(context, await replaceGroup(context, id, asked.body(), withMembers(asked.wanted.shown))),
  patch: async (context, id, asked) =>
    viewGroup(context, await patchGroup(context, id, asked.body(), withMembers(asked.wanted.shown))),
  delete: deleteGroup,
};

const types: Readonly<Record<string, Resources>> = { Users: users, Groups: groups };

function answerOf(status: number, resource: JsonObject, shown: Shown): ScimAnswer {
  const { location, version } = resource['meta'] as { location: string; version: string };
  return {
    ...{ status, body: showing(shown, resource), etag: version },
    ...(status === 201 ? { location } : {}),
  };
}

async function answerList(context: Context, resources: Resources, wanted: Wanted): Promise<ScimAnswer> {
  const { total, shown } = await resources.list(context, wanted);
  const body = listOfResources(
    total,
    wanted.slice.offset,
    shown.map((one) => showing(wanted.shown, one)),
  );
  return { status: 200, body };
}

function notAllowed(): ScimFault {
  return new ScimFault(405, null, 'The path does not take this method.');
}

async function onAll(context: Context, resources: Resources, asked: Asked): Promise<ScimAnswer> {
  const { method, wanted } = asked;
  if (method === 'GET') return answerList(context, resources, wanted);
  if (method !== 'POST') throw notAllowed();
  return answerOf(201, await resources.create(context, asked.body()), wanted.shown);
}

async function onOne(context: Context, resources: Resources, id: string, asked: Asked): Promise<ScimAnswer> {
  const { shown } = asked.wanted;
  switch (asked.method) {
    case 'GET': {
      const answer = answerOf(200, await resources.get(context, id, shown), shown);
      const is_held = answer.etag !== undefined && hasTag(context, answer.etag);
      return is_held ? { ...answer, status: 304, body: null } : answer;
    }
    case 'PUT':
      return answerOf(200, await resources.replace(context, id, asked), shown);
    case 'PATCH':
      return answerOf(200, await resources.patch(context, id, asked), shown);
    case 'DELETE':
      await resources.delete(context, id);
      return { status: 204, body: null };
    default:
      throw notAllowed();
  }
}

async function describe(context: Context, { method, path }: ScimRequest): Promise<ScimAnswer | null> {
  const [name, id] = path;
  const known = { ServiceProviderConfig: 1, ResourceTypes: 2, Schemas: 2 } as Record<
    string,
    number | undefined
  >;
  const length = name === undefined ? undefined : known[name];
  if (length === undefined || path.length > length) return null;
  if (method !== 'GET') throw notAllowed();
  const address = await addressHere(context);
  if (name === 'ServiceProviderConfig') return { status: 200, body: serviceProviderConfig(address) };
  return {
    status: 200,
    body: name === 'Schemas' ? describeSchemas(address, id) : describeTypes(address, id),
  };
}

async function route(context: Context, request: ScimRequest): Promise<ScimAnswer> {
  const described = await describe(context, request);
  if (described !== null) return described;
  const { path, method } = request;
  const [name = '', id] = path;
  if (name === 'Me' || name === 'Bulk' || name === '.search')
    throw new ScimFault(501, null, `${name} is not supported.`);
  const resources = Object.hasOwn(types, name) ? types[name] : undefined;
  if (resources === undefined || path.length > 2) throw missing();
  if (id === '.search') {
    if (method !== 'POST') throw notAllowed();
    return answerList(context, resources, readSearch(request.body()));
  }
  const asked: Asked = { ...request, wanted: readQuery(request.query), body: () => request.body() };
  return id === undefined ? onAll(context, resources, asked) : onOne(context, resources, id, asked);
}

/** A refusal as SCIM says it; null for what is none. */
function faultOf(error: unknown): ScimFault | null {
  if (error instanceof ScimFault) return error;
  if (!(error instanceof ServiceError)) return null;
  if (error.code === 'not_found') return missing();
  if (error.code === 'last_owner') return wrong('mutability', error.message);
  if (error.code === 'invalid_json') return wrong('invalidSyntax', error.message);
  return new ScimFault(error.status, null, error.message);
}

/** Paths as they are kept: of what stands in the place of an id, nothing but an id. */
function keptPath([name = '', id, ...more]: readonly string[]): string {
  const is_known =
    Object.hasOwn(types, name) || /^(?:ServiceProviderConfig|ResourceTypes|Schemas|Me|Bulk)$/.test(name);
  const kept = id === undefined || id === '.search' || isId('user', id) || isId('group', id) ? id : '…';
  return [
    '',
    is_known ? name : '…',
    ...(kept === undefined ? [] : [kept]),
    ...(more.length === 0 ? [] : ['…']),
  ].join('/');
}

async function log(
  context: Context,
  { method, path }: ScimRequest,
  answer: ScimAnswer,
  fault: ScimFault | null,
) {
  const { org_id, token_id } = directoryOf(context);
  const [name = '', id = ''] = path;
  const made = answer.status === 201 ? ((answer.body as { id?: string }).id ?? '') : '';
  const is_named = isId('user', id) || isId('group', id);
  await insertLogRow(context.db, {
    ...{ org_id, token_id, at: context.now(), method, path: keptPath(path) },
    resource_type: Object.hasOwn(types, name) ? name.slice(0, -1) : '',
    ...{ resource_id: is_named ? id : made, status: answer.status },
    reason: fault === null ? '' : (fault.scim_type ?? String(fault.status)),
  });
}

/**
 * The answer to a request of the directory that calls. Every request leaves a row in the log, a refused one too, which has
 * changed nothing. Defects are thrown.
 */
export async function answerScim(context: Context, request: ScimRequest): Promise<ScimAnswer> {
  try {
    const answer = await route(context, request);
    await log(context, request, answer, null);
    return answer;
  } catch (error) {
    const fault = faultOf(error);
    const { status, scim_type, message } =
      fault ?? new ScimFault(500, null, 'Something went wrong on our side.');
    const answer = { status, body: faultBody(status, scim_type, message) };
    await log(context, request, answer, fault ?? new ScimFault(500, null, ''));
    if (fault === null) throw error;
    return answer;
  }
}
