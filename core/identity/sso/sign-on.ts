// A sign-in over an organization's provider, from the button to the session. What the answer must match is kept sealed
// under the state; the browser that began has a cookie, so that an answer cannot be handed to somebody else's browser.
import {
  type Context,
  type Db,
  deriveKey,
  equalBytes,
  type Id,
  notFound,
  ServiceError,
  type SessionCaller,
  seal,
  secureBytes,
  sha256,
  unseal,
} from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { deliver } from '../sessions/sessions.ts';
import { clearedCookie, flowCookie, readCookie } from '../sessions/token.ts';
import { NOBODY } from '../sign-in/sign-in.ts';
import { callbackUrl } from './addresses.ts';
import { findConnectionByAlias, insertFlow, noteTest, takeFlow } from './connection-store.ts';
import { enterBySso } from './enter.ts';
import { authorizationUrl, finishOidc, newChecks, type OidcChecks, OidcFault } from './oidc.ts';
import { roleOf } from './roles.ts';
import { openClientSecret } from './secret.ts';
import type { Asserted, Connection, LastTest } from './types.ts';

const FLOW_S = 10 * 60;
const PATH_MAX = 2_048;

/** What is sealed with a sign-in that was begun. */
interface Flow {
  readonly checks: OidcChecks;
  /** Path of the console. */
  readonly return_to: string;
  /** Origin of the console that the person came from. */
  readonly origin: string;
  /** A trial of an admin: nobody is signed in. It holds for the connection as it was. */
  readonly test: { readonly updated_at: string } | null;
}

/**
 * `text` when it is a path on this origin, else `/`: the address after a sign-in is in a link, and a link can come from
 * anybody. Browsers read `//host` and `/\host` as other hosts, and leave out tabs and line ends.
 */
function pathOnly(text: string | null): string {
  if (text === null || text.length > PATH_MAX || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return '/';
  if (text.startsWith('//')) return '/';
  const url = new URL(text, 'https://console.invalid');
  return url.origin === 'https://console.invalid' ? `${url.pathname}${url.search}${url.hash}` : '/';
}

/** The console that a person came from, of those that are configured. */
function consoleOf({ services }: Context, hosts: readonly string[]): string {
  const { console_origins, base_url } = services.sign_in;
  const asked = hosts.find((origin) => console_origins.includes(origin));
  if (asked !== undefined) return asked;
  const own = new URL(base_url).origin;
  return console_origins.includes(own) ? own : (console_origins[0] ?? own);
}

function bindingOf(org_id: Id<'org'>, hash: Buffer): string {
  return `sso_flow ${org_id} ${hash.toString('hex')} sealed`;
}

const flowKey = (context: Context) => deriveKey(context.services.root_key, 'sso flow');

function providerOf(context: Context, connection: Connection) {
  const { config, metadata } = connection;
  return { config, metadata, client_secret: openClientSecret(context.services.root_key, connection) };
}

interface Asked {
  readonly return_to: string | null;
  /** Origins that the request may have come to. */
  readonly hosts: readonly string[];
  /** Whether the person must give a proof anew, though the provider knows them still. */
  readonly fresh: boolean;
  /** A trial; who asks for one is an admin. */
  readonly test: boolean;
}

/**
 * Begins a sign-in of the organization whose word `alias` is: returns where the browser goes, and gives it the cookie
 * that it takes along. @throws ServiceError not_found unless the connection is active, or tried out; sso_failed.
 */
export async function startSignOn(context: Context, alias: string, asked: Asked): Promise<string> {
  const connection = await findConnectionByAlias(context.db, alias);
  const org = connection === null ? null : await findOrg(context.db, connection.org_id);
  if (connection === null || org?.status !== 'active') throw notFound();
  if (connection.status !== 'active' && !asked.test) throw notFound();
  const { org_id, updated_at } = connection;
  const checks = newChecks(asked.fresh);
  const browser = secureBytes(32).toString('base64url');
  const hash = sha256(checks.state);
  const flow: Flow = {
    checks,
    return_to: pathOnly(asked.return_to),
    origin: consoleOf(context, asked.hosts),
    test: asked.test ? { updated_at: updated_at.toISOString() } : null,
  };
  const redirect_uri = await callbackUrl(context, org_id);
  const provider = providerOf(context, connection);
  const url = await authorizationUrl(context.services, provider, { checks, redirect_uri });
  await insertFlow(context.db, {
    ...{ hash, org_id, browser: sha256(browser) },
    sealed: seal(flowKey(context), Buffer.from(JSON.stringify(flow)), bindingOf(org_id, hash)),
    expires_at: new Date(context.now().getTime() + FLOW_S * 1_000),
  });
  context.header('set-cookie', flowCookie(context.services.sign_in.cookies, browser, FLOW_S));
  return url;
}

/** Whether the person is an owner or admin of the organization whose word `alias` is, in a session that may act there. */
export async function isAdminOfAlias(
  db: Db,
  { org_id, role, barred, suspended }: Pick<SessionCaller, 'org_id' | 'role' | 'barred' | 'suspended'>,
  alias: string,
): Promise<boolean> {
  const connection = await findConnectionByAlias(db, alias);
  if (connection === null || (barred ?? suspended) !== undefined) return false;
  return connection.org_id === org_id && (role === 'owner' || role === 'admin');
}

function failed(reason: string): ServiceError {
  return new ServiceError('sso_failed', 'The sign-in at your identity provider did not work. Try again.', {
    details: { reason },
  });
}

/** The sign-in that an answer belongs to. @throws ServiceError sso_failed. */
async function flowOf(context: Context, { org_id }: Connection, state: string | null): Promise<Flow> {
  const hash = sha256(state ?? '');
  const found = state === null ? null : await takeFlow(context.db, { hash, org_id, at: context.now() });
  if (found === null) throw failed('state_unknown');
  const { cookies } = context.services.sign_in;
  const held = readCookie(context.requestHeader('cookie') ?? undefined, cookies.flow);
  if (!held.some((token) => equalBytes(sha256(token), found.browser))) throw failed('other_browser');
  context.header('set-cookie', clearedCookie(cookies, 'flow'));
  return JSON.parse(unseal(flowKey(context), found.sealed, bindingOf(org_id, hash)).toString()) as Flow;
}

const nobody = { email: '', name: '', groups: null, role: null };

function testOf(context: Context, connection: Connection, outcome: Asserted | OidcFault): LastTest {
  const at = context.now().toISOString();
  if (outcome instanceof OidcFault) return { at, ok: false, reason: outcome.reason, ...nobody };
  const { email, name, groups } = outcome;
  return { at, ok: true, reason: '', email, name, groups, role: roleOf(connection, groups) };
}

/** Refused sign-ins are in the organization's log without the address that came: it may be anybody's. */
async function recordRefusal(context: Context, org_id: Id<'org'>, error: ServiceError): Promise<void> {
  const { reason } = (error.details ?? {}) as { reason?: string };
  await writeAudit(context, {
    ...{ action: 'auth.login', org_id, outcome: 'denied', actor: NOBODY },
    after: { method: 'oidc', code: error.code, ...(reason === undefined ? {} : { reason }) },
  });
}

/** What the provider's answer says: who comes, or why it cannot be used. */
async function outcomeOf(
  context: Context,
  connection: Connection,
  { flow, search }: { flow: Flow; search: URLSearchParams },
): Promise<Asserted | OidcFault> {
  const url = new URL(await callbackUrl(context, connection.org_id));
  url.search = search.toString();
  try {
    return await finishOidc(context, providerOf(context, connection), { checks: flow.checks, url });
  } catch (error) {
    if (error instanceof OidcFault) return error;
    throw error;
  }
}

/**
 * Takes the answer of the provider and returns where the browser goes: into the console, signed in; after a trial to the
 * page of single sign-on. @throws ServiceError not_found, sso_failed, sso_domain_unverified, user_not_provisioned.
 */
export async function finishSignOn(
  context: Context,
  alias: string,
  { search }: { readonly search: URLSearchParams },
): Promise<string> {
  const connection = await findConnectionByAlias(context.db, alias);
  if (connection === null) throw notFound();
  const flow = await flowOf(context, connection, search.get('state'));
  const outcome = await outcomeOf(context, connection, { flow, search });
  const onward = `${flow.origin}${flow.return_to}`;
  if (flow.test !== null) {
    const { org_id } = connection;
    const updated_at = new Date(flow.test.updated_at);
    await noteTest(context.db, { org_id, updated_at, last_test: testOf(context, connection, outcome) });
    return onward;
  }
  try {
    if (outcome instanceof OidcFault) throw failed(outcome.reason);
    // It may have been switched off since the sign-in began.
    if (connection.status !== 'active') throw notFound();
    const made = await enterBySso(context, connection, { asserted: outcome, method: 'oidc' });
    deliver(context, made.session, made.token);
    return onward;
  } catch (error) {
    if (error instanceof ServiceError) await recordRefusal(context, connection.org_id, error);
    throw error;
  }
}
