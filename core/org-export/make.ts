// Asking for an export, and downloading it. Nothing of it is stored: a download reads what there is then.

import { findMailboxes, writeAudit } from '../identity/index.ts';
import { type Context, type Id, notFound, orgCaller, ServiceError } from '../kernel/index.ts';
import { sendMail } from '../mail/index.ts';
import { findErasure } from '../org-erasure/index.ts';
import { findOrgRecords, lockOrg } from '../orgs/index.ts';
import { archiveOf } from './archive.ts';
import { entriesOf } from './contents.ts';
import { countSince, findExport, insertExport, takeDownload } from './store.ts';
import type { OrgExport } from './types.ts';

const DAY_MS = 86_400_000;
/** How long the link of an export can be used. */
const LIFE_MS = DAY_MS;
const EXPORTS_PER_DAY = 5;
/** A download that broke off is begun anew; more often than this nobody needs to. */
export const DOWNLOADS_MAX = 20;

/** @throws ServiceError state_conflict when the erasure of the organization has begun. */
async function refuseErasing(context: Context, org_id: Id<'org'>): Promise<void> {
  const status = (await findErasure(context.db, org_id))?.status ?? 'cancelled';
  if (status === 'asked' || status === 'cancelled') return;
  throw new ServiceError('state_conflict', 'The erasure of this organization has begun.', {
    details: { state: status },
  });
}

/** The person who asks. @throws Error (a defect) for any other caller. */
function personOf(context: Context) {
  const caller = orgCaller(context);
  if (caller.kind !== 'session') throw new Error('a person was expected');
  return caller;
}

function tooMany(first_at: Date, now: Date): ServiceError {
  const reset_ms = first_at.getTime() + DAY_MS - now.getTime();
  const message = `An organization can be exported ${EXPORTS_PER_DAY} times in 24 hours.`;
  return new ServiceError('rate_limit_exceeded', message, {
    details: { limit: 'exports', scope: 'org', limit_value: EXPORTS_PER_DAY, reset_ms },
    retry_after_ms: reset_ms,
  });
}

/**
 * Makes an export of the caller's organization, and tells its owners.
 * @throws ServiceError not_found, state_conflict, rate_limit_exceeded.
 */
export function makeOrgExport(context: Context): Promise<OrgExport> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { org_id, user_id, email } = personOf(context);
    // Of exports that are asked for at once each counts those before it.
    const org = await lockOrg(db, org_id);
    if (org === null) throw notFound();
    await refuseErasing(context, org_id);
    const created_at = context.now();
    const since = new Date(created_at.getTime() - DAY_MS);
    const { exports, first_at } = await countSince(db, { org_id, since });
    if (exports >= EXPORTS_PER_DAY && first_at !== null) throw tooMany(first_at, created_at);
    const expires_at = new Date(created_at.getTime() + LIFE_MS);
    const made = { id: context.newId('org_export'), org_id, created_by: user_id, created_at, expires_at };
    await insertExport(db, made);
    const target = { type: 'org_export', id: made.id };
    const after = { expires_at: expires_at.toISOString() };
    await writeAudit(context, { action: 'orgs.exports.create', org_id, target, after });
    await sendMail(context, {
      template: 'org_export',
      to: await findMailboxes(db, { org_id, roles: ['owner'] }),
      org_id,
      reference: made.id,
      data: { org: org.name, slug: org.slug, by: email, at: created_at.toISOString() },
    });
    return { ...made, downloads: 0, last_downloaded_at: null };
  });
}

/**
 * Opens the archive of an export, which is read while it is sent.
 * @throws ServiceError not_found, gone, state_conflict.
 */
export async function openOrgExport(
  context: Context,
  id: Id<'org_export'>,
): Promise<{ filename: string; body: AsyncIterable<Uint8Array> }> {
  const { org_id } = personOf(context);
  const made = await findExport(context.db, { org_id, id });
  if (made === null) throw notFound();
  await refuseErasing(context, org_id);
  const at = context.now();
  const [org] = await findOrgRecords(context.db, [org_id]);
  if (org === undefined) throw notFound();
  await context.transaction(async (context) => {
    if (!(await takeDownload(context.db, { org_id, id, at, max: DOWNLOADS_MAX })))
      throw new ServiceError('gone', 'The link of this export is over. Make another export.', {
        details: { reason: made.expires_at.getTime() > at.getTime() ? 'used_up' : 'lapsed' },
      });
    const target = { type: 'org_export', id };
    await writeAudit(context, { action: 'orgs.exports.get', org_id, target });
  });
  const entries = entriesOf(context, { made, org, check: () => refuseErasing(context, org_id) });
  return {
    filename: `export-${org.slug}-${at.toISOString().slice(0, 10)}.zip`,
    body: archiveOf(entries, at),
  };
}
