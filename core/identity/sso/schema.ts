// Wire shapes of single sign-on.
import { type Static, Type } from 'typebox';
import { lineOf, named, nullable, oneOf, Time } from '../../kernel/index.ts';
import { ScimTokenView, scimTokenExample } from '../scim/token-schema.ts';
import { ConfigView } from './config-schema.ts';
import { mappedRoles } from './roles.ts';

export const connectionStates = ['draft', 'active', 'disabled'] as const;
export const DomainIn = lineOf(253);
export const ConnectionStatus = oneOf(connectionStates, 'SsoStatus');
export const ssoKinds = ['oidc', 'saml'] as const;
export const SsoKind = oneOf(ssoKinds, 'SsoKind');
export const MappedRoleIn = oneOf(mappedRoles, 'MappedRole');
export const RoleMapIn = Type.Record(Type.String({ minLength: 1, maxLength: 256 }), MappedRoleIn, {
  description: 'group of the provider → role; the highest of several counts',
});

export const SsoDomainView = named(
  'SsoDomain',
  Type.Object({
    domain: Type.String(),
    record: Type.String({ description: 'name of the TXT record' }),
    token: Type.String({ description: 'what the TXT record holds' }),
    verified_at: nullable(Time),
  }),
);
export type SsoDomainView = Static<typeof SsoDomainView>;

const TestView = named(
  'SsoTest',
  Type.Object({
    at: Time,
    ok: Type.Boolean(),
    reason: Type.String({ description: 'why not; empty when it went well' }),
    email: Type.String(),
    name: Type.String(),
    groups: nullable(Type.Array(Type.String(), { description: 'null: the provider sends none' })),
    role: nullable(MappedRoleIn),
  }),
);

export const SsoConnectionView = named(
  'SsoConnection',
  Type.Object({
    kind: SsoKind,
    alias: Type.String({ description: 'the word in the addresses; it never changes' }),
    display_name: Type.String(),
    status: ConnectionStatus,
    enforce: Type.Boolean(),
    default_role: MappedRoleIn,
    role_map: RoleMapIn,
    config: ConfigView,
    last_test: nullable(TestView),
    created_at: Time,
    updated_at: Time,
  }),
);

export const SsoView = named(
  'SingleSignOn',
  Type.Object({
    configured: Type.Boolean({ description: 'whether an identity provider is connected' }),
    sso: nullable(SsoConnectionView),
    service_provider: nullable(
      Type.Object(
        {
          start_url: Type.String({ description: 'where people begin, for a tile at the provider' }),
          callback_url: Type.String({ description: 'oidc: what the provider asks for as redirect address' }),
          logout_url: Type.String({
            description: 'oidc: where the provider tells of a sign-out (back-channel logout)',
          }),
          acs_url: Type.String({ description: 'saml: where the provider sends its answers' }),
          entity_id: Type.String({ description: 'saml: the name of this service; its description is there' }),
        },
        { description: 'null before the first domain was claimed' },
      ),
    ),
    domains: Type.Array(SsoDomainView),
    scim_url: Type.String({ description: 'where a directory provisions people' }),
    scim_tokens: Type.Array(ScimTokenView),
  }),
);
export type SsoView = Static<typeof SsoView>;

export const domainExample = {
  domain: 'acme.example',
  record: '_svc-challenge.acme.example',
  token: 'svc-verify=4g7kD9x2MqP0r5TwZ8z1C4g7kD9x2MqP',
  verified_at: null,
} satisfies SsoDomainView;

export const ssoExample: SsoView = {
  configured: true,
  sso: {
    kind: 'oidc',
    alias: 'acme',
    display_name: 'Acme ID',
    status: 'active',
    enforce: false,
    default_role: 'developer',
    role_map: { 'Platform team': 'admin' },
    config: {
      issuer: 'https://id.acme.example',
      client_id: 'svc',
      has_secret: true,
      scopes: ['openid', 'email', 'profile'],
      claim_map: { email: 'email', name: 'name', groups: 'groups' },
      ...{ idp_entity_id: null, sso_url: null, certificates: [], metadata_url: null, metadata_at: null },
      ...{ metadata_fault: null, attribute_map: null, sign_requests: false, allow_idp_initiated: false },
      jit: true,
    },
    last_test: null,
    created_at: '2026-11-21T10:00:00.000Z',
    updated_at: '2026-11-21T10:00:00.000Z',
  },
  service_provider: {
    start_url: 'https://llm.example/v1/auth/sso/acme/start',
    callback_url: 'https://llm.example/v1/auth/sso/acme/callback',
    logout_url: 'https://llm.example/v1/auth/sso/acme/logout',
    acs_url: 'https://llm.example/v1/auth/sso/acme/acs',
    entity_id: 'https://llm.example/v1/auth/sso/acme/metadata',
  },
  domains: [domainExample],
  scim_url: 'https://llm.example/scim/v2',
  scim_tokens: [scimTokenExample],
};
