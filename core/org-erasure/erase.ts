// The steps of the workflow `orgErasure`. Each decides from rows what is left to do. A batch deletes and counts in one transaction, so
// that a killed worker has either done both or nothing.
import { closeOrg, findClosing, refuseCustomers } from '../closing/index.ts';
import { redactAudit, writeAudit } from '../identity/index.ts';
import {
  type Context,
  CROCKFORD,
  type Id,
  notFound,
  ServiceError,
  secureBytes,
  sha256,
} from '../kernel/index.ts';
import { findOrg, findPepper, lockOrg, type Org } from '../orgs/index.ts';
import { addStaffItem } from '../topups/index.ts';
import { remind } from './ask.ts';
import { kept, type Step, steps } from './fates.ts';
import { countRows } from './kept-store.ts';
import { deleteAddresses, deleteMembers, deletePeople, deleteTraces, lockLeavers } from './people-store.ts';
import { receiptDigest } from './receipt.ts';
import {
  completeErasure,
  emptyNotes,
  eraseCalls,
  erasePayloadRows,
  eraseRows,
  findErasure,
  lockErasure,
  loosenUsage,
  noteBatch,
  overwriteOrg,
  replaceUsage,
  setStatus,
} from './store.ts';
import type { OrgErasure, OrgErasureProgress, RowCounts } from './types.ts';

const BATCH = 1_000;
const PEOPLE = 50;
const HOUR_MS = 3_600_000;
/** The last events and mails go out, and rows that gateways hold arrive, before anything is deleted. */
const SETTLING_MS = HOUR_MS;
/** What a closing has not brought to its end by then (a refund at a rail) goes on beside the erasure: its rows are kept. */
const CLOSING_MS = 72 * HOUR_MS;
const LOOK_MS = HOUR_MS;
const AT_ONCE_MS = 1_000;

interface Args {
  readonly org_id: Id<'org'>;
}

const progressOf = ({ org_id, status, step }: OrgErasure, wait_ms = 0): OrgErasureProgress => ({
  ...{ org_id, status, step, wait_ms },
});

async function getErasure(context: Context, org_id: Id<'org'>): Promise<OrgErasure> {
  const found = await lockErasure(context.db, org_id);
  if (found === null) throw notFound();
  return found;
}

/**
 * Closes an organization whose erasure is due, where nobody did. It comes before the locks of an erasure, because whoever closes
 * locks keys before the organization. A reseller that has got customers since waits for their end.
 */
async function closeWhatIsDue(
  context: Context,
  org_id: Id<'org'>,
): Promise<'closed' | 'not_due' | 'has_customers'> {
  const erasure = await findErasure(context.db, org_id);
  if (erasure?.status !== 'asked' || erasure.due_at.getTime() > context.now().getTime()) return 'not_due';
  const { refund_requested } = erasure;
  const org = await findOrg(context.db, org_id);
  try {
    // Asked first too, because a closing that is refused halfway has switched automatic top-up off.
    if (org !== null) await refuseCustomers(context, org);
    const how = { confirm: null, refund_requested, action: 'orgs.close', is_quiet: true } as const;
    await closeOrg(context, { org_id, ...how });
    return 'closed';
  } catch (error) {
    // Somebody else has closed it.
    if (error instanceof ServiceError && error.code === 'org_closed') return 'not_due';
    if (error instanceof ServiceError && error.code === 'in_use') return 'has_customers';
    throw error;
  }
}

/** Whether the closing has come to its end, or is not waited for any longer; else how long until the next look. */
async function closingWait(context: Context, { org_id, began_at }: OrgErasure): Promise<number> {
  const age_ms = context.now().getTime() - (began_at as Date).getTime();
  if (age_ms < SETTLING_MS) return SETTLING_MS - age_ms;
  const closing = await findClosing(context.db, org_id);
  return closing === null || closing.ended_at !== null || age_ms >= CLOSING_MS ? 0 : LOOK_MS;
}

/** Looks at an erasure: reminds, begins it when it is due, and says how long to wait. */
export function lookAtErasure(context: Context, { org_id }: Args): Promise<OrgErasureProgress> {
  return context.transaction(async (context) => {
    const due = await closeWhatIsDue(context, org_id);
    const org = await lockOrg(context.db, org_id);
    if (org === null) throw notFound();
    let erasure = await getErasure(context, org_id);
    // What was closed for an erasure that somebody took back meanwhile is not: the next try finds it so.
    if (due === 'closed' && erasure.status !== 'asked')
      throw new Error('the erasure was taken back meanwhile');
    if (erasure.status === 'asked') {
      const wait_ms = await remind(context, org, erasure);
      if (wait_ms > 0) return progressOf(erasure, wait_ms);
      // It became due since the first look at it.
      if (org.status !== 'closed') return progressOf(erasure, due === 'has_customers' ? LOOK_MS : AT_ONCE_MS);
      const began_at = context.now();
      await setStatus(context.db, { org_id, status: 'closing', began_at });
      erasure = { ...erasure, status: 'closing', began_at };
    }
    if (erasure.status !== 'closing') return progressOf(erasure);
    const wait_ms = await closingWait(context, erasure);
    if (wait_ms > 0) return progressOf(erasure, wait_ms);
    await setStatus(context.db, { org_id, status: 'running', began_at: erasure.began_at });
    return progressOf({ ...erasure, status: 'running' });
  });
}

/** An id for sums that stay: one for all of an organization's, and without its pepper, which goes last, nobody can make it again. */
async function looseId(context: Context, org_id: Id<'org'>): Promise<string> {
  const { db, services } = context;
  const pepper = await findPepper({ db, root_key: services.root_key }, org_id);
  if (pepper === null) throw notFound();
  const bytes = sha256(Buffer.concat([pepper, Buffer.from('usage')]));
  return `org_${[...bytes.subarray(0, 26)].map((byte) => CROCKFORD[byte % CROCKFORD.length]).join('')}`;
}

async function erasePeople(context: Context, org_id: Id<'org'>): Promise<number> {
  const { db } = context;
  const leavers = await lockLeavers(db, { org_id, limit: PEOPLE });
  const gone = leavers.filter(({ stays }) => !stays);
  const erased = await deleteMembers(db, { org_id, user_ids: leavers.map(({ user_id }) => user_id) });
  const user_ids = gone.map(({ user_id }) => user_id);
  const words = gone.map(({ email_key }) => email_key);
  if (user_ids.length > 0) await redactAudit(context, { org_id, ids: user_ids, words });
  await deleteTraces(db, { user_ids, email_keys: words });
  await deletePeople(db, user_ids);
  return erased;
}

async function overwrite(context: Context, org_id: Id<'org'>): Promise<number> {
  await redactAudit(context, { org_id, ids: [org_id], words: [] });
  const name = `erased-${sha256(`erased ${org_id}`).toString('hex').slice(0, 8)}`;
  return overwriteOrg(context.db, { org_id, name, pepper: secureBytes(32), at: context.now() });
}

/**
 * Has the rows of an organization deleted in an engine beside PostgreSQL; returns how many it had. Where rows are read there, its
 * sums by day are put here first, where the step of usage takes what is left of their names out.
 */
async function eraseElsewhere(context: Context, org_id: Id<'org'>): Promise<number> {
  const { row_keeper: keeper, row_reader } = context.services;
  const count = (await keeper?.countOrg(org_id)) ?? 0;
  if (keeper === undefined || count === 0) return 0;
  if (row_reader !== undefined) await replaceUsage(context.db, { org_id, days: await keeper.sumOrg(org_id) });
  void context.afterCommit(() => keeper.eraseOrg(org_id));
  return count;
}

/** One batch of a step; it has ended when nothing was found. */
async function eraseFrom(context: Context, step: Step, org_id: Id<'org'>): Promise<number> {
  const { db } = context;
  const batch = { org_id, limit: BATCH };
  switch (step) {
    case 'request_payload':
      return erasePayloadRows(db, batch);
    case 'request_row':
      return (await eraseCalls(db, batch)) + (await eraseElsewhere(context, org_id));
    case 'usage_hour':
      return loosenUsage(db, { org_id, as: await looseId(context, org_id) });
    case 'gift':
      return emptyNotes(db, org_id);
    case 'invitation':
      await deleteAddresses(db, org_id);
      return eraseRows(db, { table: step, ...batch });
    case 'org_member':
      return erasePeople(context, org_id);
    case 'org':
      return overwrite(context, org_id);
    default:
      return eraseRows(db, { table: step, ...batch });
  }
}

/** How many rows of each table the law keeps. */
export async function countKept(context: Context, org: Pick<Org, 'id' | 'shard'>): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  for (const table of Object.keys(kept)) {
    const db = table === 'book' ? context.shards.at(org.shard) : context.db;
    counts[table] = await countRows(db, { table, org_id: org.id });
  }
  return counts;
}

async function complete(context: Context, erasure: OrgErasure): Promise<void> {
  const { db } = context;
  const { org_id, erased } = erasure;
  const org = await findOrg(db, org_id);
  if (org === null) throw notFound();
  const at = context.now();
  const counts = await countKept(context, org);
  const digest = receiptDigest({ org_id, erased, kept: counts });
  await completeErasure(db, { org_id, kept: counts, digest, at });
  // In the log of the installation: the organization's own has gone.
  await writeAudit(context, {
    ...{ action: 'orgs.erasure.complete', org_id: null, target: { type: 'org', id: org_id } },
    after: { digest },
  });
}

/** Erases one batch, or completes the erasure when all steps are behind it. */
export function eraseOrgBatch(context: Context, { org_id }: Args): Promise<OrgErasureProgress> {
  return context.transaction(async (context) => {
    const { db } = context;
    const erasure = await getErasure(context, org_id);
    if (erasure.status !== 'running') return progressOf(erasure);
    const step = steps[erasure.step];
    if (step === undefined) await complete(context, erasure);
    else {
      const rows = await eraseFrom(context, step, org_id);
      const next = rows === 0 || step === 'org' ? erasure.step + 1 : erasure.step;
      await noteBatch(db, { org_id, table: step, rows, step: next });
    }
    return progressOf((await findErasure(db, org_id)) as OrgErasure);
  });
}

/** Puts an erasure that has failed for a week before the staff; it goes on all the same. */
export async function reportErasure(context: Context, { org_id }: Args): Promise<OrgErasureProgress> {
  const erasure = await findErasure(context.db, org_id);
  if (erasure === null) throw notFound();
  await addStaffItem(context.db, {
    ...{ kind: 'org_erasure_waits', subject: `${org_id} ${erasure.requested_at.toISOString()}` },
    details: { org_id, step: steps[erasure.step] ?? 'receipt' },
    at: context.now(),
  });
  return progressOf(erasure);
}
