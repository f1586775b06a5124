// The provider that an admin names: asked for what it says of itself, or read from what was given, before it is stored.
import type { Static } from 'typebox';
import { egressOf } from '../../egress/index.ts';
import { type Context, type Id, invalid, readCertificate } from '../../kernel/index.ts';
import { chooseSaml, isSameSaml } from '../saml/config.ts';
import type { ConfigIn, ConfigView } from './config-schema.ts';
import { SsoFault } from './fault.ts';
import { discoverProvider } from './oidc.ts';
import { sealClientSecret } from './secret.ts';
import type { Connection, OidcConfig, OidcConnection, ProviderFacts, SamlConnection } from './types.ts';

const DEFAULT_CLAIMS = { email: 'email', name: 'name', groups: 'groups' };
type Given = Static<typeof ConfigIn>;

const words: Readonly<Record<string, string>> = {
  unsafe_url: 'The issuer, or an address that it names, may not be called: it must be public and https.',
  provider_unreachable: 'The issuer does not answer.',
  discovery_invalid:
    'The issuer publishes no valid document of OpenID Connect Discovery, or names another issuer.',
  algorithm_unsupported: 'The issuer signs ID tokens with none of RS256, ES256 and PS256.',
};

/** What the provider says of itself. @throws ServiceError invalid_request at `config.issuer`. */
async function discover(context: Context, config: OidcConfig): Promise<ProviderFacts> {
  const refusal = await egressOf(context.services).refusalOf(config.issuer);
  if (refusal !== null) throw invalid('config.issuer', 'format', `The issuer ${refusal}.`);
  return discoverProvider(context.services, config).catch((error: unknown) => {
    if (!(error instanceof SsoFault)) throw error;
    throw invalid('config.issuer', 'format', words[error.reason] ?? 'The issuer cannot be used.');
  });
}

function oidcConfigOf({ issuer, client_id, scopes, claim_map, jit }: Given): OidcConfig {
  if (issuer === undefined) throw invalid('config.issuer', 'required', 'OpenID Connect needs an issuer.');
  if (client_id === undefined)
    throw invalid('config.client_id', 'required', 'OpenID Connect needs a client id.');
  const { email, name, groups } = { ...DEFAULT_CLAIMS, ...claim_map };
  const asked = scopes ?? ['openid', 'email', 'profile'];
  return {
    ...{ issuer, client_id, jit: jit ?? true, claim_map: { email, name, groups } },
    scopes: asked.includes('openid') ? asked : ['openid', ...asked],
  };
}

/** A provider as it is stored. */
type Chosen =
  | Pick<OidcConnection, 'kind' | 'config' | 'metadata' | 'metadata_at'>
  | Pick<SamlConnection, 'kind' | 'config' | 'metadata' | 'metadata_at'>;

/** The provider of `given`. @throws ServiceError invalid_request at the member that is wrong. */
export async function chooseProvider(
  context: Context,
  { kind, given, before }: { kind: Connection['kind']; given: Given; before: Connection | null },
): Promise<Chosen> {
  if (kind === 'saml') return chooseSaml(context, { given, before });
  const config = oidcConfigOf(given);
  return { kind, config, metadata: await discover(context, config), metadata_at: null };
}

/** Whether it is the provider of `before`, to which its trial and its secret belong. */
export function isSameProvider(before: Connection | null, chosen: Chosen): boolean {
  if (before === null) return false;
  if (before.kind === 'oidc' && chosen.kind === 'oidc')
    return (
      before.config.issuer === chosen.config.issuer && before.config.client_id === chosen.config.client_id
    );
  return before.kind === 'saml' && chosen.kind === 'saml' && isSameSaml(before.metadata, chosen.metadata);
}

/** Whether sessions of `before` may live on: they were made by the one who is trusted still. */
export function isSameIssuer(before: Connection | null, chosen: Chosen): boolean {
  if (before?.kind === 'oidc' && chosen.kind === 'oidc') return before.config.issuer === chosen.config.issuer;
  if (before?.kind !== 'saml' || chosen.kind !== 'saml') return false;
  return before.metadata.entity_id === chosen.metadata.entity_id;
}

/** The sealed secret that a connection has from now on; one is never sent to another issuer than it was given for. */
export function secretOf(
  context: Context,
  org_id: Id<'org'>,
  { before, chosen, given }: { before: Connection | null; chosen: Chosen; given: Given },
): Buffer | null {
  if (chosen.kind !== 'oidc') return null;
  const { client_secret } = given;
  if (client_secret !== undefined) return sealClientSecret(context.services.root_key, org_id, client_secret);
  return isSameProvider(before, chosen) ? (before?.client_secret ?? null) : null;
}

const NOTHING: Static<typeof ConfigView> = {
  ...{ issuer: null, client_id: null, has_secret: false, scopes: [], claim_map: null },
  ...{ idp_entity_id: null, sso_url: null, certificates: [], metadata_url: null, metadata_at: null },
  ...{
    metadata_fault: null,
    attribute_map: null,
    sign_requests: false,
    allow_idp_initiated: false,
    jit: true,
  },
};

/** The `config` that an organization sees; nothing of the secret. */
export function viewConfig(connection: Connection): Static<typeof ConfigView> {
  if (connection.kind === 'oidc') {
    const { config, client_secret } = connection;
    const { scopes, claim_map } = config;
    return {
      ...{ ...NOTHING, ...config, has_secret: client_secret !== null },
      ...{ scopes: [...scopes], claim_map: { ...claim_map } },
    };
  }
  const { config, metadata, metadata_at, metadata_fault } = connection;
  const read = metadata.certificates.flatMap((pem) => readCertificate(pem) ?? []);
  return {
    ...{ ...NOTHING, ...config, attribute_map: { ...config.attribute_map } },
    ...{ idp_entity_id: metadata.entity_id, sso_url: metadata.sso_url, metadata_fault },
    certificates: read.map((one) => ({ ...one, not_after: one.not_after.toISOString() })),
    metadata_at: metadata_at?.toISOString() ?? null,
  };
}
