// Operations over API keys.
import { Type } from 'typebox';
import { changesOf, writeAudit } from '../identity/index.ts';
import {
  type Context,
  idOf,
  isId,
  notFound,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  refuseOtherVersion,
  ServiceError,
  sendVersion,
  walkPage,
} from '../kernel/index.ts';
import { orderResumption } from '../ledger/index.ts';
import { findOrg } from '../orgs/index.ts';
import { endKey, issueKey, rotateKey } from './issue.ts';
import { patchKey } from './patch.ts';
import { CreateKeyInput, KeyView, KeyWithSecret, keyExample, keyStatuses, PatchKeyInput } from './schema.ts';
import { findKey, listKeys, lockKey } from './store.ts';
import type { KeyRow } from './types.ts';
import { sightOf, viewKey, viewKeys } from './view.ts';

const audience = { kind: 'key', scopes: ['manage:keys'], session: ['owner', 'admin', 'developer'] } as const;
const readers = {
  kind: 'key',
  scopes: ['manage:keys'],
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;
const DEFAULT_LIMIT = 100;

async function getRow(context: Context, id: string, find: typeof findKey): Promise<KeyRow> {
  const caller = orgCaller(context);
  if (!isId('key', id)) throw notFound();
  const key = await find(context.db, { org_id: caller.org_id, environment: sightOf(caller), id });
  if (key === null) throw notFound();
  return key;
}

/** What may change about a key, as the audit log shows it. */
const SETTINGS = [
  'name',
  'scopes',
  'rpm',
  'tpm',
  'concurrency',
  'budget_daily_micro',
  'budget_hard',
  'alerts',
  'expires_at',
  'svc_version',
  'data_policy',
] as const;

/** Notes in the audit log what was done to `key`. */
function record(
  context: Context,
  action: string,
  key: KeyRow,
  changes: { before?: Record<string, unknown>; after?: Record<string, unknown> } = {},
): Promise<void> {
  const target = { type: 'key', id: key.id, display: key.hint };
  return writeAudit(context, { action, org_id: key.org_id, target, ...changes });
}

export const listKeysOperation = operation({
  name: 'keys.list',
  method: 'GET',
  path: '/v1/keys',
  summary: 'List API keys, newest first',
  audience: readers,
  input: Type.Object({
    status: Type.Optional(oneOf(keyStatuses, 'KeyStatus')),
    environment: Type.Optional(oneOf(['live', 'test'], 'Environment')),
    project_id: Type.Optional(idOf('project')),
    managed_by: Type.Optional(
      Type.String({
        maxLength: 512,
        description: 'keys of this Kubernetes object, k8s/<cluster>/<namespace>/<name>',
      }),
    ),
    ...pageInput(200),
  }),
  output: pageOf(KeyView),
  errors: [],
  example: { object: 'list', data: [keyExample], next_cursor: '' },
  async run(context, input) {
    const caller = orgCaller(context);
    const sight = sightOf(caller);
    // A test key may not see live keys, so the list is empty.
    if (sight === 'test' && input.environment === 'live') return page([], '');
    const filter = {
      // A person reads live rows unless `?environment=test` says otherwise; a live key reads both.
      environment: input.environment ?? (caller.kind === 'session' ? caller.environment : sight),
      project_id: input.project_id ?? null,
      status: input.status ?? null,
      managed_by: input.managed_by ?? null,
    };
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `keys.list ${caller.org_id} ${JSON.stringify(filter)}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) =>
        listKeys(context.db, { org_id: caller.org_id, ...filter, now: context.now(), after, limit }),
      placeOf: (row) => ({ at: row.created_at.getTime(), id: row.id }),
    });
    return page(await viewKeys(context, rows), next_cursor, cursorAt);
  },
});

export const getKeyOperation = operation({
  name: 'keys.get',
  method: 'GET',
  path: '/v1/keys/:id',
  summary: 'Read an API key',
  audience: readers,
  input: Type.Object({ id: idOf('key') }),
  output: KeyView,
  errors: [],
  versioned: true,
  example: keyExample,
  async run(context, { id }) {
    const key = await getRow(context, id, findKey);
    sendVersion(context, key.updated_at);
    return viewKey(context, key);
  },
});

export const createKeyOperation = operation({
  name: 'keys.create',
  method: 'POST',
  path: '/v1/keys',
  summary: 'Create an API key; the answer shows its secret once',
  audience,
  input: CreateKeyInput,
  output: KeyWithSecret,
  errors: [
    ...(['plan_limit_reached', 'unsupported_version', 'sandbox_key_not_allowed'] as const),
    'legal_acceptance_required',
  ],
  status: 201,
  idempotent: true,
  request: {
    project_id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    name: 'checkout service',
    scopes: ['inference'],
    environment: 'live',
    limits: { rpm: 120 },
    budget: { daily_micro: 5_000_000, hard: true },
    expires_in: '2160h',
  },
  example: { ...keyExample, secret: 'svc-live-0123456789ABCDEFGHIJKLMNOPQRSTUV1fDVvb' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const { key, secret } = await issueKey(context, input);
      const { name, scopes, environment } = key;
      const service = key.created_by === null;
      await record(context, 'keys.create', key, { after: { name, scopes, environment, service } });
      return { ...(await viewKey(context, key)), secret };
    }),
});

export const patchKeyOperation = operation({
  name: 'keys.update',
  method: 'PATCH',
  path: '/v1/keys/:id',
  summary: 'Change an API key',
  audience,
  input: PatchKeyInput,
  output: KeyView,
  errors: ['state_conflict', 'unsupported_version'],
  versioned: true,
  request: { name: 'checkout service', budget: { daily_micro: 10_000_000 }, limits: { rpm: null } },
  example: keyExample,
  async run(context, input) {
    const changed = await context.transaction(async (context) => {
      const key = await getRow(context, input.id, lockKey);
      refuseOtherVersion(context, key.updated_at);
      const changed = await patchKey(context, key, input);
      await record(context, 'keys.update', key, changesOf(key, changed, SETTINGS));
      context.afterCommit(() => context.services.key_ring.forget(key.id));
      return changed;
    });
    return viewKey(context, changed);
  },
});

export const deleteKeyOperation = operation({
  name: 'keys.revoke',
  method: 'DELETE',
  path: '/v1/keys/:id',
  summary: 'Revoke an API key; it stops everywhere within a second',
  audience,
  input: Type.Object({ id: idOf('key') }),
  output: KeyView,
  errors: [],
  versioned: true,
  example: { ...keyExample, status: 'revoked', revoked_at: '2026-11-21T11:00:00.000Z' },
  async run(context, { id }) {
    const revoked = await context.transaction(async (context) => {
      const key = await getRow(context, id, lockKey);
      refuseOtherVersion(context, key.updated_at);
      const revoked = await endKey(context, key);
      await record(context, 'keys.revoke', key);
      context.afterCommit(() => context.services.key_ring.forget(key.id));
      return revoked;
    });
    return viewKey(context, revoked);
  },
});

export const rotateKeyOperation = operation({
  name: 'keys.rotate',
  method: 'POST',
  path: '/v1/keys/:id/rotate',
  summary: 'Replace an API key; the old one keeps working for the grace time',
  audience,
  input: Type.Object({
    id: idOf('key'),
    grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800 })),
  }),
  output: KeyWithSecret,
  errors: ['state_conflict'],
  status: 201,
  idempotent: true,
  request: { grace_seconds: 3_600 },
  example: {
    ...keyExample,
    rotated_from: 'key_01KACZ3V8S6T5R4Q3P2N1M0K9H',
    secret: 'svc-live-0123456789ABCDEFGHIJKLMNOPQRSTUV1fDVvb',
  },
  run: (context, { id, grace_seconds }) =>
    context.transaction(async (context) => {
      const old = await getRow(context, id, lockKey);
      const { key, secret } = await rotateKey(context, old, grace_seconds ?? 0);
      await record(context, 'keys.rotate', old, { after: { successor: key.id } });
      context.afterCommit(() => context.services.key_ring.forget(old.id));
      return { ...(await viewKey(context, key)), secret };
    }),
});

export const resumeKeyOperation = operation({
  name: 'keys.resume',
  method: 'POST',
  path: '/v1/keys/:id/resume',
  summary: 'Let a key that its budget has stopped call again until the window ends',
  audience,
  input: Type.Object({ id: idOf('key') }),
  output: KeyView,
  errors: ['state_conflict'],
  example: keyExample,
  async run(context, { id }) {
    const resumed = await context.transaction(async (context) => {
      const key = await getRow(context, id, lockKey);
      const org = await findOrg(context.db, key.org_id);
      if (org === null) throw notFound();
      const book_id = key.environment === 'live' ? org.live_book_id : org.sandbox_book_id;
      const place = { shard: org.shard, book_id };
      if (!(await orderResumption(context, place, { key_no: key.chain_no }))) {
        throw new ServiceError(
          'state_conflict',
          'This key is not stopped by a hard budget in the current window.',
        );
      }
      await record(context, 'keys.resume', key);
      return key;
    });
    return viewKey(context, resumed);
  },
});

export const keyOperations = [
  listKeysOperation,
  getKeyOperation,
  createKeyOperation,
  patchKeyOperation,
  deleteKeyOperation,
  rotateKeyOperation,
  resumeKeyOperation,
] as const;
