// `PATCH /v1/keys/{id}`: a JSON merge patch over a key's settings.
import { type Context, invalid, notFound, orgCaller, ServiceError, timeInMs } from '../kernel/index.ts';
import { lockOrg } from '../orgs/index.ts';
import { statusAt } from './grants/grant.ts';
import { changeBudget, DEFAULT_ALERTS } from './issue.ts';
import {
  CURRENT_SVC_VERSION,
  coversScope,
  refuseGiftToOthers,
  refuseLongerLife,
  refuseLooserPolicy,
  refuseUnknownVersion,
  refuseWiderScopes,
} from './rights.ts';
import type { PatchKeyInput } from './schema.ts';
import { updateKey } from './store.ts';
import type { KeyRow, OwnDataPolicy } from './types.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

type PolicyPatch = { readonly [K in keyof OwnDataPolicy]?: OwnDataPolicy[K] | null };

/** Drops members that are null: they follow the organization's policy again. */
function mergePolicy(own: OwnDataPolicy | null, patch: PolicyPatch | null | undefined): OwnDataPolicy | null {
  if (patch === undefined) return own;
  if (patch === null) return null;
  const members = Object.entries({ ...own, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(members) as OwnDataPolicy;
}

/** `key` with `input` merged in; pure, without checks of rights. */
function mergeKey(key: KeyRow, input: PatchKeyInput): KeyRow {
  const next: Mutable<KeyRow> = { ...key };
  if (input.name !== undefined) next.name = input.name;
  if (input.scopes !== undefined) next.scopes = input.scopes;
  if (input.limits === null) Object.assign(next, { rpm: null, tpm: null, concurrency: null });
  else if (input.limits !== undefined) Object.assign(next, input.limits);
  if (input.budget === null) Object.assign(next, { budget_daily_micro: null, budget_hard: true });
  else if (input.budget !== undefined) {
    if (input.budget.daily_micro !== undefined) next.budget_daily_micro = input.budget.daily_micro;
    if (input.budget.hard !== undefined) next.budget_hard = input.budget.hard ?? true;
  }
  if (input.alerts !== undefined) next.alerts = input.alerts ?? DEFAULT_ALERTS;
  if (input.expires_at !== undefined) {
    next.expires_at = input.expires_at === null ? null : new Date(timeInMs(input.expires_at));
  }
  if (input.svc_version !== undefined) next.svc_version = input.svc_version ?? CURRENT_SVC_VERSION;
  next.data_policy = mergePolicy(key.data_policy, input.data_policy as PolicyPatch | null | undefined);
  return next;
}

function isSameBudget(a: KeyRow, b: KeyRow): boolean {
  return (
    a.budget_daily_micro === b.budget_daily_micro &&
    a.budget_hard === b.budget_hard &&
    a.alerts.length === b.alerts.length &&
    a.alerts.every((percent, i) => percent === b.alerts[i])
  );
}

/**
 * Applies `input` to `key` (held by `lockKey`) and returns it as stored.
 * @throws ServiceError permission_denied for wider scopes or a longer life, state_conflict once it has ended.
 */
export async function patchKey(context: Context, key: KeyRow, input: PatchKeyInput): Promise<KeyRow> {
  const caller = orgCaller(context);
  const now = context.now();
  if (input.scopes !== undefined) {
    refuseWiderScopes(caller, input.scopes);
    refuseGiftToOthers(
      caller,
      key,
      input.scopes.filter((scope) => !coversScope(key.scopes, scope)),
    );
  }
  const next = mergeKey(key, input);
  if (input.expires_at !== undefined) {
    refuseLongerLife(caller, next.expires_at, 'expires_at');
    if (next.expires_at !== null && next.expires_at.getTime() <= now.getTime()) {
      throw invalid('expires_at', 'range', 'expires_at lies in the past. Delete the key to end it now.');
    }
  }
  if (input.svc_version !== undefined) refuseUnknownVersion(next.svc_version);
  // The organization before further rows: both writers of budgets lock in this order.
  const org = await lockOrg(context.db, key.org_id);
  if (org === null) throw notFound();
  if (input.data_policy !== undefined) refuseLooserPolicy(org.data_policy, next.data_policy);
  const state = statusAt(key, now);
  if (state === 'revoked' || state === 'expired') {
    throw new ServiceError('state_conflict', 'The key has ended and cannot be changed.', {
      details: { state },
    });
  }
  if (state === 'rotating' && input.expires_at !== undefined) {
    throw new ServiceError(
      'state_conflict',
      'A key that is being rotated expires at the end of its grace time.',
      {
        details: { state },
      },
    );
  }
  const stored = await updateKey(context.db, next, now);
  if (!isSameBudget(key, next)) await changeBudget(context, org, next);
  return stored;
}
