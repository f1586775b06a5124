// Organizations of a person, their members and sessions. The role is the caller's in each.
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
import { findOrgRecords, listMembers, listMemberships, OrgView, orgExample, viewOrg } from '../orgs/index.ts';
import { writeAudit } from './audit/audit.ts';
import { MemberView, memberExample, SessionView, sessionExample } from './schema.ts';
import { endOrgSession, listOrgSessions } from './sessions/store.ts';
import { findPeople } from './store.ts';
import { barredBy } from './verify.ts';
import { sessionCaller, viewSession } from './view.ts';

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
      if (!is_elsewhere && barredBy(caller, membership, client_ip) === undefined)
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
  audience: { kind: 'key', scopes: 'any', session: ['owner', 'admin', 'developer', 'billing', 'viewer'] },
  input: Type.Object({}),
  output: listOf(OrgView),
  errors: [],
  example: { object: 'list', data: [orgExample] },
  run: async (context) => ({ object: 'list' as const, data: await openOrgs(context) }),
});

export const listMembersOperation = operation({
  name: 'members.list',
  method: 'GET',
  path: '/v1/orgs/:id/members',
  summary: 'List the members of an organization, longest first',
  audience: { kind: 'session', roles: ['owner', 'admin', 'developer', 'billing', 'viewer'] },
  input: Type.Object({ id: idOf('org') }),
  output: listOf(MemberView),
  errors: [],
  example: { object: 'list', data: [memberExample] },
  async run(context) {
    const { org_id } = orgCaller(context);
    const members = await listMembers(context.db, org_id);
    const people = await findPeople(
      context.db,
      members.map(({ user_id }) => user_id),
    );
    const by_id = new Map(people.map((person) => [person.id, person]));
    const data = members.flatMap(({ user_id, role, status, source, joined_at }) => {
      const person = by_id.get(user_id);
      if (person === undefined) return [];
      return {
        org_id,
        user_id,
        email: person.email,
        name: person.name,
        role,
        grants: [],
        status,
        source,
        two_factor: person.totp_secret !== null,
        last_seen_at: person.last_seen_at?.toISOString() ?? null,
        joined_at: joined_at.toISOString(),
      };
    });
    return { object: 'list' as const, data };
  },
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
