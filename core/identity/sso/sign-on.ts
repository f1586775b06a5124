// A sign-in over an organization's provider, from the button to the session. What the answer must match is kept sealed
// under the state; the browser that began has a cookie, so that an answer cannot be handed to somebody else's browser.
import {
  type Context,
  type Db,
  equalBytes,
  notFound,
  ServiceError,
  type SessionCaller,
  secureBytes,
  sha256,
} from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { beginSaml } from '../saml/answer.ts';
import { deliver } from '../sessions/sessions.ts';
import { clearedCookie, flowCookie, readCookie } from '../sessions/token.ts';
import { addressesOfConnection, isHere, refuseElsewhere } from './addresses.ts';
import { findConnectionByAlias, noteTest, takeFlow } from './connection-store.ts';
import { enterBySso } from './enter.ts';
import { SsoFault } from './fault.ts';
import { FLOW_S, type Flow, openFlow, storeFlow } from './flow.ts';
import { authorizationUrl, finishOidc, newChecks } from './oidc.ts';
import { failed, recordRefusal } from './refusal.ts';
import { roleOf } from './roles.ts';
import { openClientSecret } from './secret.ts';
import type { Asserted, Connection, LastTest, OidcConnection } from './types.ts';

const PATH_MAX = 2_048;

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
export function consoleOf({ services }: Context, hosts: readonly string[]): string {
  const { console_origins, base_url } = services.sign_in;
  const asked = hosts.find((origin) => console_origins.includes(origin));
  if (asked !== undefined) return asked;
  const own = new URL(base_url).origin;
  return console_origins.includes(own) ? own : (console_origins[0] ?? own);
}

function providerOf(context: Context, connection: OidcConnection) {
  const { config, metadata } = connection;
  return { config, metadata, client_secret: openClientSecret(context.services.root_key, connection) };
}

interface Asked {
  readonly return_to: string | null;
  /** The console to go back to. */
  readonly origin: string;
  /** Whether the person must give a proof anew, though the provider knows them still. */
  readonly fresh: boolean;
  /** A trial; who asks for one is an admin. */
  readonly test: boolean;
}

/** Begins with an OpenID provider: returns where the browser goes. */
async function beginOidc(
  context: Context,
  connection: OidcConnection,
  { flow, browser }: { flow: Flow; browser: Buffer },
): Promise<string> {
  const { org_id } = connection;
  const checks = newChecks(flow.fresh);
  const { callback_url: redirect_uri } = await addressesOfConnection(context, connection);
  const provider = providerOf(context, connection);
  const url = await authorizationUrl(context.services, provider, { checks, redirect_uri });
  const expires_at = new Date(context.now().getTime() + FLOW_S * 1_000);
  await storeFlow(context, { key: checks.state, org_id, browser, flow: { ...flow, checks }, expires_at });
  return url;
}

/** The same button where the provider will answer, for a browser that came to another address of ours. */
async function startElsewhere(context: Context, connection: Connection, asked: Asked): Promise<string> {
  const url = new URL((await addressesOfConnection(context, connection)).start_url);
  if (asked.return_to !== null) url.searchParams.set('return_to', pathOnly(asked.return_to));
  if (asked.fresh) url.searchParams.set('fresh', '1');
  if (asked.test) url.searchParams.set('test', '1');
  return url.href;
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
  if (!(await isHere(context, connection))) return startElsewhere(context, connection, asked);
  const token = secureBytes(32).toString('base64url');
  const flow: Flow = {
    checks: null,
    outcome: null,
    fresh: asked.fresh,
    return_to: pathOnly(asked.return_to),
    origin: asked.origin,
    updated_at: connection.updated_at.toISOString(),
    test: asked.test,
  };
  const begun = { flow, browser: sha256(token) };
  const url =
    connection.kind === 'saml'
      ? await beginSaml(context, connection, begun)
      : await beginOidc(context, connection, begun);
  context.header('set-cookie', flowCookie(context.services.sign_in.cookies, token, FLOW_S));
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

/** The sign-in that an answer belongs to. @throws ServiceError sso_failed. */
async function flowOf(context: Context, { org_id }: Connection, state: string | null): Promise<Flow> {
  const hash = sha256(state ?? '');
  const found = state === null ? null : await takeFlow(context.db, { hash, org_id, at: context.now() });
  if (found === null) throw failed('state_unknown');
  const { cookies } = context.services.sign_in;
  const held = readCookie(context.requestHeader('cookie') ?? undefined, cookies.flow);
  if (!held.some((token) => equalBytes(sha256(token), found.browser))) throw failed('other_browser');
  context.header('set-cookie', clearedCookie(cookies, 'flow'));
  return openFlow(context, { org_id, hash, sealed: found.sealed });
}

const nobody = { email: '', name: '', groups: null, role: null };

function testOf(context: Context, connection: Connection, outcome: Asserted | SsoFault): LastTest {
  const at = context.now().toISOString();
  if (outcome instanceof SsoFault) return { at, ok: false, reason: outcome.reason, ...nobody };
  const { email, name, groups } = outcome;
  return { at, ok: true, reason: '', email, name, groups, role: roleOf(connection, groups) };
}

/** What an answer over SAML said, which was verified when it came; a connection that was changed since is another. */
function keptOutcome({ kind, updated_at }: Connection, flow: Flow): Asserted | SsoFault {
  const { outcome } = flow;
  if (kind !== 'saml' || outcome === null) return new SsoFault('answer_invalid');
  if (flow.updated_at !== updated_at.toISOString()) return new SsoFault('request_unknown');
  if ('fault' in outcome) return new SsoFault(outcome.fault);
  const { asserted, proved_at } = outcome;
  return { ...asserted, proved_at: proved_at === null ? null : new Date(proved_at) };
}

/** What the provider's answer says: who comes, or why it cannot be used. */
async function outcomeOf(
  context: Context,
  connection: Connection,
  { flow, search }: { flow: Flow; search: URLSearchParams },
): Promise<Asserted | SsoFault> {
  if (connection.kind === 'saml' || flow.checks === null) return keptOutcome(connection, flow);
  const url = new URL((await addressesOfConnection(context, connection)).callback_url);
  url.search = search.toString();
  try {
    return await finishOidc(context, providerOf(context, connection), { checks: flow.checks, url });
  } catch (error) {
    if (error instanceof SsoFault) return error;
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
  await refuseElsewhere(context, connection);
  const flow = await flowOf(context, connection, search.get('state'));
  const outcome = await outcomeOf(context, connection, { flow, search });
  const onward = `${flow.origin}${flow.return_to}`;
  if (flow.test) {
    const { org_id } = connection;
    const updated_at = new Date(flow.updated_at);
    await noteTest(context.db, { org_id, updated_at, last_test: testOf(context, connection, outcome) });
    return onward;
  }
  try {
    if (outcome instanceof SsoFault) throw failed(outcome.reason);
    // It may have been switched off since the sign-in began.
    if (connection.status !== 'active') throw notFound();
    const made = await enterBySso(context, connection, { asserted: outcome, method: connection.kind });
    deliver(context, made.session, made.token);
    return onward;
  } catch (error) {
    if (error instanceof ServiceError) await recordRefusal(context, connection, error);
    throw error;
  }
}
