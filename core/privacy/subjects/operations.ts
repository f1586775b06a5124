// Erasure and export of end users over REST and GraphQL (docs/privacy.md#end-users).
import { type Static, Type } from 'typebox';
import {
  FileAnswer,
  idOf,
  isId,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../../kernel/index.ts';
import { awaitErasure, getRequest, requestErasure } from './erase.ts';
import { exportSubject, streamSubject } from './export.ts';
import { listRequests } from './store.ts';
import { type SubjectRequest, subjectKinds, subjectStates } from './types.ts';

const audience = {
  kind: 'key',
  scopes: ['manage:keys'],
  session: ['owner', 'admin'],
  sandbox: false,
} as const;
const DEFAULT_LIMIT = 50;
const Count = Type.Integer({ minimum: 0 });
const UserId = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: "the caller's own id of the end user, as in `user` of calls; it is never stored",
});

export const SubjectRequestView = named(
  'DataSubjectRequest',
  Type.Object({
    id: idOf('data_subject_request'),
    kind: oneOf(subjectKinds, 'DataSubjectRequestKind'),
    subject_hash: Type.String({ description: 'HMAC-SHA256 of the id under a key of the organization' }),
    status: oneOf(subjectStates, 'DataSubjectRequestStatus'),
    records: Type.Integer({ minimum: 0, description: 'request rows that were touched' }),
    created_at: Time,
    receipt: nullable(
      Type.Object(
        {
          records: Count,
          method: oneOf(['unlink_and_delete_content']),
          payloads_deleted: Count,
          completed_at: Time,
          digest: Type.String({
            description: 'SHA-256 over the sorted request ids, each with a line feed behind it',
          }),
        },
        { description: 'of an erasure that is completed' },
      ),
    ),
  }),
);

const example = {
  id: 'dsr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  kind: 'erasure',
  subject_hash: 'ff1c8e919103e4fa558a64efc850e418b032f9583f23cf742c3756a76b183b44',
  status: 'completed',
  records: 2,
  created_at: '2026-11-21T10:00:00.000Z',
  receipt: {
    ...{ records: 2, method: 'unlink_and_delete_content', payloads_deleted: 1 },
    completed_at: '2026-11-21T10:00:01.000Z',
    digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
} satisfies Static<typeof SubjectRequestView>;

/** A request on the wire. */
export function viewRequest(request: SubjectRequest): Static<typeof SubjectRequestView> {
  const { id, kind, subject_hash, status, records, payloads_deleted, digest, completed_at } = request;
  const receipt =
    digest === null || completed_at === null
      ? null
      : {
          ...{ records, method: 'unlink_and_delete_content' as const, payloads_deleted },
          ...{ completed_at: completed_at.toISOString(), digest },
        };
  return {
    ...{ id, kind, subject_hash, status, records },
    ...{ created_at: request.created_at.toISOString(), receipt },
  };
}

export const eraseSubjectOperation = operation({
  name: 'privacy.erasure',
  method: 'POST',
  path: '/v1/privacy/erasure',
  summary: 'Erase an end user: unlink calls, delete their tags and content',
  audience,
  input: Type.Object({ user_id: UserId }),
  output: SubjectRequestView,
  errors: ['sandbox_key_not_allowed'],
  status: 201,
  own_transactions: true,
  request: { user_id: 'user-42' },
  example,
  async run(context, { user_id }) {
    const { org_id } = orgCaller(context);
    const request = await requestErasure(context, { org_id, user_id });
    return viewRequest(await awaitErasure(context, request));
  },
});

export const SubjectExportView = named(
  'DataSubjectExport',
  Type.Object({
    object: Type.Literal('dsar_export'),
    subject_hash: Type.String(),
    generated_at: Time,
    count: Count,
    records: Type.Array(
      named(
        'DataSubjectRecord',
        Type.Object({
          request_id: Type.String(),
          ts: Type.String({ description: '`YYYY-MM-DD hh:mm:ss.sss`, UTC' }),
          model: Type.String(),
          tokens: Type.Integer({ description: 'input and output' }),
          cost_micro: Type.Integer(),
          request: Type.Optional(Type.Unknown({ description: 'stored content, when the call was logged' })),
          response: Type.Optional(Type.Unknown()),
        }),
      ),
    ),
  }),
);

export const exportSubjectOperation = operation({
  name: 'privacy.export',
  method: 'POST',
  path: '/v1/privacy/export',
  summary: 'Export what is stored of an end user, newest first; at most 10,000 records, ndjson any number',
  audience,
  input: Type.Object({
    user_id: UserId,
    format: Type.Optional(oneOf(['json', 'ndjson'], 'DataSubjectExportFormat')),
  }),
  output: SubjectExportView,
  errors: ['sandbox_key_not_allowed', 'request_too_large'],
  produces: 'application/x-ndjson',
  request: { user_id: 'user-42' },
  example: {
    ...{ object: 'dsar_export', subject_hash: example.subject_hash },
    ...{ generated_at: '2026-11-21T10:00:00.000Z', count: 1 },
    records: [
      {
        ...{ request_id: '01KACZ3V8S6T5R4Q3P2N1M0K9J', ts: '2026-11-21 09:00:00.000' },
        ...{ model: 'acme/fast-1', tokens: 141, cost_micro: 1_253 },
      },
    ],
  },
  async run(context, { user_id, format }) {
    const { org_id } = orgCaller(context);
    if (format === 'ndjson') {
      const { subject_hash, lines } = await streamSubject(context, { org_id, user_id });
      const filename = `subject-${subject_hash.slice(0, 8)}.ndjson`;
      return new FileAnswer({ content_type: 'application/x-ndjson', filename, body: lines });
    }
    const { subject_hash, generated_at, records } = await exportSubject(context, { org_id, user_id });
    const head = { object: 'dsar_export' as const, subject_hash, generated_at: generated_at.toISOString() };
    return { ...head, count: records.length, records };
  },
});

export const listSubjectRequestsOperation = operation({
  name: 'privacy.requests.list',
  method: 'GET',
  path: '/v1/privacy/requests',
  summary: 'List erasures and exports of end users, newest first',
  audience,
  input: Type.Object({ ...pageInput(200) }),
  output: pageOf(SubjectRequestView),
  errors: ['sandbox_key_not_allowed'],
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `privacy.requests.list ${org_id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listRequests(context.db, { org_id, after, limit }),
      placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
    });
    return page(rows.map(viewRequest), next_cursor, cursorAt);
  },
});

export const getSubjectRequestOperation = operation({
  name: 'privacy.requests.get',
  method: 'GET',
  path: '/v1/privacy/requests/:id',
  summary: 'Read an erasure or export of an end user',
  audience,
  input: Type.Object({ id: idOf('data_subject_request') }),
  output: SubjectRequestView,
  errors: ['sandbox_key_not_allowed'],
  example,
  async run(context, { id }) {
    const { org_id } = orgCaller(context);
    if (!isId('data_subject_request', id)) throw notFound();
    return viewRequest(await getRequest(context, { id, org_id }));
  },
});

export const subjectOperations = [
  eraseSubjectOperation,
  exportSubjectOperation,
  listSubjectRequestsOperation,
  getSubjectRequestOperation,
] as const;
