// Identifies the caller, for REST and GraphQL alike: an API key, a session by cookie or bearer token, or a member of
// staff. A request carries one credential; with two it is refused, and we never choose between them.
import {
  checkCsrf,
  clientAddress,
  isInNetworks,
  readCookie,
  SESSION_PREFIX,
  type SignInSettings,
  verifySession,
  verifyStaff,
} from '@svc/core/identity/index.ts';
import {
  type Caller,
  type Context,
  type Environment,
  type KeyCaller,
  now,
  type RequestId,
  ServiceError,
  type SessionCaller,
  type StaffCaller,
} from '@svc/core/kernel/index.ts';
import { findKeyMaker } from '@svc/core/keys/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { findMembership } from '@svc/core/orgs/index.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerOf, credentialOf } from './authenticate.ts';
import type { HttpParts } from './parts.ts';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** One header of `request`; null when it is absent or sent more than once. */
export function headerOf(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

/** The client's network address, also behind trusted proxies. */
export function addressOf(sign_in: SignInSettings, request: FastifyRequest): string | null {
  const forwarded = headerOf(request, 'x-forwarded-for');
  return clientAddress(request.raw.socket?.remoteAddress ?? null, forwarded, sign_in.trusted_proxies);
}

/** Whether a trusted proxy asks for itself: what it hands on for others says for whom. */
export function isProxyItself(sign_in: SignInSettings, request: FastifyRequest): boolean {
  const { headers, raw } = request;
  if (headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined) return false;
  const ip = raw.socket?.remoteAddress ?? null;
  return ip !== null && isInNetworks(ip, sign_in.trusted_proxies);
}

function environmentOf(request: FastifyRequest): Environment {
  const { environment } = request.query as { environment?: unknown };
  return environment === 'test' ? 'test' : 'live';
}

/** The origin that the browser says the request comes from: `Origin`, or that of `Referer` when it is absent. */
function originOf(request: FastifyRequest): string | null {
  const origin = headerOf(request, 'origin');
  if (origin !== null) return origin;
  const referer = headerOf(request, 'referer');
  return referer !== null && URL.canParse(referer) ? new URL(referer).origin : null;
}

/** @throws ServiceError csrf_failed for a request with a cookie that comes from no page of `origins`. */
function requirePage(request: FastifyRequest, origins: readonly string[]): void {
  const origin = originOf(request);
  if (origin !== null && origins.includes(origin)) return;
  const message = 'A session cookie is accepted here only from a page of an origin that is named.';
  throw new ServiceError('csrf_failed', message, { details: { reason: 'origin' } });
}

/** Origins whose pages may write with a session cookie: those of the console, and the storefront that the request came to. */
export function consoleOrigins({ services }: HttpParts, { storefront }: FastifyRequest): readonly string[] {
  const { console_origins } = services.sign_in;
  return storefront === null ? console_origins : [...console_origins, storefront.address];
}

function requireConsole(
  parts: HttpParts,
  request: FastifyRequest,
  proof: { session_id: string; origins: readonly string[] },
): void {
  if (SAFE.has(request.method)) return;
  const origin = originOf(request);
  if (origin === null || !proof.origins.includes(origin)) {
    throw new ServiceError(
      'csrf_failed',
      'Writes with a session cookie are accepted only from a page of the console.',
      {
        details: { reason: 'origin' },
      },
    );
  }
  if (!checkCsrf(parts.services.root_key, proof.session_id, headerOf(request, 'x-svc-csrf'))) {
    throw new ServiceError('csrf_failed', 'The header x-svc-csrf is missing or not of this session.', {
      details: { reason: 'token' },
    });
  }
}

/**
 * Refuses a sign-in by cookie from a page that is not the console's, so that no other site can sign a person in to a
 * foreign account. Clients that are not browsers send no `Origin` and pass. @throws ServiceError csrf_failed.
 */
export function refuseForeignPage(origins: readonly string[], request: FastifyRequest): void {
  const origin = headerOf(request, 'origin');
  if (origin === null || origins.includes(origin)) return;
  throw new ServiceError('csrf_failed', 'Sign-in is accepted only from a page of the console.', {
    details: { reason: 'origin' },
  });
}

/** The cookie `name`; null when it is absent. @throws ServiceError authentication_required when it is sent twice. */
function onlyCookie(request: FastifyRequest, name: string): string | null {
  const values = readCookie(request.headers.cookie, name);
  if (values.length > 1) throw new ServiceError('authentication_required', `Send one cookie ${name}.`);
  return values[0] ?? null;
}

async function session(
  parts: HttpParts,
  request: FastifyRequest,
  proof: { token: string; by_cookie: boolean; org_id: string | null; passive: boolean },
): Promise<SessionCaller> {
  const caller = await verifySession(parts.pool, {
    token: proof.token,
    environment: environmentOf(request),
    org_override: proof.org_id ?? headerOf(request, 'x-svc-org'),
    at: now(),
    ip: addressOf(parts.services.sign_in, request),
    ...(proof.passive ? { passive: true } : {}),
  });
  if (proof.by_cookie) {
    const origins = consoleOrigins(parts, request);
    requireConsole(parts, request, { session_id: caller.session_id, origins });
  }
  return caller;
}

/** Asked anew for each request: who is demoted or removed loses the rights of their keys at once, everywhere. */
async function withMaker({ pool }: HttpParts, caller: KeyCaller): Promise<KeyCaller> {
  const user_id = await findKeyMaker(pool, caller);
  if (user_id === null) return caller;
  const membership = await findMembership(pool, { org_id: caller.org_id, user_id });
  return { ...caller, maker: { user_id, role: membership?.role ?? null } };
}

/**
 * The key or session behind `request`. For a write with a session cookie, the CSRF token has been checked.
 * @throws ServiceError authentication_required, invalid_api_key, session_expired, invalid_request (cookie and bearer
 * token together), csrf_failed, not_found (`x-svc-org`), org_inactive, service_unavailable.
 */
export async function callerOf(
  parts: HttpParts,
  request: FastifyRequest,
  options: {
    readonly x_api_key?: boolean;
    /**
     * The organization that the path names (`/v1/orgs/{id}…`): a person acts with their role in that organization.
     */
    readonly org_id?: string | null;
    /** The service itself checks again; this does not count as activity of the person. */
    readonly passive?: true;
    /** What any key may do: no matter who made it. */
    readonly for_any?: boolean;
  } = {},
): Promise<KeyCaller | SessionCaller> {
  const cookie = onlyCookie(request, parts.services.sign_in.cookies.session);
  const has_header = request.headers.authorization !== undefined;
  const org_id = options.org_id ?? null;
  const passive = options.passive === true;
  if (cookie !== null && !has_header)
    return session(parts, request, { token: cookie, by_cookie: true, org_id, passive });
  const credential = credentialOf(request.raw, options.x_api_key === true);
  if (!credential.startsWith(SESSION_PREFIX)) {
    const { caller } = await parts.services.key_ring.verify(credential);
    return options.for_any === true ? caller : withMaker(parts, caller);
  }
  if (cookie !== null) {
    throw new ServiceError(
      'invalid_request',
      'Send the session as a cookie or as a bearer token, not both.',
      {
        param: 'authorization',
      },
    );
  }
  return session(parts, request, { token: credential, by_cookie: false, org_id, passive });
}

/**
 * The member of staff behind `request`, by cookie or bearer token like `callerOf`.
 * @throws ServiceError authentication_required, session_expired, invalid_request, csrf_failed.
 */
export async function staffCallerOf(
  parts: HttpParts,
  request: FastifyRequest,
  /** Origins of other pages whose request, a write by its method alone, only reads. */
  { read_by }: { readonly read_by?: readonly string[] } = {},
): Promise<StaffCaller> {
  const cookie = onlyCookie(request, parts.services.sign_in.cookies.staff);
  const bearer = bearerOf(request.raw);
  if (cookie !== null && bearer !== null) {
    throw new ServiceError(
      'invalid_request',
      'Send the session as a cookie or as a bearer token, not both.',
      {
        param: 'authorization',
      },
    );
  }
  const token = cookie ?? bearer;
  if (token === null) throw new ServiceError('authentication_required', 'Sign in as staff.');
  const caller = await verifyStaff(parts.pool, { token, at: now() });
  if (cookie !== null && caller.session_id !== undefined) {
    const { staff_origins } = parts.services.sign_in;
    if (read_by !== undefined) requirePage(request, read_by);
    else requireConsole(parts, request, { session_id: caller.session_id, origins: staff_origins });
  }
  return caller;
}

/** The context in which operations run for `request`. Operations set headers on `reply`. */
export function requestContext(
  parts: HttpParts,
  request: FastifyRequest,
  reply: FastifyReply | null,
  caller: Caller,
): Context {
  return createContext({
    request_id: request.id as RequestId,
    caller,
    pool: parts.pool,
    log: parts.log,
    services: parts.services,
    client_ip: addressOf(parts.services.sign_in, request),
    header: (name, value) => void reply?.header(name, value),
    requestHeader: (name) => headerOf(request, name),
  });
}
