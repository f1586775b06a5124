// Opening and rotating sessions (docs/sign-in.md#sessions).
import { type Context, type Id, ServiceError } from '../../kernel/index.ts';
import { listMemberships, type Membership } from '../../orgs/index.ts';
import { storedAgent } from '../audit/audit.ts';
import { refuseRuled } from '../sso/enforce.ts';
import { endHeldStaffSession, insertStaffSession } from '../staff-store.ts';
import type { SessionRow, SignInMethod, Transport } from '../types.ts';
import { sessionCaller } from '../view.ts';
import { addressPrefix, isInNetworks } from './network.ts';
import {
  endHeldSession,
  endOldestSessions,
  insertSession,
  type ProviderLogin,
  rotateSession,
} from './store.ts';
import { hashToken, hasTokenForm, newToken, readCookie, sessionCookie } from './token.ts';

const HOUR_S = 3_600;
const DEFAULT_HOURS = 72;
const IDLE_HOURS = 12;
const SESSIONS_MAX = 20;
const STAFF_HOURS = 8;
const STAFF_IDLE_HOURS = 0.5;

/**
 * How many hours a session of someone with these memberships lasts: the shortest time that one of the organizations
 * sets.
 */
function sessionHours(memberships: readonly Membership[]): number {
  const asked = memberships.flatMap(({ security }) => security.session_hours ?? []);
  return Math.min(720, Math.max(1, asked.length === 0 ? DEFAULT_HOURS : Math.min(...asked)));
}

/** The organization a fresh session stands in: the first that is open and admits the address, else the first. */
function firstOrg(memberships: readonly Membership[], ip: string | null): Id<'org'> | null {
  const admits = ({ org_status, security }: Membership) => {
    const networks = security.console_ip_allow ?? [];
    return org_status === 'active' && (networks.length === 0 || (ip !== null && isInNetworks(ip, networks)));
  };
  return (memberships.find(admits) ?? memberships[0])?.org_id ?? null;
}

/** Hands `token` over: as a cookie, or in the answer. */
export function deliver(
  context: Context,
  session: { transport: Transport; expires_at: Date },
  token: string,
): { token?: string } {
  if (session.transport === 'bearer') return { token };
  const seconds = (session.expires_at.getTime() - context.now().getTime()) / 1000;
  const { cookies } = context.services.sign_in;
  context.header('set-cookie', sessionCookie(cookies, 'session', token, seconds));
  return {};
}

/** Ends the session whose cookie the browser is about to replace, whoever it belongs to. */
async function endReplaced(context: Context, who: 'session' | 'staff'): Promise<void> {
  const name = context.services.sign_in.cookies[who];
  const end = who === 'staff' ? endHeldStaffSession : endHeldSession;
  for (const token of readCookie(context.requestHeader('cookie') ?? undefined, name)) {
    if (hasTokenForm(who, token)) await end(context.db, hashToken(token));
  }
}

/**
 * Begins a session of a person, inside a transaction that holds the person's row; the twenty-first ends the oldest. A
 * sign-in by cookie ends the session that the browser had.
 */
export async function openSession(
  context: Context,
  person: { id: Id<'user'>; email: string },
  made: {
    readonly method: SignInMethod;
    readonly transport: Transport;
    readonly two_factor: boolean;
    /** The organization whose identity provider vouches for the person; the session acts there alone. */
    readonly sso_org_id?: Id<'org'>;
    /** What its provider says of the sign-in. */
    readonly login?: ProviderLogin | undefined;
    /** When the person gave the proof, where that was before now. */
    readonly proved_at?: Date;
  },
): Promise<{ session: SessionRow; token: string }> {
  const at = context.now();
  const sso_org_id = made.sso_org_id ?? null;
  if (sso_org_id === null) await refuseRuled(context.db, person);
  const memberships = await listMemberships(context.db, person.id);
  const hours = sessionHours(memberships);
  const token = newToken('session');
  const session: SessionRow = {
    id: context.newId('session'),
    user_id: person.id,
    email: person.email,
    org_id: sso_org_id ?? firstOrg(memberships, context.client_ip),
    sso_org_id,
    method: made.method,
    transport: made.transport,
    two_factor: made.two_factor,
    ip_prefix: addressPrefix(context.client_ip),
    user_agent: storedAgent(context),
    proved_at: made.proved_at ?? at,
    created_at: at,
    last_seen_at: at,
    idle_seconds: Math.min(IDLE_HOURS, hours) * HOUR_S,
    expires_at: new Date(at.getTime() + hours * HOUR_S * 1000),
  };
  if (made.transport === 'cookie') await endReplaced(context, 'session');
  await insertSession(context.db, { ...session, hash: hashToken(token), login: made.login });
  await endOldestSessions(context.db, person.id, SESSIONS_MAX);
  return { session, token };
}

/**
 * Replaces the caller's token of `session` and applies `change`; the old token ends at once.
 * @throws ServiceError session_expired when the session ended or its token was replaced meanwhile.
 */
export async function renewSession(
  context: Context,
  session: SessionRow,
  change: Partial<Pick<SessionRow, 'org_id' | 'two_factor' | 'proved_at'>>,
): Promise<{ session: SessionRow; token: string }> {
  const token = newToken('session');
  const next = { ...session, ...change, last_seen_at: context.now() };
  const { id, org_id, two_factor, proved_at, last_seen_at } = next;
  const done = await rotateSession(context.db, {
    id,
    old_hash: sessionCaller(context).token_hash,
    hash: hashToken(token),
    org_id,
    two_factor,
    proved_at,
    at: last_seen_at,
  });
  if (!done) throw new ServiceError('session_expired', 'The session has ended. Sign in again.');
  return { session: next, token };
}

/**
 * Begins a session of staff: 8 hours, 30 minutes idle, unless said otherwise. By cookie it ends the one
 * that the browser had.
 */
export async function openStaffSession(
  context: Context,
  input: { staff_id: Id<'staff'>; transport: Transport; hours?: number; idle_hours?: number },
): Promise<{ token: string; session_id: Id<'session'>; expires_at: Date }> {
  const at = context.now();
  const token = newToken('staff');
  const session_id = context.newId('session');
  const expires_at = new Date(at.getTime() + (input.hours ?? STAFF_HOURS) * HOUR_S * 1000);
  if (input.transport === 'cookie') await endReplaced(context, 'staff');
  await insertStaffSession(context.db, {
    id: session_id,
    hash: hashToken(token),
    staff_id: input.staff_id,
    transport: input.transport,
    ip_prefix: addressPrefix(context.client_ip),
    user_agent: storedAgent(context),
    idle_seconds: (input.idle_hours ?? STAFF_IDLE_HOURS) * HOUR_S,
    expires_at,
    at,
  });
  return { token, session_id, expires_at };
}
