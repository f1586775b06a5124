// Finds the person of a session token. Every request asks the database, so that the end of a session, a membership or a
// role takes effect at the next request in every process.
import {
  type Db,
  isId,
  notFound,
  ServiceError,
  type SessionCaller,
  type StaffCaller,
} from '../kernel/index.ts';
import { findMembership, type Membership, readableUntil } from '../orgs/index.ts';
import { callerOfLook } from './looks/look.ts';
import { findLook } from './looks/store.ts';
import { grantsOf } from './members/rights.ts';
import { isInNetworks } from './sessions/network.ts';
import { findSessionByHash, touchSession } from './sessions/store.ts';
import { hashToken, hasTokenForm } from './sessions/token.ts';
import { findStaffSession, touchStaffSession } from './staff-store.ts';
import type { SessionProof, SessionRow } from './types.ts';

/** `last_seen_at` is written at most this often. */
const TOUCH_MS = 60_000;
const HOUR_MS = 3_600_000;

function ended(): ServiceError {
  return new ServiceError('session_expired', 'The session has ended. Sign in again.');
}

/** Whether a closed organization can still be read by the member. */
function isReadable({ role, closed_at }: Membership, at: Date): boolean {
  return role === 'owner' && closed_at !== null && at < readableUntil(closed_at);
}

/** Why a session may not act in an organization from `ip` at `at`; undefined when it may. */
export function barredBy(
  session: Pick<SessionRow, 'two_factor'>,
  membership: Membership | null,
  { ip, at }: { readonly ip: string | null; readonly at: Date },
): SessionCaller['barred'] {
  if (membership === null) return undefined;
  if (membership.org_status === 'closed' && !isReadable(membership, at)) return 'org_closed';
  const { console_ip_allow, require_2fa } = membership.security;
  const networks = console_ip_allow ?? [];
  if (networks.length > 0 && (ip === null || !isInNetworks(ip, networks))) return 'ip_not_allowed';
  return require_2fa === true && !session.two_factor ? 'two_factor_required' : undefined;
}

/** Why an organization is suspended: its people read what is there and change nothing; undefined when it is not. */
export function suspensionOf(membership: Membership | null): SessionCaller['suspended'] {
  if (membership?.org_status === 'closed') return 'org_closed';
  if (membership?.org_status !== 'suspended') return undefined;
  return membership.suspended_for ?? 'org_inactive';
}

/** Whether the organization wants newer sessions: it may have shortened them after this one began. */
function isTooOld(session: SessionRow, membership: Membership | null, at: Date): boolean {
  const hours = membership?.security.session_hours;
  return hours !== undefined && at.getTime() >= session.created_at.getTime() + hours * HOUR_MS;
}

/**
 * The person behind a session token, in the organization it stands in or the one that `org_override` names.
 * @throws ServiceError authentication_required for text without the form of a token, session_expired for a token that
 * is not valid, not_found when the person is no member of `org_override`.
 */
export async function verifySession(db: Db, proof: SessionProof): Promise<SessionCaller> {
  const { token, at, org_override } = proof;
  if (!hasTokenForm('session', token)) {
    throw new ServiceError('authentication_required', 'This is not a session token. Sign in.');
  }
  const token_hash = hashToken(token);
  const session = await findSessionByHash(db, token_hash, at);
  if (session === null) return verifyLook(db, { ...proof, token_hash });
  if (org_override !== null && !isId('org', org_override)) throw notFound();
  const org_id = org_override ?? session.org_id;
  // An identity provider vouches for people in its own organization; in the others they sign in there.
  if (session.sso_org_id !== null && org_id !== session.sso_org_id) throw notFound();
  const membership = org_id === null ? null : await findMembership(db, { org_id, user_id: session.user_id });
  if (org_override !== null && membership === null) throw notFound();
  if (isTooOld(session, membership, at)) throw ended();
  if (proof.passive !== true && at.getTime() - session.last_seen_at.getTime() >= TOUCH_MS)
    await touchSession(db, { id: session.id, at });
  const barred = barredBy(session, membership, { ip: proof.ip, at });
  const suspended = suspensionOf(membership);
  return {
    kind: 'session',
    session_id: session.id,
    token_hash,
    user_id: session.user_id,
    email: session.email,
    org_id: membership?.org_id ?? null,
    role: membership?.role ?? null,
    environment: proof.environment,
    two_factor: session.two_factor,
    ...(membership?.org_kind === 'reseller' ? { reseller_grants: grantsOf(membership) } : {}),
    ...(membership === null || membership.tier_bps === null ? {} : { tier_bps: membership.tier_bps }),
    ...(session.sso_org_id === null ? {} : { sso_org_id: session.sso_org_id }),
    proved_at: session.proved_at,
    ...(barred === undefined ? {} : { barred }),
    ...(suspended === undefined ? {} : { suspended }),
  };
}

/** The look behind a token that is of no person. @throws ServiceError session_expired, not_found. */
async function verifyLook(db: Db, proof: SessionProof & { token_hash: Buffer }): Promise<SessionCaller> {
  const look = await findLook(db, proof.token_hash, proof.at);
  if (look === null) throw ended();
  if (proof.org_override !== null && proof.org_override !== look.org_id) throw notFound();
  return callerOfLook(look, { token_hash: proof.token_hash, environment: proof.environment });
}

/** The member of staff behind a staff token. @throws ServiceError authentication_required, session_expired. */
export async function verifyStaff(db: Db, proof: { token: string; at: Date }): Promise<StaffCaller> {
  if (!hasTokenForm('staff', proof.token)) {
    throw new ServiceError('authentication_required', 'This is not a staff token. Sign in.');
  }
  const session = await findStaffSession(db, hashToken(proof.token), proof.at);
  if (session === null) throw ended();
  if (proof.at.getTime() - session.last_seen_at.getTime() >= TOUCH_MS) {
    await touchStaffSession(db, { id: session.id, at: proof.at });
  }
  const { staff_id, email, roles, id } = session;
  return { kind: 'staff', name: email, staff_id, session_id: id, roles };
}
