// SQL of the calls of one end user, whom rows know by a keyed hash.
import { type Db, type Id, ulidMs } from '../../kernel/index.ts';
import { noteChanged } from '../values/store.ts';

export interface SubjectCall {
  readonly request_id: string;
  readonly ts: Date;
  readonly model: string;
  /** Input and output. */
  readonly tokens: number;
  readonly cost_micro: number;
  readonly logged: boolean;
}

/** A page of the calls of a subject, newest first, strictly after `after`. */
export async function pageSubjectCalls(
  db: Db,
  args: { org_id: Id<'org'>; subject_hash: string; after: SubjectCall | null; limit: number },
): Promise<SubjectCall[]> {
  const { rows } = await db.query<SubjectCall>({
    name: 'analytics.page_subject_calls',
    text: `
      select request_id, ts, model, input_tokens + output_tokens as tokens, cost_micro, logged
        from request_row
       where org_id = $1 and user_hash = $2 and user_hash <> ''
         and ($3::timestamptz is null or (ts, request_id) < ($3, $4))
       order by ts desc, request_id desc limit $5`,
    values: [
      ...[args.org_id, args.subject_hash, args.after?.ts ?? null, args.after?.request_id ?? null],
      args.limit,
    ],
  });
  return rows;
}

/** At most `limit` calls of a subject that began until `until`, held until the transaction ends. */
export async function lockSubjectCalls(
  db: Db,
  args: { org_id: Id<'org'>; subject_hash: string; until: Date; limit: number },
): Promise<Pick<SubjectCall, 'request_id' | 'logged'>[]> {
  const { rows } = await db.query<Pick<SubjectCall, 'request_id' | 'logged'>>({
    name: 'analytics.lock_subject_calls',
    text: `
      select request_id, logged from request_row
       where org_id = $1 and user_hash = $2 and user_hash <> '' and ts <= $3
       order by ts desc, request_id desc limit $4 for no key update`,
    values: [args.org_id, args.subject_hash, args.until, args.limit],
  });
  return rows;
}

/** Takes hash, session and tags out of rows, and so out of sums of them; what a call cost and used stays. */
export async function unlinkCalls(db: Db, request_ids: readonly string[]): Promise<void> {
  const times = request_ids.map((id) => new Date(ulidMs(id)));
  await noteChanged(db, { request_ids, times });
  await db.query({
    name: 'analytics.unlink_calls',
    text: `
      update request_row set user_hash = '', session_id = '', tags = '{}' where request_id = any ($1) and ts = any ($2)`,
    values: [request_ids, times],
  });
}
