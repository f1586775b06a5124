// Logout tokens of OpenID Connect Back-Channel Logout 1.0: checked against the provider's keys, by jose.
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { type Egress, egressOf } from '../../egress/index.ts';
import { type Context, sha256 } from '../../kernel/index.ts';
import type { ProviderLogin } from '../sessions/store.ts';
import { SsoFault } from './fault.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { OidcConnection } from './types.ts';

/** Signatures with a key that only the provider has: never `none`, and never one made with a secret that we know too. */
export const ALGORITHMS = ['RS256', 'ES256', 'PS256'];
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** How old a token may be when it comes, and how far the provider's clock may be off. */
const AGE_S = 300;
export const SKEW_S = 60;
const SETS_MAX = 500;

/**
 * Keys of providers, as long as their HTTP client lives. Anybody may send a token: without this each one would make a request
 * to the provider that it names.
 */
const keySets = new WeakMap<Egress, LRUCache<string, JWTVerifyGetKey>>();

function keysAt(egress: Egress, jwks_uri: string): JWTVerifyGetKey {
  const sets = keySets.get(egress) ?? new LRUCache<string, JWTVerifyGetKey>({ max: SETS_MAX });
  keySets.set(egress, sets);
  const known = sets.get(jwks_uri);
  if (known !== undefined) return known;
  const fetched = createRemoteJWKSet(new URL(jwks_uri), { [customFetch]: guardedFetch(egress) });
  sets.set(jwks_uri, fetched);
  return fetched;
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== '';
const hashOf = (issuer: string, kind: string, value: string) => sha256(JSON.stringify([issuer, kind, value]));

/** What a token says of who is signed in, as sessions keep it. The issuer is part of it: another provider's words are others. */
export function loginOf(claims: { iss: string; sub: string; sid: unknown }): ProviderLogin {
  const { iss, sub, sid } = claims;
  return { subject: hashOf(iss, 'sub', sub), sid: isWord(sid) ? hashOf(iss, 'sid', sid) : null };
}

/** What a sign-out names: the provider's session, or all of a person. One of both is there. */
interface Logout {
  readonly subject: Buffer | null;
  readonly sid: Buffer | null;
  /** When the provider wrote it. */
  readonly issued_at: Date;
}

/** Section 2.6 of the standard, after the signature and what it has in common with ID tokens. */
function readLogout({ iss, sub, sid, iat, events, nonce }: JWTPayload): Logout | null {
  const has_event =
    typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT) && nonce === undefined;
  if (!has_event || iss === undefined || iat === undefined || !(isWord(sub) || isWord(sid))) return null;
  return {
    subject: isWord(sub) ? hashOf(iss, 'sub', sub) : null,
    sid: isWord(sid) ? hashOf(iss, 'sid', sid) : null,
    issued_at: new Date(iat * 1_000),
  };
}

/** What the provider of `connection` says in `token`. @throws SsoFault. */
export async function verifyLogout(
  context: Context,
  { config, metadata }: Pick<OidcConnection, 'config' | 'metadata'>,
  token: string,
): Promise<Logout> {
  const { issuer, jwks_uri } = metadata as { issuer?: unknown; jwks_uri?: unknown };
  if (!isWord(issuer) || !isWord(jwks_uri)) throw new SsoFault('discovery_invalid');
  try {
    const { payload } = await jwtVerify(token, keysAt(egressOf(context.services), jwks_uri), {
      ...{ issuer, audience: config.client_id, algorithms: ALGORITHMS },
      ...{ currentDate: context.now(), maxTokenAge: AGE_S, clockTolerance: SKEW_S },
    });
    const logout = readLogout(payload);
    if (logout !== null) return logout;
    throw new SsoFault('answer_invalid');
  } catch (error) {
    if (error instanceof SsoFault) throw error;
    if (error instanceof errors.JWTExpired) throw new SsoFault('expired', { cause: error });
    const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : '';
    if (claim === 'iss') throw new SsoFault('issuer_wrong', { cause: error });
    if (claim === 'aud') throw new SsoFault('audience_wrong', { cause: error });
    const is_signature =
      error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey;
    throw new SsoFault(is_signature ? 'signature_invalid' : 'answer_invalid', { cause: error });
  }
}
