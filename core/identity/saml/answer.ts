// The two halves of a sign-in over SAML: the request that the browser takes along, and the answer that it brings. An answer
// comes by a form of another site, to which browsers add no cookie of ours; so it is checked, kept for a moment, and the
// browser is sent on to fetch it, with the cookie that it got when it began.
import { type Context, notFound, type ServiceError, secureBytes, sha256 } from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { flowCookie } from '../sessions/token.ts';
import { addressesOfConnection, refuseElsewhere } from '../sso/addresses.ts';
import { findConnectionByAlias } from '../sso/connection-store.ts';
import { SsoFault } from '../sso/fault.ts';
import { type Flow, type Outcome, storeFlow } from '../sso/flow.ts';
import { failed, recordRefusal } from '../sso/refusal.ts';
import type { Asserted, SamlConnection } from '../sso/types.ts';
import { passGate } from './gate.ts';
import { requestUrl, verifiedAssertion } from './library.ts';
import { readAssertion } from './read.ts';
import { RequestIds } from './requests.ts';
import { serviceProviderOf } from './service-provider.ts';
import { useAssertion } from './store.ts';

/** How long a browser takes from one address of ours to the next. */
const KEPT_S = 120;

async function exchangeOf(
  context: Context,
  connection: SamlConnection,
  { requests, fresh }: { requests: RequestIds; fresh: boolean },
) {
  const { metadata, config } = connection;
  const own = await serviceProviderOf(context, connection);
  const { allow_idp_initiated } = config;
  return { provider: metadata, own, requests, allow_idp_initiated, fresh };
}

/** Begins: returns where the browser goes. `browser` is the SHA-256 of the cookie that it was given. */
export async function beginSaml(
  context: Context,
  connection: SamlConnection,
  { flow, browser }: { flow: Flow; browser: Buffer },
): Promise<string> {
  const requests = new RequestIds(context, connection.org_id, { flow, browser });
  return requestUrl(await exchangeOf(context, connection, { requests, fresh: flow.fresh }));
}

/** Whom an answer signs in. @throws SsoFault. */
async function readAnswer(
  context: Context,
  connection: SamlConnection,
  { sent, requests }: { sent: string; requests: RequestIds },
): Promise<Asserted> {
  const { org_id, metadata, config } = connection;
  const exchange = await exchangeOf(context, connection, { requests, fresh: false });
  const { entity_id: audience, acs_url } = exchange.own;
  const assertion = await verifiedAssertion(exchange, passGate(sent, acs_url));
  const { known } = requests;
  const { asserted, assertion_id, useless_at } = readAssertion(assertion, {
    ...{ entity_id: metadata.entity_id, audience, acs_url, attribute_map: config.attribute_map },
    ...{ request_id: known?.id ?? null, fresh: known?.flow.fresh === true, at: context.now() },
  });
  if (known === null && !config.allow_idp_initiated) throw new SsoFault('request_unknown');
  // The library takes the request where the answer names it twice; else it is taken here.
  if (known !== null && !requests.taken) await requests.removeAsync(known.id);
  if (known !== null && !requests.taken) throw new SsoFault('replayed');
  const hash = sha256(assertion_id);
  const is_first = await useAssertion(context.db, { org_id, hash, expires_at: useless_at });
  if (!is_first) throw new SsoFault('replayed');
  return asserted;
}

/** Keeps what an answer said and returns where the browser fetches it. */
async function keep(
  context: Context,
  connection: SamlConnection,
  { flow, browser, outcome }: { flow: Flow; browser: Buffer; outcome: Outcome },
): Promise<string> {
  const { org_id } = connection;
  const key = secureBytes(32).toString('base64url');
  const expires_at = new Date(context.now().getTime() + KEPT_S * 1_000);
  await storeFlow(context, { key, org_id, browser, flow: { ...flow, outcome }, expires_at });
  return `${(await addressesOfConnection(context, connection)).callback_url}?state=${key}`;
}

/** A sign-in that the provider began: the browser gets its cookie now, and goes to the first page. */
function unasked(
  context: Context,
  { updated_at }: SamlConnection,
  origin: string,
): { flow: Flow; browser: Buffer } {
  const token = secureBytes(32).toString('base64url');
  context.header('set-cookie', flowCookie(context.services.sign_in.cookies, token, KEPT_S));
  return {
    browser: sha256(token),
    flow: {
      ...{ checks: null, outcome: null, fresh: false, return_to: '/', origin, test: false },
      updated_at: updated_at.toISOString(),
    },
  };
}

/**
 * Takes the answer in the form field `SAMLResponse` and returns where the browser goes to be signed in. `RelayState` is not
 * read: where the person wanted to go is kept here. @throws ServiceError not_found, sso_failed.
 */
export async function takeSamlAnswer(
  context: Context,
  alias: string,
  { sent, origin }: { sent: string; origin: string },
): Promise<string> {
  const connection = await findConnectionByAlias(context.db, alias);
  const org = connection === null ? null : await findOrg(context.db, connection.org_id);
  if (connection?.kind !== 'saml' || org?.status !== 'active') throw notFound();
  await refuseElsewhere(context, connection);
  const requests = new RequestIds(context, connection.org_id);
  try {
    const { proved_at, ...asserted } = await readAnswer(context, connection, { sent, requests });
    if (requests.known === null && connection.status !== 'active') throw notFound();
    const outcome = { asserted, proved_at: proved_at?.toISOString() ?? null };
    return await keep(context, connection, {
      ...(requests.known ?? unasked(context, connection, origin)),
      outcome,
    });
  } catch (error) {
    if (!(error instanceof SsoFault)) throw error;
    return refuse(context, connection, { fault: error, requests });
  }
}

/** Shows an admin who tries it out why it failed; everybody else is refused here. @throws ServiceError sso_failed. */
async function refuse(
  context: Context,
  connection: SamlConnection,
  { fault, requests }: { fault: SsoFault; requests: RequestIds },
): Promise<string> {
  const { known } = requests;
  const { reason } = fault;
  context.log.info(
    { reason, cause: String((fault.cause as Error)?.message ?? '') },
    'a sign-in by SAML failed',
  );
  if (known?.flow.test === true) {
    await requests.removeAsync(known.id);
    return keep(context, connection, { ...known, outcome: { fault: reason } });
  }
  const error: ServiceError = failed(reason);
  // Anybody can send an answer; the log has those to a request of ours.
  if (known !== null) await recordRefusal(context, connection, error);
  throw error;
}
