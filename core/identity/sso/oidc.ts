// OpenID Connect with an organization's provider, by openid-client: code flow, PKCE, state and nonce, and an ID token
// whose signature is checked. Every request goes through the guarded client, since organizations name the addresses.
import * as client from 'openid-client';
import { egressOf } from '../../egress/index.ts';
import type { Context, Services } from '../../kernel/index.ts';
import { SsoFault } from './fault.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { ALGORITHMS, loginOf } from './logout-token.ts';
import type { Asserted, OidcConfig, ProviderFacts } from './types.ts';

/** A fresh proof may be as old as a slow sign-in. */
const PROOF_S = 300;
const GROUPS_MAX = 1_000;
const TEXT_MAX = 256;

/** `error` as a fault: that of the guarded client where it is the cause, else `otherwise`. */
function faultOf(error: unknown, otherwise: SsoFault['reason']): SsoFault {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof SsoFault) return at;
  if (error instanceof client.AuthorizationResponseError) return new SsoFault('provider_refused');
  return new SsoFault(otherwise, { cause: error });
}

const isPlain = (issuer: string) => issuer.startsWith('http:');

/**
 * What the provider at `issuer` says of itself. @throws SsoFault when it cannot be asked, says that it is another, or
 * has no signature that is accepted here.
 */
export async function discoverProvider(services: Services, config: OidcConfig): Promise<ProviderFacts> {
  const found = await client
    .discovery(new URL(config.issuer), config.client_id, undefined, client.None(), {
      [client.customFetch]: guardedFetch(egressOf(services)),
      // The guarded client refuses plain addresses where an installation does not allow them.
      execute: isPlain(config.issuer) ? [client.allowInsecureRequests] : [],
    })
    .catch((error: unknown) => {
      throw faultOf(error, 'discovery_invalid');
    });
  const facts = found.serverMetadata();
  const { authorization_endpoint, token_endpoint, jwks_uri } = facts;
  if (authorization_endpoint === undefined || token_endpoint === undefined || jwks_uri === undefined)
    throw new SsoFault('discovery_invalid');
  const algorithms = facts.id_token_signing_alg_values_supported ?? ['RS256'];
  if (!algorithms.some((one) => ALGORITHMS.includes(one))) throw new SsoFault('algorithm_unsupported');
  return JSON.parse(JSON.stringify(facts)) as ProviderFacts;
}

interface Provider {
  readonly config: OidcConfig;
  readonly metadata: ProviderFacts;
  /** Null: a client without a secret. */
  readonly client_secret: string | null;
}

function configurationOf(services: Services, provider: Provider): client.Configuration {
  const { config, client_secret } = provider;
  const facts = provider.metadata as unknown as client.ServerMetadata;
  const algorithms = facts.id_token_signing_alg_values_supported ?? ['RS256'];
  const server = {
    ...facts,
    id_token_signing_alg_values_supported: algorithms.filter((one) => ALGORITHMS.includes(one)),
  };
  const methods = facts.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const secret = methods.includes('client_secret_basic') ? client.ClientSecretBasic : client.ClientSecretPost;
  const made = new client.Configuration(
    server,
    config.client_id,
    undefined,
    client_secret === null ? client.None() : secret(client_secret),
  );
  made[client.customFetch] = guardedFetch(egressOf(services));
  // Without this the library trusts the connection to the token endpoint and looks at no signature.
  client.enableNonRepudiationChecks(made);
  if (isPlain(config.issuer)) client.allowInsecureRequests(made);
  return made;
}

/** What a sign-in that was begun must be answered with. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Whether the person must give a proof anew. */
  readonly fresh: boolean;
}

/** What a new sign-in must be answered with. */
export function newChecks(fresh: boolean): OidcChecks {
  return {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
    fresh,
  };
}

/** Where the browser goes to sign in. */
export async function authorizationUrl(
  services: Services,
  provider: Provider,
  args: { checks: OidcChecks; redirect_uri: string },
): Promise<string> {
  const { checks, redirect_uri } = args;
  return client.buildAuthorizationUrl(configurationOf(services, provider), {
    redirect_uri,
    scope: provider.config.scopes.join(' '),
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: 'S256',
    ...(checks.fresh ? { prompt: 'login', max_age: '0' } : {}),
  }).href;
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= TEXT_MAX;

/** The groups of a claim: a list of names, or one name. Null when there is no such claim. */
function groupsOf(value: unknown): readonly string[] | null {
  if (isText(value)) return [value];
  return Array.isArray(value) ? value.filter(isText).slice(0, GROUPS_MAX) : null;
}

type Claims = Readonly<Record<string, unknown>>;

/** Whom the claims name. @throws SsoFault email_missing, email_unverified. */
function readClaims(claims: Claims, { email, name, groups }: OidcConfig['claim_map']): Asserted {
  const own = (member: string) => (Object.hasOwn(claims, member) ? claims[member] : undefined);
  const address = own(email);
  if (!isText(address)) throw new SsoFault('email_missing');
  // Some providers send the word instead of the value.
  const verified = own('email_verified');
  if (verified === false || verified === 'false') throw new SsoFault('email_unverified');
  const methods = own('amr');
  const auth_time = own('auth_time');
  const shown = own(name);
  return {
    email: address,
    name: isText(shown) ? [...shown].slice(0, 120).join('') : '',
    groups: groupsOf(own(groups)),
    mfa: Array.isArray(methods) && methods.includes('mfa'),
    proved_at: typeof auth_time === 'number' ? new Date(auth_time * 1_000) : null,
  };
}

/**
 * Whom the answer at `url` signs in: the code is exchanged, and the ID token checked. @throws SsoFault.
 */
export async function finishOidc(
  { services, log }: Pick<Context, 'services' | 'log'>,
  provider: Provider,
  { checks, url }: { checks: OidcChecks; url: URL },
): Promise<Asserted> {
  const configuration = configurationOf(services, provider);
  try {
    const tokens = await client.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: checks.verifier,
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      idTokenExpected: true,
      ...(checks.fresh ? { maxAge: PROOF_S } : {}),
    });
    const token = tokens.claims();
    if (token === undefined) throw new SsoFault('answer_invalid');
    const { email, groups } = provider.config.claim_map;
    const is_whole = Object.hasOwn(token, email) && Object.hasOwn(token, groups);
    const more =
      is_whole || configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await client.fetchUserInfo(configuration, tokens.access_token, token.sub);
    const asserted = readClaims({ ...more, ...token }, provider.config.claim_map);
    return { ...asserted, login: loginOf({ iss: token.iss, sub: token.sub, sid: token['sid'] }) };
  } catch (error) {
    const fault = faultOf(error, 'answer_invalid');
    const cause = fault.cause as { code?: unknown } | undefined;
    log.info({ reason: fault.reason, code: String(cause?.code ?? '') }, 'a sign-in by OpenID Connect failed');
    throw fault;
  }
}
