// The `config` of a connection as it is sent and shown. One object for both kinds of providers, since GraphQL has no unions
// of inputs; which members count is decided by `kind`.
import { Type } from 'typebox';
import { lineOf, nullable, Time } from '../../kernel/index.ts';

const URL_MAX = 2_048;
const NameIn = Type.Optional(lineOf(256));

const OidcIn = {
  issuer: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: URL_MAX,
      description: 'oidc: address of the provider, as it names itself',
    }),
  ),
  client_id: Type.Optional(lineOf(256)),
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: 'oidc: never shown again; left out, the one before stays while issuer and client stay',
    }),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,128}$' }), { maxItems: 20 }),
  ),
  claim_map: Type.Optional(
    Type.Object({ email: NameIn, name: NameIn, groups: NameIn }, { description: 'oidc: names of claims' }),
  ),
};

const SamlIn = {
  metadata_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: URL_MAX,
      description: "saml: where the provider's description is fetched, now and every day",
    }),
  ),
  metadata_xml: Type.Optional(
    Type.String({ minLength: 1, maxLength: 524_288, description: "saml: the provider's description itself" }),
  ),
  idp_entity_id: Type.Optional(lineOf(1_024, 1)),
  sso_url: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_024, description: 'saml: where browsers go, by HTTP-Redirect' }),
  ),
  certificates: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 8_192 }), {
      maxItems: 5,
      description: 'saml: in PEM, those whose keys sign; RSA of at least 2,048 bits',
    }),
  ),
  attribute_map: Type.Optional(
    Type.Object(
      { email: NameIn, name: NameIn, groups: NameIn },
      { description: 'saml: names of attributes; left out, those that providers commonly send' },
    ),
  ),
  sign_requests: Type.Optional(Type.Boolean({ description: 'saml: default false' })),
  allow_idp_initiated: Type.Optional(
    Type.Boolean({ description: 'saml: whether people may begin at the provider; default false' }),
  ),
};

export const ConfigIn = Type.Object({
  ...OidcIn,
  ...SamlIn,
  jit: Type.Optional(
    Type.Boolean({ description: 'whether people who are no members become members by coming; default true' }),
  ),
});

const CertificateView = Type.Object({
  pem: Type.String(),
  fingerprint: Type.String({ description: 'SHA-256, hex' }),
  not_after: Time,
});

const MapView = Type.Object({
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  groups: nullable(Type.String()),
});

/** Members of the other kind are null, or empty. */
export const ConfigView = Type.Object({
  issuer: nullable(Type.String({ description: 'oidc' })),
  client_id: nullable(Type.String({ description: 'oidc' })),
  has_secret: Type.Boolean({ description: 'oidc' }),
  scopes: Type.Array(Type.String(), { description: 'oidc' }),
  claim_map: nullable(Type.Object({ email: Type.String(), name: Type.String(), groups: Type.String() })),
  idp_entity_id: nullable(Type.String({ description: 'saml: as the provider names itself' })),
  sso_url: nullable(Type.String({ description: 'saml' })),
  certificates: Type.Array(CertificateView, { description: 'saml: those whose keys sign' }),
  metadata_url: nullable(Type.String({ description: 'saml: null where the description was given once' })),
  metadata_at: nullable(Type.String({ format: 'date-time', description: 'saml: when it was last fetched' })),
  metadata_fault: nullable(
    Type.String({ description: 'saml: why the last fetch was of no use; what was in force stays' }),
  ),
  attribute_map: nullable(MapView),
  sign_requests: Type.Boolean({ description: 'saml' }),
  allow_idp_initiated: Type.Boolean({ description: 'saml' }),
  jit: Type.Boolean(),
});
