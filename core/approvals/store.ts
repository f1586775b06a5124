// SQL of acts that wait for a second person.
import type { Db, Id } from '../kernel/index.ts';
import type { Approval } from './types.ts';

const COLUMNS = `
  approval.id, action, input, approval.org_id, org.name as org_name, amount_micro_usd, approval.reason, approval.status,
  asked_by, asker.email as asked_by_email, asked_at, expires_at, decided_by, decider.email as decided_by_email, decided_at,
  note`;
const FROM = `
  from approval
  join staff as asker on asker.id = asked_by
  left join staff as decider on decider.id = decided_by
  left join org on org.id = approval.org_id`;

type NewApproval = Pick<
  Approval,
  | 'id'
  | 'action'
  | 'input'
  | 'org_id'
  | 'amount_micro_usd'
  | 'reason'
  | 'asked_by'
  | 'asked_at'
  | 'expires_at'
> & { readonly input_hash: Buffer };

/**
 * Stores that somebody asks for an act; the same act is asked for once. One that nobody decided in time is asked for anew, by
 * whoever asks now. Returns its id, and whether it was asked for by this.
 */
export async function putApproval(
  db: Db,
  asked: NewApproval,
): Promise<{ id: Id<'approval'>; is_new: boolean }> {
  const { id, action, input, input_hash, org_id, amount_micro_usd, reason, asked_by, asked_at, expires_at } =
    asked;
  const { rows } = await db.query<{ id: Id<'approval'>; is_new: boolean }>({
    name: 'approvals.put',
    text: `
      insert into approval (id, action, input, input_hash, org_id, amount_micro_usd, reason, status, asked_by, asked_at,
                            expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9, $10)
      on conflict (action, input_hash) where status = 'pending' do update
         set asked_by = case when approval.expires_at <= $9 then $8 else approval.asked_by end,
             asked_at = case when approval.expires_at <= $9 then $9 else approval.asked_at end,
             reason = case when approval.expires_at <= $9 then $7 else approval.reason end,
             expires_at = case when approval.expires_at <= $9 then $10 else approval.expires_at end
      returning id, asked_at = $9 as is_new`,
    values: [
      ...[id, action, JSON.stringify(input), input_hash, org_id, amount_micro_usd, reason, asked_by],
      ...[asked_at, expires_at],
    ],
  });
  return rows[0] as { id: Id<'approval'>; is_new: boolean };
}

/** An act that was asked for, locked until the transaction ends; null when there is none. */
export async function lockApproval(db: Db, id: Id<'approval'>): Promise<Approval | null> {
  const { rows } = await db.query<Approval>({
    name: 'approvals.lock',
    text: `select ${COLUMNS} ${FROM} where approval.id = $1 for update of approval`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** An act that was asked for, in whatever state; null when there is none. */
export async function findApproval(db: Db, id: Id<'approval'>): Promise<Approval | null> {
  const { rows } = await db.query<Approval>({
    name: 'approvals.find',
    text: `select ${COLUMNS} ${FROM} where approval.id = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Notes what became of an act that is locked. */
export async function decideApproval(
  db: Db,
  decided: {
    id: Id<'approval'>;
    status: Exclude<Approval['status'], 'pending'>;
    by: Id<'staff'>;
    note: string | null;
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'approvals.decide',
    text: 'update approval set status = $2, decided_by = $3, note = $4, decided_at = $5 where id = $1',
    values: [decided.id, decided.status, decided.by, decided.note, decided.at],
  });
}

/** Acts newest first, after `before`: those that can be approved at `at` (`waiting`), the others (false), or all (null). */
export async function listApprovals(
  db: Db,
  args: { waiting: boolean | null; at: Date; before: { at: Date; id: string } | null; limit: number },
): Promise<Approval[]> {
  const { rows } = await db.query<Approval>({
    name: 'approvals.list',
    text: `
      select ${COLUMNS} ${FROM}
       where ($1::boolean is null or $1 = (approval.status = 'pending' and expires_at > $2))
         and ($3::timestamptz is null or (asked_at, approval.id) < ($3, $4))
       order by asked_at desc, approval.id desc limit $5`,
    values: [args.waiting, args.at, args.before?.at ?? null, args.before?.id ?? null, args.limit],
  });
  return rows;
}
