// The identity provider of an organization: connected, changed, taken away, and found by an address.
import { Type } from 'typebox';
import { egressOf } from '../../egress/index.ts';
import {
  type Context,
  invalid,
  lineOf,
  Nothing,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
  ServiceError,
} from '../../kernel/index.ts';
import { emailKey } from '../../mail/index.ts';
import { lockOrg, type Org } from '../../orgs/index.ts';
import { changesOf, writeAudit } from '../audit/audit.ts';
import { EmailIn } from '../schema.ts';
import { scimUrl } from '../scim/directory.ts';
import { viewToken } from '../scim/token-schema.ts';
import { listTokens } from '../scim/token-store.ts';
import { endSsoSessions } from '../sessions/store.ts';
import { addressesOf, takeAlias } from './addresses.ts';
import {
  deleteConnection,
  findActiveByDomain,
  findAlias,
  findConnection,
  putConnection,
} from './connection-store.ts';
import { domainOf } from './domain-name.ts';
import { listDomains } from './domain-store.ts';
import { ssoAudience, viewDomain } from './domains.ts';
import { endRuledSessions, hasOwnerWithFactor } from './enforce.ts';
import { discoverProvider, OidcFault } from './oidc.ts';
import {
  ConnectionStatus,
  MappedRoleIn,
  RoleMapIn,
  SsoView,
  ssoExample,
  type SsoView as View,
} from './schema.ts';
import { sealClientSecret } from './secret.ts';
import type { Connection, OidcConfig, ProviderFacts } from './types.ts';

/** Who changes the way in must have proved who they are: a session left open must not be enough. */
const proven = { ...ssoAudience, reauthenticated: true } as const;
const DEFAULT_CLAIMS = { email: 'email', name: 'name', groups: 'groups' };
const GROUPS_MAX = 200;

const ClaimIn = Type.Optional(lineOf(120));
const ConfigIn = Type.Object({
  issuer: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'address of the provider, as it names itself',
  }),
  client_id: lineOf(256),
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: 'never shown again; left out, the one before stays while issuer and client stay',
    }),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,128}$' }), { maxItems: 20 }),
  ),
  claim_map: Type.Optional(
    Type.Object({ email: ClaimIn, name: ClaimIn, groups: ClaimIn }, { description: 'names of claims' }),
  ),
  jit: Type.Optional(
    Type.Boolean({ description: 'whether people who are no members become members by coming; default true' }),
  ),
});

interface PutInput {
  readonly display_name: string;
  readonly status?: Connection['status'];
  readonly enforce?: boolean;
  readonly default_role?: Connection['default_role'];
  readonly role_map?: Connection['role_map'];
  readonly config: {
    readonly issuer: string;
    readonly client_id: string;
    readonly client_secret?: string;
    readonly scopes?: readonly string[];
    readonly claim_map?: { readonly email?: string; readonly name?: string; readonly groups?: string };
    readonly jit?: boolean;
  };
}

/** What an organization sees of its single sign-on; nothing of the secret. */
async function viewSso(context: Context): Promise<View> {
  const { org_id } = orgCaller(context);
  const alias = await findAlias(context.db, org_id);
  const found = await findConnection(context.db, org_id);
  const domains = await listDomains(context.db, org_id);
  const tokens = await listTokens(context.db, org_id);
  return {
    configured: found !== null,
    sso: found === null || alias === null ? null : viewConnection(found, alias),
    service_provider: alias === null ? null : addressesOf(context, alias),
    domains: domains.map(viewDomain),
    scim_url: scimUrl(context),
    scim_tokens: tokens.map(viewToken),
  };
}

function viewConnection(connection: Connection, alias: string): NonNullable<View['sso']> {
  const { kind, display_name, status, enforce, default_role, role_map, config, last_test } = connection;
  return {
    ...{ kind, alias, display_name, status, enforce, default_role, role_map: { ...role_map } },
    config: {
      ...config,
      scopes: [...config.scopes],
      claim_map: { ...config.claim_map },
      has_secret: connection.client_secret !== null,
    },
    last_test:
      last_test === null
        ? null
        : { ...last_test, groups: last_test.groups === null ? null : [...last_test.groups] },
    created_at: connection.created_at.toISOString(),
    updated_at: connection.updated_at.toISOString(),
  };
}

export const getSsoOperation = operation({
  name: 'sso.get',
  method: 'GET',
  path: '/v1/org/sso',
  summary: 'Read single sign-on: the identity provider and the mail domains',
  audience: ssoAudience,
  input: Type.Object({}),
  output: SsoView,
  errors: [],
  example: ssoExample,
  run: viewSso,
});

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
    if (!(error instanceof OidcFault)) throw error;
    throw invalid('config.issuer', 'format', words[error.reason] ?? 'The issuer cannot be used.');
  });
}

function configOf({ config }: PutInput): OidcConfig {
  const { issuer, client_id, scopes, claim_map, jit } = config;
  const { email, name, groups } = { ...DEFAULT_CLAIMS, ...claim_map };
  const asked = scopes ?? ['openid', 'email', 'profile'];
  return {
    ...{ issuer, client_id, jit: jit ?? true, claim_map: { email, name, groups } },
    scopes: asked.includes('openid') ? asked : ['openid', ...asked],
  };
}

/** The sealed secret that a connection has from now on; one is never sent to another issuer than it was given for. */
function secretOf(
  context: Context,
  org: Pick<Org, 'id'>,
  { before, input }: { before: Connection | null; input: PutInput },
): Buffer | null {
  const { client_secret, issuer, client_id } = input.config;
  if (client_secret !== undefined) return sealClientSecret(context.services.root_key, org.id, client_secret);
  const is_same = before?.config.issuer === issuer && before.config.client_id === client_id;
  return is_same ? before.client_secret : null;
}

/** @throws ServiceError state_conflict where enforcing would lock everybody out. */
async function refuseLockOut(context: Context, org: Pick<Org, 'id'>, status: string): Promise<void> {
  const refuse = (message: string) => new ServiceError('state_conflict', message, { param: 'enforce' });
  if (status !== 'active') throw refuse('Only an active connection can be asked for.');
  const domains = await listDomains(context.db, org.id);
  if (domains.every(({ verified_at }) => verified_at === null))
    throw refuse('Prove a mail domain first: its addresses are those that single sign-on is asked of.');
  if (!(await hasOwnerWithFactor(context.db, org.id)))
    throw refuse(
      'An owner must have a second factor first: it is the way back when the provider does not work.',
    );
}

const audited = ['display_name', 'status', 'enforce', 'default_role', 'role_map', 'config'] as const;

export const putSsoOperation = operation({
  name: 'sso.put',
  method: 'PUT',
  path: '/v1/org/sso',
  summary: 'Connect an identity provider by OpenID Connect, in the place of the one before',
  audience: proven,
  input: Type.Object({
    kind: oneOf(['oidc']),
    display_name: lineOf(120),
    status: Type.Optional(ConnectionStatus),
    enforce: Type.Optional(
      Type.Boolean({ description: 'whether passwords are refused to addresses of the proved domains' }),
    ),
    default_role: Type.Optional(MappedRoleIn),
    role_map: Type.Optional(RoleMapIn),
    config: ConfigIn,
  }),
  output: SsoView,
  errors: ['state_conflict', 'reauthentication_required', 'csrf_failed'],
  own_transactions: true,
  request: {
    kind: 'oidc',
    display_name: 'Acme ID',
    config: {
      issuer: 'https://id.acme.example',
      client_id: 'svc',
      client_secret: 'a-secret-of-the-provider',
    },
  },
  example: ssoExample,
  async run(context, input: PutInput) {
    const { role_map = {}, default_role = 'developer', status = 'active', enforce = false } = input;
    if (Object.keys(role_map).length > GROUPS_MAX)
      throw invalid('role_map', 'range', `role_map has at most ${GROUPS_MAX} groups.`);
    const config = configOf(input);
    const metadata = await discover(context, config);
    await context.transaction(async (context) => {
      const org = await lockOrg(context.db, orgCaller(context).org_id);
      if (org === null) throw notFound();
      if (enforce) await refuseLockOut(context, org, status);
      await takeAlias(context, org);
      const before = await findConnection(context.db, org.id);
      const client_secret = secretOf(context, org, { before, input });
      const is_same = before?.config.issuer === config.issuer && before.config.client_id === config.client_id;
      const next = { display_name: input.display_name, status, enforce, default_role, role_map, config };
      await putConnection(context.db, {
        ...{ org_id: org.id, ...next, metadata, client_secret, at: context.now() },
        last_test: is_same ? before.last_test : null,
      });
      // Sessions of a provider that is not trusted any more do not outlive it.
      if (status !== 'active' || before?.config.issuer !== config.issuer)
        await endSsoSessions(context.db, { org_id: org.id, user_id: null });
      const ended = await endRuledSessions(context, org.id);
      await audit(context, { before, next, secret: input.config.client_secret !== undefined, ended });
    });
    return viewSso(context);
  },
});

async function audit(
  context: Context,
  put: {
    before: Connection | null;
    next: Pick<Connection, (typeof audited)[number]>;
    secret: boolean;
    ended: number;
  },
): Promise<void> {
  const { org_id } = orgCaller(context);
  const old = put.before ?? ({} as Connection);
  const { before, after } = changesOf<Pick<Connection, (typeof audited)[number]>>(old, put.next, audited);
  await writeAudit(context, {
    ...{ action: 'sso.put', org_id, target: { type: 'sso', id: org_id }, before },
    after: {
      ...after,
      ...(put.secret ? { client_secret: '[redacted]' } : {}),
      ...(put.ended === 0 ? {} : { sessions_ended: put.ended }),
    },
  });
}

export const deleteSsoOperation = operation({
  name: 'sso.delete',
  method: 'DELETE',
  path: '/v1/org/sso',
  summary: 'Take the identity provider away; its sessions end, the domains stay',
  audience: proven,
  input: Type.Object({
    alias: Type.Optional(Type.String({ description: 'refused when it is not the word of this connection' })),
  }),
  output: Nothing,
  errors: ['state_conflict', 'reauthentication_required', 'csrf_failed'],
  status: 204,
  example: {},
  run: (context, { alias }) =>
    context.transaction(async (context) => {
      const { org_id } = orgCaller(context);
      await lockOrg(context.db, org_id);
      if (alias !== undefined && alias !== (await findAlias(context.db, org_id)))
        throw new ServiceError('state_conflict', 'This is not the word of the connection.', {
          param: 'alias',
        });
      if (!(await deleteConnection(context.db, org_id))) throw notFound();
      const sessions = await endSsoSessions(context.db, { org_id, user_id: null });
      const target = { type: 'sso', id: org_id };
      await writeAudit(context, {
        action: 'sso.delete',
        org_id,
        target,
        after: { sessions_ended: sessions },
      });
      return {};
    }),
});

export const discoverSsoOperation = operation({
  name: 'auth.sso.discover',
  method: 'POST',
  path: '/v1/auth/sso/discover',
  summary: 'Whether addresses of a domain sign in by single sign-on; says nothing of the person',
  audience: { kind: 'public' },
  input: Type.Object({ email: EmailIn }),
  output: named(
    'SsoDiscovered',
    Type.Object({
      alias: nullable(Type.String({ description: 'for /v1/auth/sso/{alias}/start; null: with a password' })),
      enforce: Type.Boolean({ description: 'whether a password is refused' }),
    }),
  ),
  errors: ['csrf_failed'],
  request: { email: 'asha@acme.example' },
  example: { alias: 'acme', enforce: true },
  async run(context, { email }) {
    const key = emailKey(email);
    const found = key === null ? null : await findActiveByDomain(context.db, domainOf(key));
    return { alias: found?.alias ?? null, enforce: found?.enforce ?? false };
  },
});
