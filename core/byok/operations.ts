// Provider keys of an organization: list, add, change, delete, validate.
import { Type } from 'typebox';
import { OWN_KEY_FEE_BPS, type Provider } from '../catalog/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  idOf,
  invalid,
  isId,
  lineOf,
  Nothing,
  named,
  notFound,
  operation,
  orgCaller,
  ServiceError,
} from '../kernel/index.ts';
import { lockOrg } from '../orgs/index.ts';
import { ByokProviderView, ByokView, byokExample, ValidationView, viewByok } from './schema.ts';
import { hintOf, openProviderKey, sealProviderKey } from './seal.ts';
import {
  deleteByokKey,
  findByokKey,
  insertByokKey,
  isLabelTaken,
  listByokKeys,
  lockByokKey,
  noteProbe,
  readSealedKey,
  replaceSecret,
  updateByokKey,
} from './store.ts';
import type { ByokRow, ProviderKeys } from './types.ts';

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** How providers are asked with a key; absent in programs that ask none. */
    readonly provider_keys?: ProviderKeys;
  }
}

const session = ['owner', 'admin', 'developer'] as const;
const readers = { kind: 'key', scopes: ['manage:keys'], session } as const;
/** Provider keys serve the whole organization, live calls included, so a test key may not change them. */
const writers = { kind: 'key', scopes: ['manage:keys'], session, sandbox: false } as const;
const KEYS_MAX = 100;

/** Secrets are sent in headers: printable ASCII without blanks. Keys with a session token are the longest. */
const Secret = Type.String({
  minLength: 8,
  maxLength: 8_192,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'the key as the provider gave it; for AWS `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]`. Never shown again',
});
const Label = lineOf(64, 0);
const Fallback = Type.Boolean({
  description: 'whether the pool may answer, at its price, when the key cannot',
});
const WithKey = named('ProviderKeyAnswer', Type.Object({ key: ByokView }));

function providerKeys({ services }: Context): ProviderKeys {
  if (services.provider_keys === undefined) throw new Error('this program asks no providers');
  return services.provider_keys;
}

/** The provider `id`, which takes keys of callers. @throws ServiceError not_found. */
function capableProvider(context: Context, id: string): Provider {
  const provider = context.services.catalog().providers.get(id);
  if (provider !== undefined && provider.byok !== 'no') return provider;
  throw new ServiceError('not_found', 'There is no such provider, or it does not accept keys of your own.', {
    param: 'provider_id',
  });
}

function refuseUnusable(context: Context, provider: Provider, secret: string): void {
  const fault = providerKeys(context).faultOf(provider, secret);
  if (fault !== null) throw invalid('secret', 'format', `The secret ${fault}.`);
}

async function getKey(context: Context, id: string, find: typeof findByokKey): Promise<ByokRow> {
  const { org_id } = orgCaller(context);
  const key = isId('byok', id) ? await find(context.db, { org_id, id }) : null;
  if (key === null) throw notFound();
  return key;
}

function audit(
  context: Context,
  action: string,
  key: ByokRow,
  change: { before?: Record<string, unknown>; after?: Record<string, unknown> } = {},
): Promise<void> {
  const target = { type: 'byok', id: key.id, display: `${key.provider_id} ${key.label}`.trim() };
  return writeAudit(context, { action, org_id: key.org_id, target, ...change });
}

/** Calls of this process see the change from the next one on; other processes hear of it from the database. */
function announce(context: Context, { org_id }: ByokRow): void {
  context.afterCommit(() => context.services.byok?.forget(org_id));
}

function labelTaken(): ServiceError {
  return new ServiceError('conflict', 'A key for this provider already has this label.', { param: 'label' });
}

export const listByokOperation = operation({
  name: 'byok.list',
  method: 'GET',
  path: '/v1/byok',
  summary: 'List your own provider keys, oldest first, and the providers that accept them',
  audience: readers,
  input: Type.Object({}),
  output: named(
    'ProviderKeyList',
    Type.Object({
      object: Type.Literal('list'),
      data: Type.Array(ByokView),
      providers: Type.Array(ByokProviderView),
      fee_bps: Type.Integer({ description: 'share of the list cost that a call with such a key costs' }),
    }),
  ),
  errors: [],
  example: {
    object: 'list',
    data: [byokExample],
    providers: [{ id: 'openai', name: 'OpenAI', byok_capable: true, byok_required: false }],
    fee_bps: OWN_KEY_FEE_BPS,
  },
  async run(context) {
    const rows = await listByokKeys(context.db, orgCaller(context).org_id);
    const providers = [...context.services.catalog().providers.values()].filter(
      ({ base_url }) => base_url !== '',
    );
    return {
      object: 'list' as const,
      data: rows.map(viewByok),
      providers: providers.map(({ id, name, byok }) => ({
        ...{ id, name },
        byok_capable: byok !== 'no',
        byok_required: byok === 'required',
      })),
      fee_bps: OWN_KEY_FEE_BPS,
    };
  },
});

export const createByokOperation = operation({
  name: 'byok.create',
  method: 'POST',
  path: '/v1/byok',
  summary: 'Add a provider key of your own; it is stored encrypted and never shown again',
  audience: writers,
  input: Type.Object({
    provider_id: lineOf(64),
    secret: Secret,
    label: Type.Optional(Label),
    fallback_to_pool: Type.Optional(Fallback),
  }),
  output: WithKey,
  errors: ['conflict', 'plan_limit_reached'],
  status: 201,
  idempotent: true,
  request: { provider_id: 'openai', secret: 'sk-proj-0123456789', label: 'research' },
  example: { key: byokExample },
  run: (context, { provider_id, secret, label, fallback_to_pool }) =>
    context.transaction(async (context) => {
      refuseUnusable(context, capableProvider(context, provider_id), secret);
      const caller = orgCaller(context);
      const { org_id } = caller;
      // When two requests add the last allowed key at the same time, one waits for the lock and is refused.
      await lockOrg(context.db, org_id);
      if ((await listByokKeys(context.db, org_id)).length >= KEYS_MAX) {
        throw new ServiceError(
          'plan_limit_reached',
          `An organization has at most ${KEYS_MAX} provider keys.`,
          {
            details: { limit: 'byok', limit_value: KEYS_MAX },
          },
        );
      }
      const id = context.newId('byok');
      const key = await insertByokKey(context.db, {
        ...{ id, org_id, provider_id, label: label ?? '', hint: hintOf(secret) },
        fallback_to_pool: fallback_to_pool ?? false,
        secret_sealed: sealProviderKey(context.services.root_key, id, secret),
        created_by: caller.kind === 'session' ? caller.user_id : caller.key_id,
        at: context.now(),
      });
      if (key === null) throw labelTaken();
      const after = { provider_id, label: key.label, fallback_to_pool: key.fallback_to_pool };
      await audit(context, 'byok.create', key, { after: { ...after, secret: '[redacted]' } });
      announce(context, key);
      return { key: viewByok(key) };
    }),
});

export const patchByokOperation = operation({
  name: 'byok.update',
  method: 'PATCH',
  path: '/v1/byok/:id',
  summary: 'Change a provider key: its label, its secret, whether the pool may answer in its place',
  audience: writers,
  input: Type.Object({
    id: idOf('byok'),
    label: Type.Optional(Label),
    fallback_to_pool: Type.Optional(Fallback),
    secret: Type.Optional(Secret),
  }),
  output: WithKey,
  errors: ['conflict'],
  request: { label: 'research', fallback_to_pool: true },
  example: { key: byokExample },
  run: (context, { id, label, fallback_to_pool, secret }) =>
    context.transaction(async (context) => {
      // The lock lets only one label of an organization be set at a time, as in `byok.create`.
      if (label !== undefined) await lockOrg(context.db, orgCaller(context).org_id);
      const before = await getKey(context, id, lockByokKey);
      const at = context.now();
      const wanted: ByokRow = {
        ...before,
        label: label ?? before.label,
        fallback_to_pool: fallback_to_pool ?? before.fallback_to_pool,
      };
      if (label !== undefined && (await isLabelTaken(context.db, wanted))) throw labelTaken();
      let key = await updateByokKey(context.db, wanted, at);
      if (secret !== undefined) {
        refuseUnusable(context, capableProvider(context, key.provider_id), secret);
        const secret_sealed = sealProviderKey(context.services.root_key, key.id, secret);
        key = await replaceSecret(context.db, { ...key, hint: hintOf(secret), secret_sealed, at });
      }
      const shown = ({ label, fallback_to_pool }: ByokRow) => ({ label, fallback_to_pool });
      const redacted = secret === undefined ? {} : { secret: '[redacted]' };
      const change = { before: shown(before), after: { ...shown(key), ...redacted } };
      await audit(context, 'byok.update', key, change);
      announce(context, key);
      return { key: viewByok(key) };
    }),
});

export const deleteByokOperation = operation({
  name: 'byok.delete',
  method: 'DELETE',
  path: '/v1/byok/:id',
  summary: 'Delete a provider key with its secret; no call uses it a second later',
  audience: writers,
  input: Type.Object({ id: idOf('byok') }),
  output: Nothing,
  errors: [],
  status: 204,
  example: {},
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const key = await getKey(context, id, lockByokKey);
      await deleteByokKey(context.db, key);
      await audit(context, 'byok.delete', key);
      announce(context, key);
      return {};
    }),
});

export const validateByokOperation = operation({
  name: 'byok.validate',
  method: 'POST',
  path: '/v1/byok/:id/validate',
  summary: 'Ask the provider whether it accepts the key, by a request that costs nothing',
  audience: writers,
  input: Type.Object({ id: idOf('byok') }),
  output: named('ProviderKeyValidated', Type.Object({ validation: ValidationView, key: ByokView })),
  errors: [],
  own_transactions: true,
  example: {
    validation: { ok: true, provider_id: 'openai', status: 200, models: 71, message: null },
    key: { ...byokExample, validated_at: '2026-11-21T10:00:00.000Z' },
  },
  async run(context, { id }) {
    const found = await getKey(context, id, findByokKey);
    const provider = capableProvider(context, found.provider_id);
    const secret_sealed = await readSealedKey(context.db, found);
    if (secret_sealed === null) throw notFound();
    const secret = openProviderKey(context.services.root_key, found.id, secret_sealed);
    const { rejected, ...probe } = await providerKeys(context).probe(provider, secret);
    const { ok, status } = probe;
    return context.transaction(async (context) => {
      const accepted = ok ? 'active' : found.status;
      const noted = await noteProbe(context.db, {
        ...{ org_id: found.org_id, id: found.id, secret_sealed },
        // An answer that says nothing about the key changes nothing.
        status: rejected ? 'rejected' : accepted,
        validated_at: ok ? context.now() : null,
      });
      // The key was deleted or replaced meanwhile, so the result is about a secret that is gone.
      const key = noted ?? (await getKey(context, id, findByokKey));
      await audit(context, 'byok.validate', key, { after: { ok, status } });
      return { validation: { provider_id: provider.id, ...probe }, key: viewByok(key) };
    });
  },
});

export const byokOperations = [
  listByokOperation,
  createByokOperation,
  patchByokOperation,
  deleteByokOperation,
  validateByokOperation,
] as const;
