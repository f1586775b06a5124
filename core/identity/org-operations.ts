// Organizations of a person, and the sessions that are in one. The role is the caller's in each.
import { Type } from 'typebox';
import {
  type Context,
  idOf,
  isId,
  listOf,
  Nothing,
  notFound,
  operation,
  orgCaller,
  type Role,
} from '../kernel/index.ts';
import { findOrgRecords, listMemberships, OrgView, orgExample, viewOrg } from '../orgs/index.ts';
import { writeAudit } from './audit/audit.ts';
import { SessionView, sessionExample } from './schema.ts';
import { endOrgSession, listOrgSessions } from './sessions/store.ts';
import { barredBy } from './verify.ts';
import { ofPerson, sessionCaller, viewSession } from './view.ts';

const SHOWN_MAX = 1_000;
const admins = { kind: 'session', roles: ['owner', 'admin'] } as const;

/** The organizations the caller may act in, with the role in each (null for a key). */
async function openOrgs(context: Context): Promise<OrgView[]> {
  const { caller, db, client_ip } = context;
  const role_of = new Map<string, Role | null>();
  if (caller.kind === 'session') {
    for (const membership of await listMemberships(db, caller.user_id)) {
      // Organizations that the session may not enter are not listed; the answer of a sign-in names them.
      const is_elsewhere = caller.sso_org_id !== undefined && caller.sso_org_id !== membership.org_id;
      if (!is_elsewhere && barredBy(caller, membership, { ip: client_ip, at: context.now() }) === undefined)
        role_of.set(membership.org_id, membership.role);
    }
  } else role_of.set(orgCaller(context).org_id, null);
  const found = await findOrgRecords(db, [...role_of.keys()]);
  return found.map((org) => viewOrg(org, role_of.get(org.id) ?? null, context.now()));
}

export const listOrgsOperation = operation({
  name: 'orgs.list',
  method: 'GET',
  path: '/v1/orgs',
  summary: "List the caller's organizations, except those that do not admit this session; a key has one",
  audience: {
    ...{ kind: 'key', scopes: 'any', while_closed: true },
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  ...ofPerson,
  input: Type.Object({}),
  output: listOf(OrgView),
  errors: [],
  example: { object: 'list', data: [orgExample] },
  run: async (context) => ({ object: 'list' as const, data: await openOrgs(context) }),
});

export const listOrgSessionsOperation = operation({
  name: 'orgs.sessions.list',
  method: 'GET',
  path: '/v1/orgs/:id/sessions',
  summary: 'List the sessions that are in an organization, newest first, at most 1000',
  audience: admins,
  input: Type.Object({ id: idOf('org') }),
  output: listOf(SessionView),
  errors: [],
  example: { object: 'list', data: [sessionExample] },
  async run(context) {
    const { org_id } = orgCaller(context);
    const { session_id } = sessionCaller(context);
    const rows = await listOrgSessions(context.db, { org_id, at: context.now(), limit: SHOWN_MAX });
    return { object: 'list' as const, data: rows.map((row) => viewSession(row, session_id)) };
  },
});

export const endOrgSessionOperation = operation({
  name: 'orgs.sessions.end',
  method: 'DELETE',
  path: '/v1/orgs/:id/sessions/:session_id',
  summary: "End a member's session that is in the organization; it stops at its next request",
  audience: admins,
  input: Type.Object({ id: idOf('org'), session_id: idOf('session') }),
  output: Nothing,
  errors: ['csrf_failed'],
  status: 204,
  example: {},
  async run(context, { session_id }) {
    const { org_id } = orgCaller(context);
    return context.transaction(async (context) => {
      const user_id = isId('session', session_id)
        ? await endOrgSession(context.db, { org_id, id: session_id })
        : null;
      if (user_id === null) throw notFound();
      const target = { type: 'session', id: session_id, display: user_id };
      await writeAudit(context, { action: 'orgs.sessions.end', org_id, target });
      return {};
    });
  },
});
