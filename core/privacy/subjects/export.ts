// What is stored of an end user, newest first: at most 10,000 records as JSON, any number as NDJSON. Rows are read by pages and
// content a record at a time, so that memory does not grow with the export.
import { readerOf, type SubjectCall } from '../../analytics/index.ts';
import { writeAudit } from '../../identity/index.ts';
import { type Context, type Id, rowTime, ServiceError } from '../../kernel/index.ts';
import { findPayloadStates, readPayload } from '../../payloads/index.ts';
import { subjectHash } from './erase.ts';
import { insertRequest } from './store.ts';

const RECORDS_MAX = 10_000;
/** Text of stored content that one JSON answer carries. */
const CONTENT_MAX = 33_554_432;
const PAGE = 500;

interface SubjectRecord {
  readonly request_id: string;
  readonly ts: string;
  readonly model: string;
  readonly tokens: number;
  readonly cost_micro: number;
  readonly request?: unknown;
  readonly response?: unknown;
}

interface Asked {
  readonly org_id: Id<'org'>;
  readonly subject_hash: string;
}

function recordOf({ request_id, ts, model, tokens, cost_micro }: SubjectCall): SubjectRecord {
  return { request_id, ts: rowTime(ts.getTime()), model, tokens, cost_micro };
}

async function* recordsOf(context: Context, { org_id, subject_hash }: Asked): AsyncGenerator<SubjectRecord> {
  for (let after: SubjectCall | null = null; ; ) {
    const page: SubjectCall[] = await readerOf(context).pageSubjectCalls({
      org_id,
      subject_hash,
      after,
      limit: PAGE,
    });
    const states = await findPayloadStates(context, org_id, page);
    for (const call of page) {
      const { request_id } = call;
      const has_content = states.get(request_id) === 'available';
      const content = has_content ? await readPayload(context, { org_id, request_id }) : null;
      yield { ...recordOf(call), ...content };
    }
    if (page.length < PAGE) return;
    after = page.at(-1) as SubjectCall;
  }
}

/** Writes down that a subject was exported, with an entry of the audit log. */
async function note(context: Context, { org_id, subject_hash }: Asked, records: number): Promise<void> {
  await context.transaction(async (context) => {
    const id = context.newId('data_subject_request');
    const at = context.now();
    await insertRequest(context.db, {
      ...{ id, org_id, kind: 'export', subject_hash, status: 'completed' },
      ...{ records, created_at: at, completed_at: at },
    });
    const target = { type: 'data_subject_request', id };
    await writeAudit(context, { action: 'privacy.export', org_id, target, after: { records } });
  });
}

function tooLarge(message: string, details: Record<string, unknown>): ServiceError {
  return new ServiceError('request_too_large', `${message} Ask with "format": "ndjson".`, { details });
}

/** All that is stored of an end user. @throws ServiceError not_found, request_too_large. */
export async function exportSubject(
  context: Context,
  asked: { org_id: Id<'org'>; user_id: string },
): Promise<{ subject_hash: string; generated_at: Date; records: SubjectRecord[] }> {
  const subject = { org_id: asked.org_id, subject_hash: await subjectHash(context, asked) };
  const generated_at = context.now();
  const records: SubjectRecord[] = [];
  let content = 0;
  for await (const record of recordsOf(context, subject)) {
    if (records.length === RECORDS_MAX)
      throw tooLarge(`There are more than ${RECORDS_MAX} records.`, { records_max: RECORDS_MAX });
    if ('request' in record) content += JSON.stringify(record).length;
    if (content > CONTENT_MAX) throw tooLarge('The stored content is too large for one answer.', {});
    records.push(record);
  }
  await note(context, subject, records.length);
  return { subject_hash: subject.subject_hash, generated_at, records };
}

/** The same as lines of JSON, of any number; written down when the last one has gone out. */
export async function streamSubject(
  context: Context,
  asked: { org_id: Id<'org'>; user_id: string },
): Promise<{ subject_hash: string; lines: AsyncIterable<string> }> {
  const subject = { org_id: asked.org_id, subject_hash: await subjectHash(context, asked) };
  async function* lines(): AsyncGenerator<string> {
    let records = 0;
    for await (const record of recordsOf(context, subject)) {
      records++;
      yield `${JSON.stringify(record)}\n`;
    }
    await note(context, subject, records);
  }
  return { subject_hash: subject.subject_hash, lines: lines() };
}
