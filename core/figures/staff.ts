// What staff do about rankings: keep an app out of them and let it in again, and have figures published before their time.
import { Type } from 'typebox';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  lineOf,
  named,
  notFound,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  Time,
  walkPage,
} from '../kernel/index.ts';
import {
  askForFigures,
  listRankedApps,
  lockApp,
  readAsked,
  type StaffApp,
  setExcluded,
} from './staff-store.ts';
import { isAppSlug } from './types.ts';

const readers = { kind: 'staff', roles: ['support', 'compliance', 'finance'] } as const;
const writers = { kind: 'staff', roles: ['support', 'compliance'] } as const;
const PAGE = 50;

export const StaffAppView = named(
  'StaffApp',
  Type.Object({
    slug: Type.String(),
    name: Type.String(),
    category: nullable(Type.String()),
    url: nullable(Type.String()),
    public: Type.Boolean({ description: 'whether its organization shows it to everybody' }),
    org_id: Type.String(),
    org_slug: Type.String(),
    first_seen_at: Time,
    excluded_at: nullable(Time),
    excluded_reason: nullable(Type.String({ description: 'why staff keep it out of the rankings' })),
  }),
);

const example = {
  slug: 'acme-notes',
  name: 'Acme Notes',
  category: 'productivity',
  url: 'https://notes.acme.example',
  public: true,
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_slug: 'acme',
  first_seen_at: '2026-11-02T08:30:12.000Z',
  excluded_at: null,
  excluded_reason: null,
};

const view = ({ first_seen_at, excluded_at, ...app }: StaffApp) => ({
  ...app,
  first_seen_at: first_seen_at.toISOString(),
  excluded_at: excluded_at?.toISOString() ?? null,
});

export const listStaffAppsOperation = operation({
  name: 'staff.apps.list',
  method: 'GET',
  path: '/staff/apps',
  summary: 'List the apps that rankings can name, and those that staff keep out, newest first',
  audience: readers,
  input: Type.Object(pageInput(200)),
  output: pageOf(StaffAppView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.apps.list', org_id: null });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: 'staff.apps',
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) => listRankedApps(context.db, { after, limit }),
        placeOf: ({ first_seen_at, slug }) => ({ at: first_seen_at.getTime(), id: slug }),
      });
      return page(rows.map(view), next_cursor, cursorAt);
    }),
});

interface Change {
  readonly slug: string;
  readonly reason: string;
}

/** Keeps the app out, or lets it in again. @throws ServiceError not_found, state_conflict where it is so already. */
function setApp(context: Context, { slug, reason }: Change, excludes: boolean) {
  return context.transaction(async (context) => {
    const app = isAppSlug(slug) ? await lockApp(context.db, slug) : null;
    if (app === null) throw notFound();
    if ((app.excluded_at !== null) === excludes) {
      const message = excludes ? 'The app is kept out already.' : 'The app is not kept out.';
      throw new ServiceError('state_conflict', message);
    }
    const next = excludes
      ? { excluded_at: context.now(), excluded_reason: reason }
      : { excluded_at: null, excluded_reason: null };
    await setExcluded(context.db, { slug, ...next });
    await writeAudit(context, {
      ...{ action: excludes ? 'staff.apps.exclude' : 'staff.apps.restore', org_id: app.org_id, reason },
      target: { type: 'app', id: slug, display: app.name },
    });
    context.afterCommit((context) => context.services.figures_memory?.forget());
    return view({ ...app, ...next });
  });
}

const input = Type.Object({ slug: Type.String(), reason: lineOf(500, 1) });

export const excludeAppOperation = operation({
  name: 'staff.apps.exclude',
  method: 'POST',
  path: '/staff/apps/:slug/exclude',
  summary: 'Keep an app out of the rankings and of the apps of models; its calls count in totals',
  audience: writers,
  input,
  output: StaffAppView,
  errors: ['state_conflict'],
  request: { reason: 'a name that offends' },
  example: { ...example, excluded_at: '2026-11-21T10:00:00.000Z', excluded_reason: 'a name that offends' },
  run: (context, change) => setApp(context, change, true),
});

export const restoreAppOperation = operation({
  name: 'staff.apps.restore',
  method: 'POST',
  path: '/staff/apps/:slug/restore',
  summary: 'Let an app into the rankings again',
  audience: writers,
  input,
  output: StaffAppView,
  errors: ['state_conflict'],
  request: { reason: 'it has another name' },
  example,
  run: (context, change) => setApp(context, change, false),
});

const StaffFiguresView = named(
  'StaffFigures',
  Type.Object({
    refreshed_at: nullable(Time),
    asked_at: nullable(
      Type.String({ format: 'date-time', description: 'when staff last asked for new ones' }),
    ),
    waiting: Type.Boolean({ description: 'whether those that were asked for have not been published yet' }),
  }),
);

export { StaffFiguresView };

const figuresExample = {
  refreshed_at: '2026-11-21T09:50:00.000Z',
  asked_at: '2026-11-21T10:00:00.000Z',
  waiting: true,
};

async function viewFigures({ db }: Context) {
  const { refreshed_at, asked_at, waiting } = await readAsked(db);
  return {
    refreshed_at: refreshed_at?.toISOString() ?? null,
    asked_at: asked_at?.toISOString() ?? null,
    waiting,
  };
}

export const getStaffFiguresOperation = operation({
  name: 'staff.figures.get',
  method: 'GET',
  path: '/staff/figures',
  summary: 'Show when the figures for everybody were published last',
  audience: readers,
  input: Type.Object({}),
  output: StaffFiguresView,
  errors: [],
  example: figuresExample,
  run: (context) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.figures.get', org_id: null });
      return viewFigures(context);
    }),
});

export const publishStaffFiguresOperation = operation({
  name: 'staff.figures.publish',
  method: 'POST',
  path: '/staff/figures/publish',
  summary: 'Have the figures and with them the rankings made anew, within seconds',
  audience: writers,
  input: Type.Object({ reason: lineOf(500, 1) }),
  output: StaffFiguresView,
  errors: [],
  request: { reason: 'rows that were lost are back' },
  example: figuresExample,
  run: (context, { reason }) =>
    context.transaction(async (context) => {
      await askForFigures(context.db, context.now());
      await writeAudit(context, { action: 'staff.figures.publish', org_id: null, reason });
      return viewFigures(context);
    }),
});

export const staffFigureOperations = [
  listStaffAppsOperation,
  excludeAppOperation,
  restoreAppOperation,
  getStaffFiguresOperation,
  publishStaffFiguresOperation,
] as const;
