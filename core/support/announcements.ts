// Announcements: staff say something to customers for a time, and customers see what runs.
import { type Static, Type } from 'typebox';
import { actorOf, writeAudit } from '../identity/index.ts';
import {
  type Context,
  idOf,
  invalid,
  isId,
  lineOf,
  listOf,
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
  TimeIn,
  timeInMs,
  walkPage,
} from '../kernel/index.ts';
import { findOrg, planIds } from '../orgs/index.ts';
import {
  endAnnouncementAt,
  insertAnnouncement,
  listAnnouncements,
  listRunning,
} from './announcement-store.ts';
import { listRunningOf } from './reseller-announcement-store.ts';
import { Text } from './ticket-schema.ts';
import { type Announcement, announcementAudiences, announcementSeverities } from './types.ts';

const staff = { kind: 'staff', roles: ['support', 'finance', 'compliance'] } as const;
const PAGE = 50;

export const AnnouncementView = named(
  'Announcement',
  Type.Object({
    id: idOf('announcement'),
    title: Type.String(),
    body: Type.String(),
    severity: oneOf(announcementSeverities, 'AnnouncementSeverity'),
    starts_at: Time,
    ends_at: nullable(Time),
  }),
);

export const StaffAnnouncementView = Type.Object({
  ...AnnouncementView.properties,
  audience: oneOf(announcementAudiences),
  audience_values: Type.Array(Type.String()),
  created_by: Type.String(),
  created_at: Time,
});
type StaffAnnouncementView = Static<typeof StaffAnnouncementView>;

const example = {
  id: 'ann_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  title: 'Maintenance on Sunday',
  body: 'Calls go on. The console is read only from 02:00 to 03:00 UTC.',
  severity: 'warning',
  starts_at: '2026-11-21T10:00:00.000Z',
  ends_at: '2026-11-23T03:00:00.000Z',
} as const;
const staffExample: StaffAnnouncementView = {
  ...example,
  ...{ audience: 'plans', audience_values: ['team'] },
  ...{ created_by: 'ann@svc.example', created_at: '2026-11-21T09:58:00.000Z' },
};

function view({ id, title, body, severity, starts_at, ends_at }: Shown) {
  return {
    ...{ id, title, body, severity, starts_at: starts_at.toISOString() },
    ends_at: ends_at?.toISOString() ?? null,
  };
}

type Shown = Pick<Announcement, 'id' | 'title' | 'body' | 'severity' | 'starts_at' | 'ends_at'>;

/** What the service and the organization's reseller say, in one order. */
function gravestFirst(all: readonly Shown[]): Shown[] {
  const grave = (one: Shown) => announcementSeverities.indexOf(one.severity);
  return [...all].sort((a, b) => grave(b) - grave(a) || b.starts_at.getTime() - a.starts_at.getTime());
}

function viewForStaff(made: Announcement): StaffAnnouncementView {
  const { audience, audience_values, created_by, created_at } = made;
  return {
    ...view(made),
    ...{ audience, audience_values: [...audience_values], created_by },
    created_at: created_at.toISOString(),
  };
}

export const listAnnouncementsOperation = operation({
  name: 'announcements.list',
  method: 'GET',
  path: '/v1/announcements',
  summary: 'List what the service, and the reseller of a customer, have to say now, the gravest first',
  audience: {
    kind: 'key',
    scopes: 'any',
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  input: Type.Object({}),
  output: listOf(AnnouncementView),
  errors: [],
  example: { object: 'list', data: [example] },
  async run(context) {
    const org = await findOrg(context.db, orgCaller(context).org_id);
    if (org === null) throw notFound();
    const at = context.now();
    const ours = await listRunning(context.db, { org, at });
    const parent = org.parent_org_id;
    const theirs = parent === null ? [] : await listRunningOf(context.acrossOrgs.db, { org_id: parent, at });
    return { object: 'list' as const, data: gravestFirst([...ours, ...theirs]).map(view) };
  },
});

export const listStaffAnnouncementsOperation = operation({
  name: 'staff.announcements.list',
  method: 'GET',
  path: '/staff/announcements',
  summary: 'List announcements, newest first, ended ones too',
  audience: staff,
  input: Type.Object(pageInput(200)),
  output: pageOf(StaffAnnouncementView),
  errors: [],
  example: { object: 'list', data: [staffExample], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.announcements.list', org_id: null });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: 'staff.announcements',
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) => listAnnouncements(context.db, { after, limit }),
        placeOf: (made) => ({ at: made.created_at.getTime(), id: made.id }),
      });
      return page(rows.map(viewForStaff), next_cursor, cursorAt);
    }),
});

const NewAnnouncement = Type.Object({
  title: lineOf(120),
  body: Text,
  severity: Type.Optional(oneOf(announcementSeverities, 'AnnouncementSeverity')),
  audience: Type.Optional(oneOf(announcementAudiences)),
  audience_values: Type.Optional(
    Type.Array(lineOf(64), {
      maxItems: 100,
      uniqueItems: true,
      description: 'plans, countries, or ids or slugs of organizations, as the audience says',
    }),
  ),
  starts_at: Type.Optional(TimeIn),
  ends_at: Type.Optional(nullable(TimeIn)),
});
type NewAnnouncement = Static<typeof NewAnnouncement>;

/** What the values of an audience are; organizations by id. @throws ServiceError invalid_request. */
async function valuesOf(context: Context, given: NewAnnouncement): Promise<readonly string[]> {
  const { audience = 'all', audience_values: values = [] } = given;
  const wrong = (at: number, words: string) => invalid(`audience_values[${at}]`, 'enum', words);
  if (audience === 'all' || audience === 'resellers') {
    if (values.length > 0)
      throw invalid('audience_values', 'unknown', `The audience ${audience} takes none.`);
    return [];
  }
  if (values.length === 0) throw invalid('audience_values', 'missing', `Name at least one of ${audience}.`);
  const named: string[] = [];
  for (const [at, value] of values.entries()) {
    if (audience === 'orgs') {
      const org = await findOrg(context.db, value);
      if (org === null) throw wrong(at, 'There is no such organization.');
      named.push(org.id);
      continue;
    }
    const known = audience === 'plans' ? planIds.some((id) => id === value) : /^[A-Z]{2}$/.test(value);
    if (!known)
      throw wrong(at, audience === 'plans' ? 'There is no such plan.' : 'A country is two letters.');
    named.push(value);
  }
  return named;
}

/** Makes an announcement, which customers see from its start on. @throws ServiceError invalid_request. */
export function announce(context: Context, given: NewAnnouncement): Promise<Announcement> {
  return context.transaction(async (context) => {
    const at = context.now();
    const starts_at = given.starts_at === undefined ? at : new Date(timeInMs(given.starts_at));
    const ends_at =
      given.ends_at === undefined || given.ends_at === null ? null : new Date(timeInMs(given.ends_at));
    if (ends_at !== null && (ends_at <= starts_at || ends_at <= at)) {
      throw invalid('ends_at', 'range', 'The end lies after the start, and in the future.');
    }
    const { title, body, severity = 'info', audience = 'all' } = given;
    const made = await insertAnnouncement(context.db, {
      ...{ id: context.newId('announcement'), title, body, severity, audience, starts_at, ends_at },
      audience_values: await valuesOf(context, given),
      created_by: actorOf(context.caller).display,
      created_at: at,
    });
    await writeAudit(context, {
      ...{ action: 'staff.announcements.create', org_id: null },
      target: { type: 'announcement', id: made.id, display: title },
      after: { severity, audience, audience_values: made.audience_values, starts_at, ends_at },
    });
    return made;
  });
}

/** Ends an announcement now; one that has ended stays as it is. @throws ServiceError not_found. */
export function endAnnouncement(context: Context, id: string): Promise<Announcement> {
  return context.transaction(async (context) => {
    const ended = isId('announcement', id)
      ? await endAnnouncementAt(context.db, { id, at: context.now() })
      : null;
    if (ended === null) throw notFound();
    await writeAudit(context, {
      ...{ action: 'staff.announcements.end', org_id: null },
      target: { type: 'announcement', id: ended.id, display: ended.title },
      after: { ends_at: ended.ends_at },
    });
    return ended;
  });
}

export const createAnnouncementOperation = operation({
  name: 'staff.announcements.create',
  method: 'POST',
  path: '/staff/announcements',
  summary: 'Say something to customers for a time',
  audience: staff,
  input: NewAnnouncement,
  output: StaffAnnouncementView,
  errors: [],
  status: 201,
  example: staffExample,
  run: async (context, given) => viewForStaff(await announce(context, given)),
});

export const endAnnouncementOperation = operation({
  name: 'staff.announcements.end',
  method: 'POST',
  path: '/staff/announcements/:id/end',
  summary: 'End an announcement now',
  audience: staff,
  input: Type.Object({ id: idOf('announcement') }),
  output: StaffAnnouncementView,
  errors: [],
  example: staffExample,
  run: async (context, { id }) => viewForStaff(await endAnnouncement(context, id)),
});

export const staffAnnouncementOperations = [
  listStaffAnnouncementsOperation,
  createAnnouncementOperation,
  endAnnouncementOperation,
] as const;
