// Setting `legal`: what texts say of whoever runs this, and whether acceptances are insisted on.
import { readSetting, writeSetting } from '../db/index.ts';
import { changesOf, writeAudit } from '../identity/index.ts';
import { readSupplier } from '../invoices/index.ts';
import { type Context, type Db, invalid, ServiceError } from '../kernel/index.ts';
import { missingValues, platformValues, type Values } from './fill.ts';
import { announceAll, lockPublishing } from './store.ts';
import type { LegalSetting } from './types.ts';

const EMPTY: LegalSetting = { grievance_officer: null, dpo_email: null, enforced_at: null };

/** The setting, with what nobody has set as null. */
export async function readLegalSetting(db: Db): Promise<LegalSetting> {
  return { ...EMPTY, ...(await readSetting<Partial<LegalSetting>>(db, 'legal')) };
}

/** What texts say of the platform now. */
export async function readPlatform(db: Db): Promise<Values> {
  return platformValues(await readSupplier(db), await readLegalSetting(db));
}

/** What staff change; what is left out stays. */
interface LegalChange {
  readonly grievance_officer?: string;
  readonly dpo_email?: string;
  /** Whether an acceptance that is owed for long has effects. */
  readonly enforced?: boolean;
}

/** @throws ServiceError state_conflict while a text would say that something is not set. */
async function refuseIncomplete(context: Context, setting: LegalSetting): Promise<void> {
  const missing = missingValues(platformValues(await readSupplier(context.db), setting));
  if (missing.length === 0) return;
  throw new ServiceError(
    'state_conflict',
    `Nobody can be held to texts that are not complete. Set first: ${missing.join(', ')}.`,
    { details: { state: 'incomplete', missing } },
  );
}

/**
 * Changes the setting. To insist begins now, so that whoever owes something has the whole time left; to stop insisting
 * reaches every gateway within a second. @throws ServiceError state_conflict, invalid_request.
 */
export function changeLegalSetting(context: Context, change: LegalChange): Promise<LegalSetting> {
  return context.transaction(async (context) => {
    await lockPublishing(context.db);
    const before = await readLegalSetting(context.db);
    const at = context.now();
    const { enforced = before.enforced_at !== null } = change;
    const next: LegalSetting = {
      grievance_officer: change.grievance_officer ?? before.grievance_officer,
      dpo_email: change.dpo_email ?? before.dpo_email,
      enforced_at: enforced ? (before.enforced_at ?? at.toISOString()) : null,
    };
    if (next.dpo_email !== null && !/^[^\s@]+@[^\s@]+$/.test(next.dpo_email))
      throw invalid('dpo_email', 'format', 'This is not an address.');
    if (enforced) await refuseIncomplete(context, next);
    await writeSetting(context.db, { name: 'legal', value: next, at });
    if (next.enforced_at !== before.enforced_at) await announceAll(context.db);
    await writeAudit(context, {
      ...{ action: 'staff.legal.set', org_id: null },
      ...changesOf(before, next, ['grievance_officer', 'dpo_email', 'enforced_at']),
    });
    return next;
  });
}
