// SQL of automatic top-up and its attempts.
import type { Db, Id } from '../kernel/index.ts';
import type { Attempt, AttemptStatus, AutoTopup, BlockReason } from './types.ts';

const autoColumns = `
  org_id, enabled, threshold_micro, amount_minor, attempts, disabled_reason, blocked_reason, blocked_at, blocked_until`;
const attemptColumns = `
  org_id, attempt_no, mandate_id, topup_id, status, created_at, notified_at, notice_failed, due_at, skipped_at, sent_at,
  ended_at`;

/** The automatic top-up of an organization; null where nobody ever set one. */
export async function findAuto(db: Db, org_id: Id<'org'>): Promise<AutoTopup | null> {
  const { rows } = await db.query<AutoTopup>({
    name: 'mandates.find_auto',
    text: `select ${autoColumns} from auto_topup where org_id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Locks it until the transaction ends: the first lock of everything about an organization's mandates and debits. */
export async function lockAuto(db: Db, org_id: Id<'org'>): Promise<AutoTopup | null> {
  const { rows } = await db.query<AutoTopup>({
    name: 'mandates.lock_auto',
    text: `select ${autoColumns} from auto_topup where org_id = $1 for no key update`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Sets what people want; a block is judged anew. */
export async function putAuto(
  db: Db,
  auto: Pick<AutoTopup, 'org_id' | 'enabled' | 'threshold_micro' | 'amount_minor'> & { at: Date },
): Promise<void> {
  await db.query({
    name: 'mandates.put_auto',
    text: `
      insert into auto_topup (org_id, enabled, threshold_micro, amount_minor, updated_at) values ($1, $2, $3, $4, $5)
      on conflict (org_id) do update
         set enabled = excluded.enabled, threshold_micro = excluded.threshold_micro,
             amount_minor = excluded.amount_minor, disabled_reason = null, blocked_reason = null, blocked_at = null,
             blocked_until = null, updated_at = excluded.updated_at`,
    values: [auto.org_id, auto.enabled, auto.threshold_micro, auto.amount_minor, auto.at],
  });
}

/** Switches it off for a reason of ours; false where it was off. */
export async function disableAuto(
  db: Db,
  args: { org_id: Id<'org'>; reason: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'mandates.disable_auto',
    text: `
      update auto_topup
         set enabled = false, disabled_reason = $2, blocked_reason = null, blocked_at = null, blocked_until = null,
             updated_at = $3
       where org_id = $1 and enabled`,
    values: [args.org_id, args.reason, args.at],
  });
  return rowCount === 1;
}

/** Notes why nothing is bought, and until when that need not be judged again. */
export async function blockAuto(
  db: Db,
  args: { org_id: Id<'org'>; reason: BlockReason; until: Date; at: Date },
): Promise<void> {
  await db.query({
    name: 'mandates.block_auto',
    text: `
      update auto_topup
         set blocked_at = case when blocked_reason = $2 then blocked_at else $4 end, blocked_reason = $2,
             blocked_until = $3
       where org_id = $1`,
    values: [args.org_id, args.reason, args.until, args.at],
  });
}

/** Takes blocks away: they are over, or are to be judged anew. */
export async function unblockAuto(db: Db, org_ids: readonly Id<'org'>[]): Promise<void> {
  if (org_ids.length === 0) return;
  await db.query({
    name: 'mandates.unblock_auto',
    text: `
      update auto_topup set blocked_reason = null, blocked_at = null, blocked_until = null
       where org_id = any($1) and blocked_reason is not null`,
    values: [org_ids],
  });
}

/** An organization whose balance is watched. */
export interface Watched {
  readonly org_id: Id<'org'>;
  readonly book_id: number;
  readonly shard: string;
  readonly threshold_micro: number;
  readonly is_blocked: boolean;
}

/** Whose balance is to be looked at: switched on, no attempt under way, not blocked beyond `at`. */
export async function listWatched(db: Db, at: Date): Promise<Watched[]> {
  const { rows } = await db.query<Watched>({
    name: 'mandates.list_watched',
    text: `
      select a.org_id, o.live_book_id as book_id, o.shard, a.threshold_micro, a.blocked_reason is not null as is_blocked
        from auto_topup a join org o on o.id = a.org_id
       where a.enabled and (a.blocked_until is null or a.blocked_until <= $1)
         and not exists (select from auto_topup_attempt t where t.org_id = a.org_id and t.ended_at is null)`,
    values: [at],
  });
  return rows;
}

/** Takes the next number of an attempt. */
export async function nextAttemptNo(db: Db, org_id: Id<'org'>): Promise<number> {
  const { rows } = await db.query<{ attempts: number }>({
    name: 'mandates.next_attempt_no',
    text: `
      update auto_topup
         set attempts = attempts + 1, blocked_reason = null, blocked_at = null, blocked_until = null
       where org_id = $1 returning attempts`,
    values: [org_id],
  });
  return rows[0]!.attempts;
}

/** Inserts an attempt; a second one that is open is refused by the database. */
export async function insertAttempt(
  db: Db,
  attempt: Pick<Attempt, 'org_id' | 'attempt_no' | 'mandate_id' | 'topup_id' | 'created_at'>,
): Promise<void> {
  await db.query({
    name: 'mandates.insert_attempt',
    text: `
      insert into auto_topup_attempt (org_id, attempt_no, mandate_id, topup_id, status, created_at)
      values ($1, $2, $3, $4, 'announcing', $5)`,
    values: [attempt.org_id, attempt.attempt_no, attempt.mandate_id, attempt.topup_id, attempt.created_at],
  });
}

/** An attempt by its number, or by its top-up; null when there is none. */
export async function findAttempt(
  db: Db,
  of: { org_id: Id<'org'>; attempt_no: number } | { topup_id: Id<'topup'> },
): Promise<Attempt | null> {
  const { rows } = await db.query<Attempt>({
    name: 'mandates.find_attempt',
    text: `
      select ${attemptColumns} from auto_topup_attempt where (org_id = $1 and attempt_no = $2) or topup_id = $3`,
    values: 'topup_id' in of ? [null, null, of.topup_id] : ([of.org_id, of.attempt_no, null] as unknown[]),
  });
  return rows[0] ?? null;
}

/** The last attempt of an organization; null before the first. */
export async function lastAttempt(db: Db, org_id: Id<'org'>): Promise<Attempt | null> {
  const { rows } = await db.query<Attempt>({
    name: 'mandates.last_attempt',
    text: `
      select ${attemptColumns} from auto_topup_attempt where org_id = $1 order by attempt_no desc limit 1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** How many debits an organization had since `since`, as sent to the rail. */
export async function countSent(db: Db, args: { org_id: Id<'org'>; since: Date }): Promise<number> {
  const { rows } = await db.query<{ sent: number }>({
    name: 'mandates.count_sent',
    text: 'select count(*)::int as sent from auto_topup_attempt where org_id = $1 and sent_at >= $2',
    values: [args.org_id, args.since],
  });
  return rows[0]!.sent;
}

/** Changes an attempt; what `to` leaves out stays. */
export async function moveAttempt(
  db: Db,
  { org_id, attempt_no }: Pick<Attempt, 'org_id' | 'attempt_no'>,
  to: {
    readonly status: AttemptStatus;
    readonly notified_at?: Date;
    readonly notice_failed?: boolean;
    readonly due_at?: Date;
    readonly skipped_at?: Date;
    readonly sent_at?: Date;
    readonly ended_at?: Date;
  },
): Promise<void> {
  await db.query({
    name: 'mandates.move_attempt',
    text: `
      update auto_topup_attempt
         set status = $3, notified_at = coalesce(notified_at, $4), notice_failed = notice_failed or $5,
             due_at = coalesce(due_at, $6), skipped_at = coalesce(skipped_at, $7), sent_at = coalesce(sent_at, $8),
             ended_at = coalesce(ended_at, $9)
       where org_id = $1 and attempt_no = $2`,
    values: [
      org_id,
      attempt_no,
      to.status,
      to.notified_at ?? null,
      to.notice_failed ?? false,
      to.due_at ?? null,
      to.skipped_at ?? null,
      to.sent_at ?? null,
      to.ended_at ?? null,
    ],
  });
}

/** An automatic top-up as the operator reads it. */
interface AutoLine {
  readonly org_id: Id<'org'>;
  readonly slug: string;
  readonly enabled: boolean;
  readonly mandate_id: Id<'mandate'> | null;
  readonly mandate_status: string | null;
  readonly reason: string | null;
  readonly attempt_no: number | null;
  readonly attempt_status: AttemptStatus | null;
  readonly topup_id: Id<'topup'> | null;
}

/** Every automatic top-up that was ever set, those that are blocked or off by the service first. */
export async function listAutoTopups(db: Db, limit: number): Promise<AutoLine[]> {
  const { rows } = await db.query<AutoLine>({
    name: 'mandates.list_auto_topups',
    text: `
      select a.org_id, o.slug, a.enabled, m.id as mandate_id, m.status as mandate_status,
             coalesce(a.blocked_reason, a.disabled_reason) as reason, t.attempt_no, t.status as attempt_status, t.topup_id
        from auto_topup a join org o on o.id = a.org_id
        left join mandate m on m.org_id = a.org_id and m.status in ('active', 'paused')
        left join auto_topup_attempt t on t.org_id = a.org_id and t.attempt_no = a.attempts
       order by coalesce(a.blocked_reason, a.disabled_reason) is null, o.slug limit $1`,
    values: [limit],
  });
  return rows;
}
