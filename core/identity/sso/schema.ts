// Wire shapes of single sign-on.
import { type Static, Type } from 'typebox';
import { lineOf, named, nullable, Time } from '../../kernel/index.ts';

export const DomainIn = lineOf(253);

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

export const SsoView = named(
  'SingleSignOn',
  Type.Object({
    configured: Type.Boolean({ description: 'whether an identity provider is connected' }),
    domains: Type.Array(SsoDomainView),
  }),
);
export type SsoView = Static<typeof SsoView>;

export const domainExample = {
  domain: 'acme.example',
  record: '_svc-challenge.acme.example',
  token: 'svc-verify=4g7kD9x2MqP0r5TwZ8z1C4g7kD9x2MqP',
  verified_at: null,
} satisfies SsoDomainView;

export const ssoExample = { configured: false, domains: [domainExample] } satisfies SsoView;
