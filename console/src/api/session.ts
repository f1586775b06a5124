// Who is signed in: one store for the page. The browser holds the cookie; this is what the server says about it.
import { useSyncExternalStore } from 'react';
import { type Fault, faultOfResponse, offlineFault } from './errors.ts';

export type Role = 'owner' | 'admin' | 'developer' | 'billing' | 'viewer';
export interface Org {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly role: Role;
  readonly status?: 'active' | 'suspended' | 'closed';
  /** Why it is suspended; null: a person did it. */
  readonly suspended_for?: 'payment_hold' | null;
  /** What the person may do for customers; of a reseller alone. */
  readonly grants?: readonly string[];
  /** It is a customer of a reseller. */
  readonly has_reseller?: true;
}
export interface Session {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    /** Has a second factor. */
    readonly two_factor: boolean;
  };
  readonly orgs: readonly Org[];
  /** An identity provider made it: a password proves nothing in it. */
  readonly by_provider?: boolean;
  /** A member of staff looks at the organisation until then; absent: a session of a person. */
  readonly look_ends_at?: string;
  /** The organisation entered last. */
  readonly org_id: string | null;
  readonly csrf_token: string;
}
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'unreachable'; readonly fault: Fault }
  /** `ended`: the server has stopped taking the session while a page was open. */
  | { readonly kind: 'signed_in'; readonly session: Session; readonly ended: boolean };

/** Where sessions of this console are kept, and what the server's word on one means. */
interface Realm {
  /** Prefix of the routes of sign-in. */
  readonly auth: string;
  read(answer: unknown): Session;
}

let realm: Realm = { auth: '/v1/auth', read: (answer) => readSession(answer as SessionAnswer) };

/** Makes this page one of another console; before anything else asks for the session. */
export function enterRealm(next: Realm): void {
  realm = next;
}

let state: SessionState = { kind: 'unknown' };
const listeners = new Set<() => void>();

function set(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

export function sessionState(): SessionState {
  return state;
}

export function useSessionState(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

function csrfHeader(): Record<string, string> {
  return state.kind === 'signed_in' ? { 'x-svc-csrf': state.session.csrf_token } : {};
}

/** Headers of a GraphQL request for `org_id`, where it is for one: two tabs may show two organisations. */
export function graphqlHeaders(org_id: string | null): Record<string, string> {
  return { ...(org_id === null ? {} : { 'x-svc-org': org_id }), ...csrfHeader() };
}

export type Result<T> = { ok: true; value: T } | { ok: false; fault: Fault };

/** The person of each CSRF token that this page has had. */
const persons = new Map<string, string>();
let renewing: Promise<void> | null = null;

/**
 * The CSRF token to use in place of `sent`, which was refused because another tab has signed in again and the cookie is
 * of the new session. Null when somebody else is signed in now: the refused request was not theirs.
 */
async function tokenAfter(sent: string): Promise<string | null> {
  const token = () => (state.kind === 'signed_in' ? state.session.csrf_token : null);
  if (token() === sent) {
    renewing ??= call<unknown>('GET', `${realm.auth}/session`)
      .then((answer) => {
        if (answer.ok) take(answer.value);
        else if (outside.has(answer.fault.code)) sessionEnded();
      })
      .finally(() => {
        renewing = null;
      });
    await renewing;
  }
  const fresh = token();
  return fresh !== null && fresh !== sent && persons.get(fresh) === persons.get(sent) ? fresh : null;
}

/** `fetch` with the CSRF token; repeated once when the token belonged to a session that has been replaced. */
export const guardedFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  const response = await fetch(input, { ...init, headers });
  const sent = headers.get('x-svc-csrf');
  if (response.status !== 403 || sent === null) return response;
  if (!(await response.clone().text()).includes('"csrf_failed"')) return response;
  const fresh = await tokenAfter(sent);
  if (fresh === null) return response;
  headers.set('x-svc-csrf', fresh);
  return fetch(input, { ...init, headers });
};

/** A request of `/v1` as the person who is signed in. */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Result<T>> {
  try {
    const response = await guardedFetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...csrfHeader(),
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) return { ok: false, fault: await faultOfResponse(response) };
    return { ok: true, value: (response.status === 204 ? null : await response.json()) as T };
  } catch {
    return { ok: false, fault: offlineFault };
  }
}

export interface SessionAnswer {
  readonly user: Session['user'];
  readonly orgs: readonly Org[];
  readonly org?: { readonly id: string } | null;
  readonly session?: { readonly method: string };
  readonly look?: { readonly expires_at: string };
  readonly csrf_token: string;
}

function readSession({ user, orgs, org, session, look, csrf_token }: SessionAnswer): Session {
  const by_provider = session !== undefined && session.method !== 'password';
  const end = look === undefined ? {} : { look_ends_at: look.expires_at };
  return { user, orgs, org_id: org?.id ?? null, by_provider, csrf_token, ...end };
}

/** Takes over what the server says of the session, with the token that it has from now on. */
export function take(answer: unknown): void {
  const session = realm.read(answer);
  persons.set(session.csrf_token, session.user.id);
  set({ kind: 'signed_in', session, ended: false });
}

const outside = new Set(['authentication_required', 'session_expired', 'session_required']);

/** Asks the server who is signed in; the store has the answer when it resolves. */
export async function loadSession(): Promise<SessionState> {
  const answer = await call<unknown>('GET', `${realm.auth}/session`);
  if (answer.ok) take(answer.value);
  else if (outside.has(answer.fault.code)) set({ kind: 'signed_out' });
  else set({ kind: 'unreachable', fault: answer.fault });
  return state;
}

/** The result of a sign-in: signed in, a code is needed, or refused. */
export type SignIn =
  | { readonly kind: 'signed_in' }
  | { readonly kind: 'second_factor'; readonly mfa_token: string }
  | { readonly kind: 'refused'; readonly fault: Fault };

interface LoginAnswer {
  readonly mfa_token?: string;
}

async function finish(answer: Result<LoginAnswer>): Promise<SignIn> {
  if (!answer.ok) return { kind: 'refused', fault: answer.fault };
  const { mfa_token } = answer.value;
  if (mfa_token !== undefined) return { kind: 'second_factor', mfa_token };
  const loaded = await loadSession();
  if (loaded.kind === 'signed_in') return { kind: 'signed_in' };
  return { kind: 'refused', fault: loaded.kind === 'unreachable' ? loaded.fault : lostCookie };
}

const lostCookie: Fault = {
  ...offlineFault,
  code: 'cookie_refused',
  message: 'The browser did not keep the session cookie. Allow cookies for this address and sign in again.',
  offline: false,
};

export async function signIn(email: string, password: string): Promise<SignIn> {
  return finish(await call('POST', `${realm.auth}/login`, { email, password }));
}

export async function proveSecondFactor(mfa_token: string, code: string): Promise<SignIn> {
  return finish(await call('POST', `${realm.auth}/login/totp`, { mfa_token, code }));
}

/** Opens the link of a look; null, or why it could not be. */
export async function openLook(token: string): Promise<Fault | null> {
  const opened = await call<{ session: unknown }>('POST', '/v1/auth/look', { token });
  if (!opened.ok) return opened.fault;
  take(opened.value.session);
  return null;
}

/** Which identity provider signs addresses like `email` in; null: a password does. */
export function findSignOn(email: string): Promise<Result<{ readonly alias: string | null }>> {
  return call('POST', '/v1/auth/sso/discover', { email });
}

/** Where a sign-in at the identity provider of `alias` begins; it ends at the path `return_to` of this console. */
export function signOnUrl(alias: string, return_to: string, more = ''): string {
  return `/v1/auth/sso/${encodeURIComponent(alias)}/start?return_to=${encodeURIComponent(return_to)}${more}`;
}

/**
 * Leaves for the identity provider that made the session, so that the person proves there who they are, and comes back
 * to this page; false where a password is asked for.
 */
export async function leaveForProof(): Promise<boolean> {
  if (state.kind !== 'signed_in' || state.session.by_provider !== true) return false;
  const found = await findSignOn(state.session.user.email);
  if (!found.ok || found.value.alias === null) return false;
  location.assign(signOnUrl(found.value.alias, `${location.pathname}${location.search}`, '&fresh=1'));
  return true;
}

/** Ends the session. The page counts as signed out even when the server could not be reached. */
export async function signOut(): Promise<void> {
  await call('POST', `${realm.auth}/logout`);
  set({ kind: 'signed_out' });
}

/** Notes that the server refused the session while a page was open. */
export function sessionEnded(): void {
  if (state.kind === 'signed_in' && !state.ended) set({ ...state, ended: true });
}
