// Saved views: questions about usage that people keep under a name. A view has the question, never an answer.
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import {
  type Context,
  type Id,
  idOf,
  invalid,
  isId,
  lineOf,
  listOf,
  type MemberCaller,
  Nothing,
  named,
  notFound,
  operation,
  orgCaller,
  ServiceError,
  Time,
} from '../../kernel/index.ts';
import { lockOrg } from '../../orgs/index.ts';
import { usageRange } from '../usage/buckets.ts';
import { callerFilterOf } from '../usage/caller-filters.ts';
import { refuseNameless, UsageInput } from '../usage.ts';
import {
  countUsageViews,
  deleteUsageView,
  insertUsageView,
  listUsageViews,
  lockUsageView,
  type UsageViewRow,
  updateUsageView,
} from './store.ts';

const VIEWS_MAX = 100;
const QUERY_MAX = 2_000;
const audience = { kind: 'session', roles: ['owner', 'admin', 'developer', 'billing', 'viewer'] } as const;

export const SavedUsageView = named(
  'SavedUsageView',
  Type.Object({
    id: idOf('usage_view'),
    name: Type.String(),
    shared: Type.Boolean({ description: 'everybody of the organization sees it' }),
    query: Type.String({ description: 'what stands behind the question mark of `GET /v1/usage`' }),
    created_by: idOf('user'),
    changeable: Type.Boolean({ description: 'the caller may change and delete it' }),
    created_at: Time,
    updated_at: Time,
  }),
);
type SavedUsageView = Static<typeof SavedUsageView>;

const Name = lineOf(80);
const Shared = Type.Boolean();
const Query = Type.String({
  maxLength: QUERY_MAX,
  description: 'parameters of `GET /v1/usage`, but `format` and `environment`',
});

const example: SavedUsageView = {
  id: 'uvw_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  name: 'Models of the month',
  shared: true,
  query: 'range=30d&group_by=model',
  created_by: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  changeable: true,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
};

const { format: _, environment: __, ...parameters } = UsageInput.properties;
const Parameters = Type.Object(parameters, { additionalProperties: false });

/**
 * `query` in one form: known parameters that `GET /v1/usage` would take at `now`, in their order.
 * @throws ServiceError invalid_request, range_too_long.
 */
function usageQueryOf(query: string, now: Date): string {
  const given = new URLSearchParams(query);
  const asked: Record<string, unknown> = Object.fromEntries(given);
  if (given.size !== Object.keys(asked).length)
    throw invalid('query', 'format', 'query names a parameter twice.');
  if ('compare' in asked) asked['compare'] = ['true', '1'].includes(String(asked['compare']));
  if (!Value.Check(Parameters, asked)) {
    throw invalid('query', 'format', 'query is no query of GET /v1/usage.');
  }
  usageRange(asked, now.getTime());
  refuseNameless(asked);
  callerFilterOf(asked);
  const known = Object.keys(parameters).filter((name) => name in asked);
  return new URLSearchParams(
    known.map((name) => [name, String(asked[name as keyof typeof asked])]),
  ).toString();
}

type Member = Pick<MemberCaller, 'org_id' | 'user_id' | 'role'>;

function memberOf(context: Context): Member {
  const caller = orgCaller(context);
  if (caller.kind !== 'session') throw new Error('views are of people');
  return caller;
}

/** Its maker may change a view, and who administers the organization one that is shared. */
function mayChange(row: UsageViewRow, { user_id, role }: Member): boolean {
  return row.created_by === user_id || (row.private_to === null && ['owner', 'admin'].includes(role));
}

function view(row: UsageViewRow, member: Member): SavedUsageView {
  const { id, name, query, created_by } = row;
  return {
    ...{ id, name, query, created_by, shared: row.private_to === null, changeable: mayChange(row, member) },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function nameTaken(): ServiceError {
  return new ServiceError('already_exists', 'You have a view of this name.', { param: 'name' });
}

export const listUsageViewsOperation = operation({
  name: 'usage.views.list',
  method: 'GET',
  path: '/v1/usage/views',
  summary: 'List saved views: your own, and those that are shared',
  audience,
  input: Type.Object({}),
  output: listOf(SavedUsageView),
  errors: [],
  example: { object: 'list', data: [example] },
  async run(context) {
    const member = memberOf(context);
    const rows = await listUsageViews(context.db, member);
    return { object: 'list' as const, data: rows.map((row) => view(row, member)) };
  },
});

export const createUsageViewOperation = operation({
  name: 'usage.views.create',
  method: 'POST',
  path: '/v1/usage/views',
  summary: 'Save a question about usage under a name',
  audience,
  input: Type.Object({ name: Name, query: Query, shared: Type.Optional(Shared) }),
  output: SavedUsageView,
  errors: ['already_exists', 'plan_limit_reached', 'range_too_long', 'csrf_failed'],
  status: 201,
  idempotent: true,
  request: { name: example.name, query: example.query, shared: true },
  example,
  run: (context, { name, query, shared = false }) =>
    context.transaction(async (context) => {
      const member = memberOf(context);
      const { org_id, user_id } = member;
      const now = context.now();
      const asked = usageQueryOf(query, now);
      // When two requests save the last allowed view at the same time, one waits for the lock and is refused.
      await lockOrg(context.db, org_id);
      if ((await countUsageViews(context.db, member)) >= VIEWS_MAX) {
        throw new ServiceError('plan_limit_reached', `A member has at most ${VIEWS_MAX} views.`, {
          details: { limit: 'usage_views', limit_value: VIEWS_MAX },
        });
      }
      const made = await insertUsageView(context.db, {
        ...{
          id: context.newId('usage_view'),
          org_id,
          created_by: user_id,
          private_to: shared ? null : user_id,
        },
        ...{ name, query: asked, created_at: now, updated_at: now },
      });
      if (made === null) throw nameTaken();
      return view(made, member);
    }),
});

/** The view of `id` that the caller may change, held. @throws ServiceError not_found, permission_denied. */
async function changeable(context: Context, id: string): Promise<{ row: UsageViewRow; member: Member }> {
  const member = memberOf(context);
  if (!isId('usage_view', id)) throw notFound();
  const row = await lockUsageView(context.db, { ...member, id });
  if (row === null) throw notFound();
  if (!mayChange(row, member)) {
    throw new ServiceError('permission_denied', 'Whoever made this view changes it, or an admin.');
  }
  return { row, member };
}

/** Who alone sees the view once it is, or is not, shared. @throws ServiceError permission_denied. */
function privateTo(row: UsageViewRow, shared: boolean | undefined, { user_id }: Member): Id<'user'> | null {
  if (shared === undefined) return row.private_to;
  if (shared) return null;
  if (row.created_by === user_id) return user_id;
  throw new ServiceError('permission_denied', 'Only whoever made a view can keep it from others.');
}

export const updateUsageViewOperation = operation({
  name: 'usage.views.update',
  method: 'PATCH',
  path: '/v1/usage/views/:id',
  summary: 'Change a saved view',
  audience,
  input: Type.Object({
    id: idOf('usage_view'),
    name: Type.Optional(Name),
    query: Type.Optional(Query),
    shared: Type.Optional(Shared),
  }),
  output: SavedUsageView,
  errors: ['already_exists', 'range_too_long', 'csrf_failed'],
  request: { name: example.name },
  example,
  run: (context, { id, name, query, shared }) =>
    context.transaction(async (context) => {
      const { row, member } = await changeable(context, id);
      const now = context.now();
      const changed = await updateUsageView(context.db, {
        ...{ ...row, org_id: member.org_id, name: name ?? row.name, updated_at: now },
        query: query === undefined ? row.query : usageQueryOf(query, now),
        private_to: privateTo(row, shared, member),
      });
      if (changed === null) throw nameTaken();
      return view(changed, member);
    }),
});

export const deleteUsageViewOperation = operation({
  name: 'usage.views.delete',
  method: 'DELETE',
  path: '/v1/usage/views/:id',
  summary: 'Delete a saved view',
  audience,
  input: Type.Object({ id: idOf('usage_view') }),
  output: Nothing,
  errors: ['csrf_failed'],
  status: 204,
  example: {},
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const { row, member } = await changeable(context, id);
      await deleteUsageView(context.db, { org_id: member.org_id, id: row.id });
      return {};
    }),
});

export const usageViewOperations = [
  listUsageViewsOperation,
  createUsageViewOperation,
  updateUsageViewOperation,
  deleteUsageViewOperation,
] as const;
