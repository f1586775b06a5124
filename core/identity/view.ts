// Sessions as callers see them.
import { type Context, ServiceError, type SessionCaller } from '../kernel/index.ts';
import { findOrg, listMemberships } from '../orgs/index.ts';
import { grantsOf } from './members/rights.ts';
import type { SessionView, SignedInView } from './schema.ts';
import { findSession } from './sessions/store.ts';
import { csrfToken } from './sessions/token.ts';
import { findPerson } from './store.ts';
import type { SessionRow } from './types.ts';
import { barredBy, suspensionOf } from './verify.ts';

/** Of operations about the signed-in person. */
export const ofPerson = { across_orgs: 'a person may be a member of several organizations' } as const;

/** The session behind `context`. @throws Error (a defect) where the audience let someone else in. */
export function sessionCaller(context: Context): SessionCaller {
  if (context.caller.kind !== 'session') throw new Error('operation reached without a session');
  return context.caller;
}

/** The stored session of the caller. @throws ServiceError session_expired when it ended meanwhile. */
export async function ownSession(context: Context): Promise<SessionRow> {
  const { user_id, session_id } = sessionCaller(context);
  const session = await findSession(context.db, { user_id, id: session_id, at: context.now() });
  if (session === null) throw new ServiceError('session_expired', 'The session has ended. Sign in again.');
  return session;
}

/** A session on the wire; `current` marks the caller's own. */
export function viewSession(session: SessionRow, current: string | null): SessionView {
  return {
    id: session.id,
    user_id: session.user_id,
    email: session.email,
    current: session.id === current,
    method: session.method,
    two_factor: session.two_factor,
    ip_prefix: session.ip_prefix,
    user_agent: session.user_agent,
    created_at: session.created_at.toISOString(),
    last_seen_at: session.last_seen_at.toISOString(),
    idle_expires_at: new Date(
      Math.min(session.last_seen_at.getTime() + session.idle_seconds * 1000, session.expires_at.getTime()),
    ).toISOString(),
    expires_at: session.expires_at.toISOString(),
  };
}

/**
 * The answer to a console's first question. `org_id` is the organization of this request, also where `x-svc-org` names
 * it.
 */
export async function viewSignedIn(
  context: Context,
  session: SessionRow,
  org_id = session.org_id,
): Promise<SignedInView> {
  const person = await findPerson(context.db, session.user_id);
  if (person === null) throw new Error('a session without its person');
  const memberships = (await listMemberships(context.db, session.user_id)).filter(
    (one) => session.sso_org_id === null || one.org_id === session.sso_org_id,
  );
  const orgs = memberships.map((member) => ({
    ...{ id: member.org_id, slug: member.slug, name: member.name, role: member.role },
    status: member.org_status,
    suspended_for: member.org_status === 'suspended' ? member.suspended_for : null,
    ...(member.org_kind === 'reseller' ? { grants: [...grantsOf(member)] } : {}),
    ...(member.org_kind === 'child' ? { has_reseller: true as const } : {}),
  }));
  const org = orgs.find(({ id }) => id === org_id) ?? null;
  const standing = memberships.find((one) => one.org_id === org_id) ?? null;
  return {
    user: {
      id: person.id,
      email: person.email,
      name: person.name,
      two_factor: person.totp_secret !== null,
    },
    orgs,
    org,
    role: org?.role ?? null,
    grants: [...(standing?.org_kind === 'reseller' ? grantsOf(standing) : [])],
    session: viewSession(session, session.id),
    csrf_token: csrfToken(context.services.root_key, session.id),
    barred:
      barredBy(session, standing, { ip: context.client_ip, at: context.now() }) ??
      suspensionOf(standing) ??
      null,
  };
}

/** The answer to a console that a member of staff looks through. */
export async function viewLook(context: Context, caller: SessionCaller): Promise<SignedInView> {
  const found = caller.org_id === null ? null : await findOrg(context.db, caller.org_id);
  if (found === null || caller.looking === undefined) throw new Error('a look at nothing');
  const { staff_id, expires_at } = caller.looking;
  const end = expires_at.toISOString();
  const org = {
    ...{ id: found.id, slug: found.slug, name: found.name, status: found.status },
    ...{ role: 'viewer' as const, suspended_for: null },
  };
  return {
    user: { id: staff_id, email: caller.email, name: 'Staff', two_factor: true },
    ...{ orgs: [org], org, role: 'viewer', grants: [] },
    session: {
      ...{ id: caller.session_id, user_id: staff_id, email: caller.email, current: true, method: 'password' },
      ...{ two_factor: true, ip_prefix: null, user_agent: null, created_at: caller.proved_at.toISOString() },
      ...{ last_seen_at: context.now().toISOString(), idle_expires_at: end, expires_at: end },
    },
    csrf_token: csrfToken(context.services.root_key, caller.session_id),
    barred: null,
    look: { expires_at: end },
  };
}
