// The identity provider of an organization: connected, changed, taken away, and found by an address.
import { type Static, Type } from 'typebox';
import {
  type Context,
  invalid,
  lineOf,
  Nothing,
  named,
  notFound,
  nullable,
  operation,
  orgCaller,
  ServiceError,
} from '../../kernel/index.ts';
import { emailKey } from '../../mail/index.ts';
import { lockOrg, type Org } from '../../orgs/index.ts';
import { changesOf, writeAudit } from '../audit/audit.ts';
import { takeSigningKey } from '../saml/service-provider.ts';
import { EmailIn } from '../schema.ts';
import { scimUrl } from '../scim/directory.ts';
import { viewToken } from '../scim/token-schema.ts';
import { listTokens } from '../scim/token-store.ts';
import { endSsoSessions } from '../sessions/store.ts';
import { addressesOf, addressesOfConnection, hostHere, takeAlias } from './addresses.ts';
import { ConfigIn } from './config-schema.ts';
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
import { chooseProvider, isSameIssuer, isSameProvider, secretOf, viewConfig } from './provider.ts';
import {
  ConnectionStatus,
  MappedRoleIn,
  RoleMapIn,
  SsoKind,
  SsoView,
  ssoExample,
  type SsoView as View,
} from './schema.ts';
import type { Connection } from './types.ts';

/** Who changes the way in must have proved who they are: a session left open must not be enough. */
const proven = { ...ssoAudience, reauthenticated: true } as const;
const GROUPS_MAX = 200;

interface PutInput {
  readonly kind: Connection['kind'];
  readonly display_name: string;
  readonly status?: Connection['status'];
  readonly enforce?: boolean;
  readonly default_role?: Connection['default_role'];
  readonly role_map?: Connection['role_map'];
  readonly move_here?: boolean;
  readonly config: Static<typeof ConfigIn>;
}

/** What an organization sees of its single sign-on; nothing of the secret. */
async function viewSso(context: Context): Promise<View> {
  const { org_id } = orgCaller(context);
  const alias = await findAlias(context.db, org_id);
  const found = await findConnection(context.db, org_id);
  const domains = await listDomains(context.db, org_id);
  const tokens = await listTokens(context.db, org_id);
  const service_provider =
    found === null
      ? alias && addressesOf(context, { alias, host: await hostHere(context, org_id) })
      : await addressesOfConnection(context, found);
  return {
    configured: found !== null,
    sso: found === null || alias === null ? null : viewConnection(found, alias),
    service_provider: service_provider || null,
    domains: domains.map(viewDomain),
    scim_url: await scimUrl(context),
    scim_tokens: tokens.map(viewToken),
  };
}

function viewConnection(connection: Connection, alias: string): NonNullable<View['sso']> {
  const { kind, display_name, status, enforce, default_role, role_map, last_test } = connection;
  return {
    ...{ kind, alias, display_name, status, enforce, default_role, role_map: { ...role_map } },
    config: viewConfig(connection),
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

const audited = ['kind', 'display_name', 'status', 'enforce', 'default_role', 'role_map', 'config'] as const;

export const putSsoOperation = operation({
  name: 'sso.put',
  method: 'PUT',
  path: '/v1/org/sso',
  summary: 'Connect an identity provider by OpenID Connect or SAML, in the place of the one before',
  audience: proven,
  input: Type.Object({
    kind: SsoKind,
    display_name: lineOf(120),
    status: Type.Optional(ConnectionStatus),
    enforce: Type.Optional(
      Type.Boolean({ description: 'whether passwords are refused to addresses of the proved domains' }),
    ),
    default_role: Type.Optional(MappedRoleIn),
    role_map: Type.Optional(RoleMapIn),
    move_here: Type.Optional(
      Type.Boolean({
        description:
          'whether the provider was given the addresses of the host that this request came to; else those stay that it had',
      }),
    ),
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
    const { kind, config: given } = input;
    const { org_id } = orgCaller(context);
    // Asked before the transaction: a provider that is slow holds no lock.
    const known = await findConnection(context.db, org_id);
    const chosen = await chooseProvider(context, { kind, given, before: known });
    await context.transaction(async (context) => {
      const org = await lockOrg(context.db, org_id);
      if (org === null) throw notFound();
      if (enforce) await refuseLockOut(context, org, status);
      const alias = await takeAlias(context, org);
      const before = await findConnection(context.db, org.id);
      const client_secret = secretOf(context, org.id, { before, chosen, given });
      // A provider has the addresses that it was given until somebody says that it was given others.
      const stays = before !== null && !input.move_here;
      const host = stays ? before.host : await hostHere(context, org.id);
      const { entity_id } = addressesOf(context, { alias, host });
      if (chosen.kind === 'saml' && chosen.config.sign_requests)
        await takeSigningKey(context, { org_id: org.id, entity_id });
      const { config } = chosen;
      const next = {
        kind,
        display_name: input.display_name,
        status,
        enforce,
        default_role,
        role_map,
        config,
      };
      await putConnection(context.db, {
        ...{ org_id: org.id, ...next, ...chosen, client_secret, host, at: context.now() },
        last_test: isSameProvider(before, chosen) ? (before?.last_test ?? null) : null,
      });
      // Sessions of a provider that is not trusted any more do not outlive it.
      if (status !== 'active' || !isSameIssuer(before, chosen))
        await endSsoSessions(context.db, { org_id: org.id, user_id: null });
      const ended = await endRuledSessions(context, org.id);
      await audit(context, { before, next, secret: given.client_secret !== undefined, ended });
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
