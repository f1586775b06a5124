// The audit log as an organization reads it (docs/sign-in.md#audit-log).
import { type Static, Type } from 'typebox';
import {
  type Context,
  csv,
  FileAnswer,
  named,
  nullable,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  Time,
  TimeIn,
  timeInMs,
  walkPage,
} from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { writeAudit } from './audit.ts';
import { listEntries } from './list-store.ts';
import type { AuditRow } from './store.ts';

const PAGE = 100;
export const actorKinds = ['user', 'key', 'staff', 'scim', 'system', 'operator'] as const;
const Text = nullable(Type.String());
const Fields = nullable(Type.Object({}, { additionalProperties: true }));

export const AuditEntryView = named(
  'AuditEntry',
  Type.Object({
    id: Type.Integer(),
    at: Time,
    actor: Type.Object({ type: oneOf(actorKinds, 'ActorType'), id: Text, display: Type.String() }),
    action: Type.String({ description: 'the operation, such as `keys.rotate`' }),
    target: nullable(Type.Object({ type: Type.String(), id: Text, display: Text })),
    before: Fields,
    after: Fields,
    reason: Text,
    ip_prefix: Text,
    user_agent: Text,
    request_id: Text,
    outcome: oneOf(['ok', 'denied'], 'AuditOutcome'),
  }),
);
export type AuditEntryView = Static<typeof AuditEntryView>;

const entryExample: AuditEntryView = {
  id: 4_211,
  at: '2026-11-21T10:00:00.000Z',
  actor: { type: 'user', id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J', display: 'asha@acme.example' },
  action: 'members.update',
  target: { type: 'user', id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9K', display: 'ravi@acme.example' },
  before: { role: 'viewer' },
  after: { role: 'developer' },
  reason: null,
  ip_prefix: '192.0.2.10/32',
  user_agent: 'Mozilla/5.0',
  request_id: '01KACZ3V8S6T5R4Q3P2N1M0K9J',
  outcome: 'ok',
};

/** An entry as the API shows it. */
export function viewEntry(row: AuditRow): AuditEntryView {
  const { id, at, action, before, after, reason, ip_prefix, user_agent, request_id, outcome } = row;
  const { target_type: type, target_id, target_display } = row;
  return {
    ...{ id, at: at.toISOString(), action },
    actor: { type: row.actor_type, id: row.actor_id, display: row.actor_display },
    target: type === null ? null : { type, id: target_id, display: target_display },
    ...{ before: before && { ...before }, after: after && { ...after } },
    ...{ reason, ip_prefix, user_agent, request_id, outcome },
  };
}

const CSV_FIELDS = [
  ...['id', 'at', 'actor_type', 'actor_id', 'actor_display', 'action', 'target_type', 'target_id'],
  ...['target_display', 'before', 'after', 'reason', 'ip_prefix', 'user_agent', 'request_id', 'outcome'],
] as const;

/** A row as a line of the file: what changed is JSON. */
function lineOfEntry(row: AuditRow): object {
  const text = (fields: AuditRow['before']) => (fields === null ? null : JSON.stringify(fields));
  return { ...row, at: row.at.toISOString(), before: text(row.before), after: text(row.after) };
}

/** Entries of several organizations as a file: as an organization gets its own, with whose each is. */
export function auditCsv(rows: readonly AuditRow[]): string {
  return csv(['org_id', ...CSV_FIELDS], rows.map(lineOfEntry));
}

/** Which entries are wanted. */
interface Filter {
  readonly since?: string;
  readonly until?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
}

const line = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }));

function walk(context: Context, org_id: string, input: Filter & { cursor?: string; limit?: number }) {
  const { actor = null, action = null, target = null } = input;
  const time = (at: string | undefined) => (at === undefined ? null : new Date(timeInMs(at)));
  const filter = { actor, action, target, since: time(input.since), until: time(input.until) };
  return walkPage(context, {
    bound: `audit.list ${org_id} ${JSON.stringify(filter)}`,
    cursor: input.cursor,
    limit: input.limit ?? PAGE,
    read: (after, limit) =>
      listEntries(context.db, { org_id, ...filter, before_id: after?.at ?? null, limit }),
    placeOf: (row) => ({ at: row.id, id: '' }),
  });
}

export const listAuditOperation = operation({
  name: 'audit.list',
  method: 'GET',
  path: '/v1/audit-log',
  summary: 'List what was done in the organization, newest first, as JSON or CSV',
  audience: { kind: 'key', scopes: ['manage:keys'], session: ['owner', 'admin'], sandbox: false },
  input: Type.Object({
    since: Type.Optional(TimeIn),
    until: Type.Optional(TimeIn),
    actor: line('id of a person, key or member of staff'),
    action: line('an operation, or how its name begins: `keys.`'),
    target: line('id of what it was done to'),
    format: Type.Optional(oneOf(['json', 'csv'], 'TableFormat')),
    ...pageInput(500),
  }),
  output: pageOf(AuditEntryView),
  errors: [],
  produces: 'text/csv',
  example: { object: 'list', data: [entryExample], next_cursor: '' },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const { rows, next_cursor, cursorAt } = await walk(context, org_id, input);
    if (input.format !== 'csv') return page(rows.map(viewEntry), next_cursor, cursorAt);
    await writeAudit(context, { action: 'audit.export', org_id, after: { entries: rows.length } });
    context.header('x-svc-next-cursor', next_cursor);
    const org = await findOrg(context.db, org_id);
    return new FileAnswer({
      content_type: 'text/csv; charset=utf-8',
      filename: `audit-${org?.slug ?? org_id}-${context.now().toISOString().slice(0, 10)}.csv`,
      body: csv(CSV_FIELDS, rows.map(lineOfEntry)),
    });
  },
});
