// A stored key as callers see it.
import type { Context, Environment, KeyCaller, MemberCaller } from '../kernel/index.ts';
import { type BudgetWindow, readWindows } from '../ledger/index.ts';
import { ledgerOf } from '../orgs/index.ts';
import { statusAt } from './grants/grant.ts';
import type { KeyView } from './schema.ts';
import type { KeyRow } from './types.ts';

/** Environments a caller sees: in the test environment only test keys, in the live one both. */
export function sightOf(caller: KeyCaller | MemberCaller): Environment | null {
  return caller.environment === 'test' ? 'test' : null;
}

function iso(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

const DAY_MS = 86_400_000;

function view(context: Context, key: KeyRow, window: BudgetWindow | undefined): KeyView {
  const paused_since = window?.hard === true ? window.exhausted_at : null;
  return {
    id: key.id,
    project_id: key.project_id,
    name: key.name,
    hint: key.hint,
    environment: key.environment,
    scopes: [...key.scopes],
    status: statusAt(key, context.now()),
    limits: { rpm: key.rpm, tpm: key.tpm, concurrency: key.concurrency },
    budget: { daily_micro: key.budget_daily_micro, hard: key.budget_hard },
    alerts: [...key.alerts],
    svc_version: key.svc_version,
    data_policy: key.data_policy as KeyView['data_policy'],
    paused:
      paused_since === null || window === undefined
        ? null
        : {
            reason: 'budget',
            since: paused_since.toISOString(),
            resumes_at: new Date(Date.parse(`${window.start}T00:00:00Z`) + DAY_MS).toISOString(),
          },
    created_by: key.created_by,
    managed_by: key.managed_by,
    rotated_from: key.rotated_from,
    created_at: key.created_at.toISOString(),
    last_used_at: iso(key.last_used_at),
    expires_at: iso(key.expires_at),
    revoked_at: iso(key.revoked_at),
  };
}

/** `keys` of one organization on the wire in the same order, with the status they have now; one look at the ledger's windows for all. */
export async function viewKeys(context: Context, keys: readonly KeyRow[]): Promise<KeyView[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const ledger = await ledgerOf(context, first.org_id);
  const windows = await readWindows(ledger, { key_nos: [...new Set(keys.map((key) => key.chain_no))] });
  const by_no = new Map(windows.map((window) => [window.no, window]));
  return keys.map((key) => view(context, key, by_no.get(key.chain_no)));
}

/** One key on the wire. */
export async function viewKey(context: Context, key: KeyRow): Promise<KeyView> {
  return (await viewKeys(context, [key]))[0] as KeyView;
}
