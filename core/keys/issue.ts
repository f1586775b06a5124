// Creating keys: new ones, and successors by rotation.
import type { Static } from 'typebox';
import {
  type Context,
  invalid,
  type KeyCaller,
  type MemberCaller,
  microUsd,
  notFound,
  orgCaller,
  type Scope,
  ServiceError,
  writingManifest,
} from '../kernel/index.ts';
import { orderBudget } from '../ledger/index.ts';
import {
  findProject,
  keysPerHour,
  lockOrg,
  type Org,
  type Project,
  planLimits,
  refuseUnaccepted,
} from '../orgs/index.ts';
import { writeKeyEvent } from './events.ts';
import { statusAt } from './grants/grant.ts';
import {
  CURRENT_SVC_VERSION,
  personBehind,
  refuseGiftToOthers,
  refuseLongerLife,
  refuseLooserPolicy,
  refuseServiceKey,
  refuseUnknownVersion,
  refuseWiderScopes,
} from './rights.ts';
import type { CreateKeyInput } from './schema.ts';
import { hashSecret, keyHint, newKeySecret } from './secret.ts';
import { beginGrace, countKeys, countMade, insertKey, revokeKey, setChainBudget } from './store.ts';
import type { KeyRow, OwnDataPolicy } from './types.ts';

const HOUR_MS = 3_600_000;
export const DEFAULT_ALERTS: readonly number[] = [50, 80, 100];

interface IssueInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly environment: KeyRow['environment'];
  readonly rpm?: number | null;
  readonly tpm?: number | null;
  readonly concurrency?: number | null;
  readonly budget_daily_micro?: number | null;
  readonly budget_hard?: boolean;
  readonly alerts?: readonly number[];
  readonly expires_at?: Date | null;
  readonly svc_version?: string;
  readonly data_policy?: OwnDataPolicy | null;
  readonly created_by?: string | null;
  /** The Kubernetes object that makes it. */
  readonly managed_by?: string | null;
  /** Time of creation; the present when absent. */
  readonly at?: Date;
}

/** Orders the budget of a rotation chain, which the windows of the ledger enforce. */
async function applyBudget(context: Context, org: Org, key: KeyRow): Promise<void> {
  await orderBudget(context, org.shard, {
    book_id: key.environment === 'live' ? org.live_book_id : org.sandbox_book_id,
    subject: { key_no: key.chain_no },
    cap_micro_usd: key.budget_daily_micro === null ? null : microUsd(key.budget_daily_micro),
    hard: key.budget_hard,
    alerts: key.alerts,
  });
}

/**
 * Makes a key of `project` without checking rights: for `svcctl`, the seed and `issueKey`. Call inside
 * a transaction. @throws ServiceError plan_limit_reached, invalid_request.
 */
export async function createKey(
  context: Context,
  org: Org,
  project: Project,
  wanted: IssueInput,
): Promise<{ key: KeyRow; secret: string }> {
  if (project.environment === 'test' && wanted.environment === 'live') {
    throw invalid('environment', 'enum', 'A test project can only have test keys.');
  }
  const now = wanted.at ?? context.now();
  const { keys } = planLimits(org);
  if (keys !== null && (await countKeys(context.db, { org_id: org.id, now })) >= keys) {
    throw new ServiceError(
      'plan_limit_reached',
      `The plan allows ${keys} keys. Revoke one or change the plan.`,
      {
        details: { limit: 'keys', limit_value: keys },
      },
    );
  }
  const svc_version = wanted.svc_version ?? CURRENT_SVC_VERSION;
  refuseUnknownVersion(svc_version);
  refuseLooserPolicy(org.data_policy, wanted.data_policy ?? null);
  const secret = newKeySecret(wanted.environment);
  const key = await insertKey(context.db, {
    id: context.newId('key'),
    chain_no: null,
    org_id: org.id,
    project_id: project.id,
    environment: wanted.environment,
    name: wanted.name,
    hash: hashSecret(secret),
    hint: keyHint(secret),
    scopes: wanted.scopes,
    rpm: wanted.rpm ?? null,
    tpm: wanted.tpm ?? null,
    concurrency: wanted.concurrency ?? null,
    budget_daily_micro: wanted.budget_daily_micro ?? null,
    budget_hard: wanted.budget_hard ?? true,
    alerts: wanted.alerts ?? DEFAULT_ALERTS,
    svc_version,
    data_policy: wanted.data_policy ?? null,
    created_by: wanted.created_by ?? null,
    managed_by: wanted.managed_by ?? null,
    rotated_from: null,
    expires_at: wanted.expires_at ?? null,
    at: now,
  });
  await applyBudget(context, org, key);
  await writeKeyEvent(context, 'key.created', key);
  return { key, secret };
}

/**
 * Refuses more keys than an organization that somebody made by signing up can create in an hour; its row is locked, so that counting takes
 * turns. Successors by rotation are none of them: whoever has lost a key must get another. @throws ServiceError rate_limit_exceeded.
 */
async function refuseTooMany(context: Context, org: Org, now: Date): Promise<void> {
  const most = keysPerHour(org);
  if (most === null) return;
  const since = new Date(now.getTime() - HOUR_MS);
  const { keys, first_at } = await countMade(context.db, { org_id: org.id, since });
  if (keys < most) return;
  const reset_ms = (first_at ?? now).getTime() + HOUR_MS - now.getTime();
  throw new ServiceError('rate_limit_exceeded', `This organization can create ${most} keys in an hour.`, {
    details: { limit: 'keys_per_hour', scope: 'org', limit_value: most, reset_ms },
    retry_after_ms: reset_ms,
  });
}

function endOf(expires_in: string | undefined, org: Org, now: Date): Date | null {
  if (expires_in !== undefined) {
    return new Date(now.getTime() + Number(expires_in.slice(0, -1)) * HOUR_MS);
  }
  const days = org.settings.security?.key_default_expiry_days ?? 0;
  return days === 0 ? null : new Date(now.getTime() + days * 24 * HOUR_MS);
}

/**
 * When the successor of `old` ends: a person gives it the old key's lifetime again, counted from now; with a key the
 * end stays the same.
 */
function endOfSuccessor(caller: KeyCaller | MemberCaller, old: KeyRow, now: Date): Date | null {
  if (old.expires_at === null || caller.kind === 'key') return old.expires_at;
  return new Date(now.getTime() + old.expires_at.getTime() - old.created_at.getTime());
}

/**
 * `POST /v1/keys`, for a key or a member.
 * @throws ServiceError for what the key may not give, and at the plan's bound.
 */
export async function issueKey(
  context: Context,
  input: Static<typeof CreateKeyInput>,
): Promise<{ key: KeyRow; secret: string }> {
  const caller = orgCaller(context);
  refuseWiderScopes(caller, input.scopes);
  if (input.service === true) refuseServiceKey(caller);
  if (caller.environment === 'test' && input.environment === 'live') {
    throw new ServiceError('sandbox_key_not_allowed', 'A test key can only make test keys.', {
      param: 'environment',
    });
  }
  const org = await lockOrg(context.db, caller.org_id);
  const project = await findProject(context.db, { org_id: caller.org_id, id: input.project_id });
  if (org === null || project === null) throw notFound();
  await refuseUnaccepted(context, org.id);
  const at = context.now();
  await refuseTooMany(context, org, at);
  const expires_at = endOf(input.expires_in, org, at);
  refuseLongerLife(caller, expires_at, 'expires_in');
  return createKey(context, org, project, {
    name: input.name,
    scopes: input.scopes,
    environment: input.environment ?? (caller.environment === 'test' ? 'test' : project.environment),
    ...input.limits,
    budget_daily_micro: input.budget?.daily_micro ?? null,
    budget_hard: input.budget?.hard ?? true,
    alerts: input.alerts ?? DEFAULT_ALERTS,
    expires_at,
    svc_version: input.svc_version ?? CURRENT_SVC_VERSION,
    data_policy: (input.data_policy as OwnDataPolicy | null | undefined) ?? null,
    created_by: input.service === true ? null : personBehind(caller),
    managed_by: writingManifest(context),
    at,
  });
}

/**
 * Replaces `old` (held by `lockKey`) by a key with all its settings, which goes on in its budget windows.
 * @throws ServiceError state_conflict unless active; permission_denied where it would give more than the caller has.
 */
export async function rotateKey(
  context: Context,
  old: KeyRow,
  grace_seconds: number,
): Promise<{ key: KeyRow; secret: string }> {
  const caller = orgCaller(context);
  const now = context.now();
  refuseWiderScopes(caller, old.scopes);
  refuseGiftToOthers(caller, old, old.scopes);
  refuseLongerLife(caller, old.expires_at, 'id');
  const state = statusAt(old, now);
  if (state !== 'active') {
    throw new ServiceError('state_conflict', 'Only an active key can be rotated.', { details: { state } });
  }
  const secret = newKeySecret(old.environment);
  const key = await insertKey(context.db, {
    ...old,
    id: context.newId('key'),
    hash: hashSecret(secret),
    hint: keyHint(secret),
    rotated_from: old.id,
    expires_at: endOfSuccessor(caller, old, now),
    at: now,
  });
  if (grace_seconds === 0) {
    await endKey(context, old);
  } else {
    const grace_ends = now.getTime() + grace_seconds * 1000;
    await beginGrace(context.db, {
      org_id: old.org_id,
      id: old.id,
      ends_at: new Date(Math.min(grace_ends, old.expires_at?.getTime() ?? grace_ends)),
      at: now,
    });
  }
  await writeKeyEvent(context, 'key.rotated', key);
  return { key, secret };
}

/** Revokes `key` (held by `lockKey`); one that was revoked before stays as it is. */
export async function endKey(context: Context, key: KeyRow): Promise<KeyRow> {
  const revoked = await revokeKey(context.db, { org_id: key.org_id, id: key.id, at: context.now() });
  if (key.status !== 'revoked') await writeKeyEvent(context, 'key.revoked', revoked);
  return revoked;
}

/** Sets the budget of a whole chain, rows and ledger alike. */
export async function changeBudget(context: Context, org: Org, key: KeyRow): Promise<void> {
  await setChainBudget(context.db, {
    org_id: key.org_id,
    chain_no: key.chain_no,
    daily_micro: key.budget_daily_micro,
    hard: key.budget_hard,
    alerts: key.alerts,
    at: context.now(),
  });
  await applyBudget(context, org, key);
}
