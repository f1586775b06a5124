// What a reseller says to its customers for a time. They see it among the announcements of the service.
import { type Static, Type } from 'typebox';
import { actorOf, writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Id,
  idOf,
  invalid,
  isId,
  lineOf,
  Nothing,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  TimeIn,
  timeInMs,
  walkPage,
} from '../kernel/index.ts';
import {
  announcementSeverities,
  deleteResellerAnnouncement,
  insertResellerAnnouncement,
  listResellerAnnouncements,
  lockResellerAnnouncement,
  type ResellerAnnouncement,
  Text,
  updateResellerAnnouncement,
} from '../support/index.ts';
import { holders, resellerCaller } from './audience.ts';

const campaigners = holders('reseller.campaigns');
const PAGE = 50;
const Severity = oneOf(announcementSeverities, 'AnnouncementSeverity');

export const ResellerAnnouncementView = named(
  'ResellerAnnouncement',
  Type.Object({
    id: idOf('announcement'),
    title: Type.String(),
    body: Type.String(),
    severity: Severity,
    starts_at: Time,
    ends_at: nullable(Time),
    created_by: Type.String(),
    created_at: Time,
  }),
);
type View = Static<typeof ResellerAnnouncementView>;

const example: View = {
  ...{ id: 'ann_01KACZ3V8S6T5R4Q3P2N1M0K9J', title: 'New prices in December', severity: 'info' },
  ...{ body: 'Tier Standard is 10 % from December on.', starts_at: '2026-11-21T10:00:00.000Z' },
  ...{ ends_at: null, created_by: 'ravi@acme.example', created_at: '2026-11-21T10:00:00.000Z' },
};

function view({ org_id: _, starts_at, ends_at, created_at, ...rest }: ResellerAnnouncement): View {
  return {
    ...rest,
    starts_at: starts_at.toISOString(),
    ends_at: ends_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  };
}

const targetOf = ({ id, title }: Pick<ResellerAnnouncement, 'id' | 'title'>) => ({
  ...{ type: 'announcement', id, display: title },
});

const timeOf = (given: string | null) => (given === null ? null : new Date(timeInMs(given)));

/** @throws ServiceError invalid_request. */
function refuseTimes({ starts_at, ends_at }: Pick<ResellerAnnouncement, 'starts_at' | 'ends_at'>): void {
  if (ends_at !== null && ends_at <= starts_at)
    throw invalid('ends_at', 'range', 'The end lies after the start.');
}

/** An announcement of the reseller, locked. @throws ServiceError not_found. */
async function locked(context: Context, id: string): Promise<ResellerAnnouncement> {
  const { org_id } = resellerCaller(context);
  const place = { id: id as Id<'announcement'>, org_id };
  const found = isId('announcement', id) ? await lockResellerAnnouncement(context.db, place) : null;
  if (found === null) throw notFound();
  return found;
}

const Members = {
  title: lineOf(120),
  body: Text,
  severity: Type.Optional(Severity),
  starts_at: Type.Optional(TimeIn),
  ends_at: Type.Optional(nullable(TimeIn)),
};

export const listResellerAnnouncementsOperation = operation({
  name: 'reseller.announcements.list',
  method: 'GET',
  path: '/v1/reseller/announcements',
  summary: 'List what the reseller says to its customers, newest first, what has ended too',
  audience: holders('reseller.read'),
  input: Type.Object(pageInput(200)),
  output: pageOf(ResellerAnnouncementView),
  errors: ['grant_required'],
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, { cursor, limit }) {
    const { org_id } = resellerCaller(context);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `reseller.announcements ${org_id}`,
      cursor,
      limit: limit ?? PAGE,
      read: (after, limit) => listResellerAnnouncements(context.db, { org_id, after, limit }),
      placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
    });
    return page(rows.map(view), next_cursor, cursorAt);
  },
});

export const createResellerAnnouncementOperation = operation({
  name: 'reseller.announcements.create',
  method: 'POST',
  path: '/v1/reseller/announcements',
  summary: 'Say something to all customers of the reseller for a time',
  audience: campaigners,
  input: Type.Object(Members),
  output: ResellerAnnouncementView,
  errors: ['grant_required', 'csrf_failed'],
  status: 201,
  request: { title: example.title, body: example.body },
  example,
  run: (context, { title, body, severity = 'info', starts_at, ends_at = null }) =>
    context.transaction(async (context) => {
      const { org_id } = resellerCaller(context);
      const at = context.now();
      const made: ResellerAnnouncement = {
        ...{ id: context.newId('announcement'), org_id, title, body, severity },
        ...{ starts_at: timeOf(starts_at ?? null) ?? at, ends_at: timeOf(ends_at) },
        ...{ created_by: actorOf(context.caller).display, created_at: at },
      };
      refuseTimes(made);
      await insertResellerAnnouncement(context.db, made);
      await writeAudit(context, {
        ...{ action: 'reseller.announcements.create', org_id, target: targetOf(made) },
        after: { severity, starts_at: made.starts_at, ends_at: made.ends_at },
      });
      return view(made);
    }),
});

export const updateResellerAnnouncementOperation = operation({
  name: 'reseller.announcements.update',
  method: 'PATCH',
  path: '/v1/reseller/announcements/:id',
  summary: 'Change an announcement; an end that has passed ends it',
  audience: campaigners,
  input: Type.Object({
    id: idOf('announcement'),
    ...Members,
    title: Type.Optional(Members.title),
    body: Type.Optional(Members.body),
  }),
  output: ResellerAnnouncementView,
  errors: ['grant_required', 'csrf_failed'],
  request: { severity: 'warning' },
  example: { ...example, severity: 'warning' },
  run: (context, { id, starts_at, ends_at, ...words }) =>
    context.transaction(async (context) => {
      const before = await locked(context, id);
      const made: ResellerAnnouncement = {
        ...before,
        ...words,
        starts_at: timeOf(starts_at ?? null) ?? before.starts_at,
        ends_at: ends_at === undefined ? before.ends_at : timeOf(ends_at),
      };
      refuseTimes(made);
      await updateResellerAnnouncement(context.db, { ...made, at: context.now() });
      await writeAudit(context, {
        ...{ action: 'reseller.announcements.update', org_id: made.org_id, target: targetOf(made) },
        before: { severity: before.severity, ends_at: before.ends_at },
        after: { severity: made.severity, ends_at: made.ends_at },
      });
      return view(made);
    }),
});

export const deleteResellerAnnouncementOperation = operation({
  name: 'reseller.announcements.delete',
  method: 'DELETE',
  path: '/v1/reseller/announcements/:id',
  summary: 'Delete an announcement; nobody sees it any more',
  audience: campaigners,
  input: Type.Object({ id: idOf('announcement') }),
  output: Nothing,
  errors: ['grant_required', 'csrf_failed'],
  status: 204,
  example: {},
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const gone = await locked(context, id);
      await deleteResellerAnnouncement(context.db, gone);
      await writeAudit(context, {
        ...{ action: 'reseller.announcements.delete', org_id: gone.org_id, target: targetOf(gone) },
      });
      return {};
    }),
});

export const resellerAnnouncementOperations = [
  listResellerAnnouncementsOperation,
  createResellerAnnouncementOperation,
  updateResellerAnnouncementOperation,
  deleteResellerAnnouncementOperation,
] as const;
