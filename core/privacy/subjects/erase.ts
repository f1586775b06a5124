// Erasing an end user: rows of calls are unlinked, their tags and content are deleted, cost and tokens stay. In batches, each a
// transaction, so that it can be killed anywhere; what arrives late is found by the tombstone.
import { lockSubjectCalls, type RowKeeper, unlinkCalls } from '../../analytics/index.ts';
import type { Pool } from '../../db/index.ts';
import { writeAudit } from '../../identity/index.ts';
import {
  type Context,
  type Db,
  hashOfEndUser,
  type Id,
  monotonicMs,
  notFound,
  ulidMs,
} from '../../kernel/index.ts';
import { writeEvent } from '../../ledger/index.ts';
import { findPepper } from '../../orgs/index.ts';
import { erasePayloads } from '../../payloads/index.ts';
import { addStaffItem } from '../../topups/index.ts';
import { startWorkflow } from '../../workflow-starts/index.ts';
import { digestOf } from './receipt.ts';
import {
  completeErasure,
  failRequest,
  findRequest,
  insertRequest,
  listErasedCalls,
  listRemembered,
  listTombstones,
  lockRequest,
  noteBatch,
  purgeErasures,
  putTombstone,
  rememberContent,
} from './store.ts';
import type { ErasureProgress, SubjectRequest } from './types.ts';

const BATCH = 1_000;
const PAGE = 10_000;
const DAY_MS = 86_400_000;
/** Rows can lie in the spool of a gateway for as long. */
const TOMBSTONE_MS = DAY_MS;
/** Content of a call that is older has arrived or never will. */
const CONTENT_MS = 3_600_000;
const WAIT_MS = 10_000;
const LOOK_MS = 200;

interface Args {
  readonly dsr_id: Id<'data_subject_request'>;
}

/** The hash under which the calls of an end user of `org_id` are stored. @throws ServiceError not_found. */
export async function subjectHash(
  context: Context,
  { org_id, user_id }: { org_id: Id<'org'>; user_id: string },
): Promise<string> {
  const { db, services } = context;
  const pepper = await findPepper({ db, root_key: services.root_key }, org_id);
  if (pepper === null) throw notFound();
  return hashOfEndUser(pepper, user_id);
}

/** Asks for an erasure: row, tombstone and workflow in one transaction. The id of the end user is stored nowhere. */
export function requestErasure(
  context: Context,
  asked: { org_id: Id<'org'>; user_id: string },
): Promise<SubjectRequest> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { org_id } = asked;
    const subject_hash = await subjectHash(context, asked);
    const at = context.now();
    const id = context.newId('data_subject_request');
    await insertRequest(db, {
      ...{ id, org_id, kind: 'erasure', subject_hash, status: 'received' },
      ...{ records: 0, created_at: at, completed_at: null },
    });
    const expires_at = new Date(at.getTime() + TOMBSTONE_MS);
    await putTombstone(db, { org_id, subject_hash, erased_at: at, expires_at });
    await writeAudit(context, {
      ...{ action: 'privacy.erasure', org_id, target: { type: 'data_subject_request', id } },
    });
    const start = { workflow_id: `erasure-${id}`, type: 'erasure', args: { dsr_id: id }, org_id };
    await startWorkflow(db, { ...start, at });
    return getRequest(context, { id, org_id });
  });
}

/** @throws ServiceError not_found. */
export async function getRequest(
  context: Context,
  args: { id: string; org_id: Id<'org'> | null },
): Promise<SubjectRequest> {
  const found = await findRequest(context.db, args);
  if (found === null) throw notFound();
  return found;
}

/** Waits until a request has ended, at most as long as callers are kept waiting, and returns it as it then is. */
export async function awaitErasure(context: Context, request: SubjectRequest): Promise<SubjectRequest> {
  const until_ms = monotonicMs() + (context.services.erasure_wait_ms ?? WAIT_MS);
  let seen = request;
  while ((seen.status === 'received' || seen.status === 'running') && monotonicMs() < until_ms) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    seen = await getRequest(context, request);
  }
  return seen;
}

interface Subject {
  readonly org_id: Id<'org'>;
  readonly subject_hash: string;
  /** Calls that began later are no part of it. */
  readonly until: Date;
}

/**
 * Unlinks at most a batch of calls of a subject and deletes their content, in the open transaction. Those that `keeper` has too are
 * unlinked there once that has committed: one that was killed between finds them again.
 */
async function unlinkBatch(
  db: Db,
  subject: Subject,
  { now_ms, keeper }: { now_ms: number; keeper: RowKeeper | undefined },
): Promise<{ request_ids: string[]; payloads_deleted: number }> {
  const batch = { ...subject, limit: BATCH };
  const kept = (await keeper?.listSubjectCalls(batch)) ?? [];
  const locked = await lockSubjectCalls(db, batch);
  const calls = [...new Map([...kept, ...locked].map((call) => [call.request_id, call])).values()];
  const request_ids = calls.map(({ request_id }) => request_id);
  if (request_ids.length === 0) return { request_ids, payloads_deleted: 0 };
  const payloads_deleted = await erasePayloads(db, request_ids);
  await unlinkCalls(db, request_ids);
  const young = calls.filter(({ request_id, logged }) => logged && now_ms - ulidMs(request_id) < CONTENT_MS);
  await rememberContent(db, {
    request_ids: young.map(({ request_id }) => request_id),
    expires_at: new Date(now_ms + TOMBSTONE_MS),
  });
  return { request_ids, payloads_deleted };
}

async function* erasedPages(db: Db, id: SubjectRequest['id']): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const page = await listErasedCalls(db, { id, after, limit: PAGE });
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1) as string;
  }
}

const progressOf = ({ id, status, records }: SubjectRequest): ErasureProgress => ({
  ...{ dsr_id: id, status, records },
});

/** The receipt and its event, once nothing is left. */
async function complete(context: Context, request: SubjectRequest): Promise<SubjectRequest> {
  const { db } = context;
  const { id, org_id, kind, records } = request;
  const at = context.now();
  const done = await completeErasure(db, { id, digest: await digestOf(erasedPages(db, id)), at });
  const payload = { request_id: id, kind, records };
  await writeEvent(db, { org_id, topic: 'privacy.request.completed', payload, at });
  return done;
}

/** Erases one batch of a request, or completes it when nothing is left. */
export function eraseBatch(context: Context, { dsr_id }: Args): Promise<ErasureProgress> {
  return context.transaction(async (context) => {
    const { db } = context;
    const request = await lockRequest(db, dsr_id);
    if (request === null) throw notFound();
    if (request.status === 'completed' || request.status === 'failed') return progressOf(request);
    const { org_id, subject_hash, created_at: until } = request;
    const { row_keeper: keeper } = context.services;
    const subject = { org_id, subject_hash, until };
    const at = { now_ms: context.now().getTime(), keeper };
    const { request_ids, payloads_deleted } = await unlinkBatch(db, subject, at);
    if (request_ids.length === 0) return progressOf(await complete(context, request));
    await noteBatch(db, { id: dsr_id, request_ids, payloads_deleted });
    if (keeper !== undefined) void context.afterCommit(() => keeper.unlink({ org_id, request_ids }));
    return progressOf(await getRequest(context, { id: dsr_id, org_id }));
  });
}

/** Gives an erasure up that could not be brought to its end in seven days, and puts it before the staff. */
export async function failErasure(context: Context, { dsr_id }: Args): Promise<ErasureProgress> {
  return context.transaction(async (context) => {
    const request = await lockRequest(context.db, dsr_id);
    if (request === null) throw notFound();
    await failRequest(context.db, dsr_id);
    const failed = await getRequest(context, request);
    if (failed.status === 'failed')
      await addStaffItem(context.db, {
        ...{ kind: 'erasure_failed', subject: dsr_id, at: context.now() },
        details: { org_id: request.org_id, records: failed.records },
      });
    return progressOf(failed);
  });
}

async function sweepSubject(
  pool: Pool,
  subject: Subject,
  at: { now_ms: number; keeper: RowKeeper | undefined },
): Promise<number> {
  let unlinked = 0;
  for (let more = true; more; ) {
    const { request_ids } = await pool.transaction((db) => unlinkBatch(db, subject, at));
    await at.keeper?.unlink({ org_id: subject.org_id, request_ids });
    unlinked += request_ids.length;
    more = request_ids.length >= BATCH;
  }
  return unlinked;
}

async function sweepContent(pool: Pool): Promise<number> {
  let deleted = 0;
  for (let after = '', more = true; more; ) {
    const page = await listRemembered(pool, { after, limit: BATCH });
    if (page.length > 0) deleted += await erasePayloads(pool, page);
    more = page.length === BATCH;
    after = page.at(-1) ?? '';
  }
  return deleted;
}

/** Unlinks rows of erased subjects that arrived late and deletes content that did; returns how many. A job. */
export async function sweepErased(pool: Pool, at: Date, keeper?: RowKeeper): Promise<number> {
  await purgeErasures(pool, at);
  let caught = 0;
  for (const { org_id, subject_hash, erased_at: until } of await listTombstones(pool, at))
    caught += await sweepSubject(pool, { org_id, subject_hash, until }, { now_ms: at.getTime(), keeper });
  return caught + (await sweepContent(pool));
}
