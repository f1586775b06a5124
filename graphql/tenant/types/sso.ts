// Single sign-on: the identity provider of the organization and its mail domains.
import {
  addDomainOperation,
  connectionStates,
  createScimTokenOperation,
  deleteScimTokenOperation,
  deleteSsoOperation,
  getSsoOperation,
  listScimLogOperation,
  mappedRoles,
  putSsoOperation,
  removeDomainOperation,
  ScimLogView,
  ScimTokenView,
  SsoConnectionView,
  SsoDomainView,
  SsoView,
  ssoKinds,
  verifyDomainOperation,
} from '@svc/core/identity/index.ts';
import type { OutputOptions } from '../../derive.ts';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { mutation } from '../mutation.ts';

/** Fields of a derived type are known to the schema, not to the compiler. */
type Fields = Parameters<NonNullable<OutputOptions['extra']>>[0];

derive.enum('SsoDomainFault', ['record_not_found', 'record_differs']);
derive.enum('SsoStatus', connectionStates);
derive.enum('SsoKind', ssoKinds);
derive.enum('MappedRole', mappedRoles);
const SsoDomain = derive.output('SsoDomain', SsoDomainView);
const SsoConnection = derive.output('SsoConnection', SsoConnectionView);
const ScimToken = derive.output('ScimToken', ScimTokenView);
const ScimLogConnection = connectionType('ScimLogRow', derive.output('ScimLogRow', ScimLogView));
const SingleSignOn = derive.output('SingleSignOn', SsoView, {
  omit: ['domains', 'scim_tokens', 'sso'],
  extra: (t) => ({
    connection: t.field({
      type: SsoConnection,
      nullable: true,
      description: 'The identity provider; null when none is connected.',
      resolve: ({ sso }: { readonly sso: unknown }) => sso,
    }),
    domains: t.field({
      type: [SsoDomain],
      description: 'Mail domains, by name.',
      resolve: ({ domains }: { readonly domains: unknown }) => domains,
    }),
    scimTokens: t.field({
      type: [ScimToken],
      description: 'Tokens of the directory, oldest first.',
      resolve: ({ scim_tokens }: { readonly scim_tokens: unknown }) => scim_tokens,
    }),
  }),
});

builder.queryFields((t) => ({
  sso: t.field({
    type: SingleSignOn,
    nullable: true,
    description: 'Single sign-on of the organization.',
    extensions: { operation: getSsoOperation.name },
    resolve: (_root, _args, { runner }) => runner.run(getSsoOperation, {}),
  }),
  scimLog: pageField(t, 'ScimLog', {
    operation: listScimLogOperation,
    type: ScimLogConnection,
    description: 'What the directory asked in the last 90 days, newest first, also what was refused.',
    options: () => ({}),
  }),
}));

interface OfDomain {
  readonly answer: { readonly domain: unknown };
}
const domain = (t: Fields) => t.field({ type: SsoDomain, resolve: ({ answer }: OfDomain) => answer.domain });

mutation({
  name: 'putSso',
  operation: putSsoOperation,
  input: putSsoOperation.input,
  description: 'Connects an identity provider, in the place of the one before.',
  payload: (t) => ({
    sso: t.field({ type: SingleSignOn, resolve: ({ answer }: { readonly answer: unknown }) => answer }),
  }),
});

mutation({
  name: 'deleteSso',
  operation: deleteSsoOperation,
  input: deleteSsoOperation.input,
  description: 'Takes the identity provider away; its sessions end, the domains stay.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});

mutation({
  name: 'addSsoDomain',
  operation: addDomainOperation,
  input: addDomainOperation.input,
  description: 'Claims a mail domain.',
  payload: (t) => ({
    domain: domain(t),
    instructions: t.string({
      resolve: ({ answer }: { readonly answer: { readonly instructions: string } }) => answer.instructions,
    }),
  }),
});

interface Verified {
  readonly answer: { readonly verified: boolean; readonly reason: string | null };
}
mutation({
  name: 'verifySsoDomain',
  operation: verifyDomainOperation,
  input: verifyDomainOperation.input,
  description: 'Looks for the TXT record of a mail domain.',
  payload: (t) => ({
    verified: t.boolean({ resolve: ({ answer }: Verified) => answer.verified }),
    reason: t.string({ nullable: true, resolve: ({ answer }: Verified) => answer.reason }),
    domain: domain(t),
  }),
});

mutation({
  name: 'removeSsoDomain',
  operation: removeDomainOperation,
  input: removeDomainOperation.input,
  description: 'Gives a mail domain up.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});

interface TokenMade {
  readonly answer: { readonly id: string; readonly token: string; readonly url: string };
}
mutation({
  name: 'createScimToken',
  operation: createScimTokenOperation,
  input: createScimTokenOperation.input,
  description: 'Makes a token for the directory; the answer shows it once.',
  payload: (t) => ({
    id: t.id({ resolve: ({ answer }: TokenMade) => answer.id }),
    token: t.string({ resolve: ({ answer }: TokenMade) => answer.token }),
    url: t.string({ resolve: ({ answer }: TokenMade) => answer.url }),
  }),
});

mutation({
  name: 'deleteScimToken',
  operation: deleteScimTokenOperation,
  input: deleteScimTokenOperation.input,
  description: 'Ends a token of the directory.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});
