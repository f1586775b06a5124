// What an export is on the wire, and the list of them.
import { type Static, Type } from 'typebox';
import {
  type Context,
  type Id,
  idOf,
  named,
  notFound,
  nullable,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { listExports } from './store.ts';
import type { OrgExport } from './types.ts';

const DEFAULT_LIMIT = 50;

/** A company that is suspended or was closed can leave with its data too. */
export const audience = {
  kind: 'session',
  roles: ['owner'],
  while_suspended: true,
  while_closed: true,
} as const;

export const OrgExportView = named(
  'OrganizationExport',
  Type.Object({
    id: idOf('org_export'),
    org_id: idOf('org'),
    created_by: Type.String({ description: 'the owner who made it' }),
    created_at: Time,
    expires_at: Type.String({ format: 'date-time', description: 'until then it can be downloaded' }),
    path: Type.String({ description: 'where an owner who is signed in downloads it' }),
    downloads: Type.Integer({ minimum: 0, description: 'how often that was begun' }),
    last_downloaded_at: nullable(Time),
  }),
);
export type OrgExportView = Static<typeof OrgExportView>;

export const orgExportExample = {
  id: 'oex_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  created_by: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  created_at: '2026-11-21T10:00:00.000Z',
  expires_at: '2026-11-22T10:00:00.000Z',
  path: '/v1/orgs/org_01KACZ3V8S6T5R4Q3P2N1M0K9J/exports/oex_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  downloads: 0,
  last_downloaded_at: null,
} satisfies OrgExportView;

/** An export as the API shows it. */
export function viewExport(made: OrgExport): OrgExportView {
  const { id, org_id, created_by, downloads } = made;
  return {
    ...{ id, org_id, created_by },
    created_at: made.created_at.toISOString(),
    expires_at: made.expires_at.toISOString(),
    path: `/v1/orgs/${org_id}/exports/${id}`,
    downloads,
    last_downloaded_at: made.last_downloaded_at?.toISOString() ?? null,
  };
}

/** The caller's organization, which `id` must name. @throws ServiceError not_found. */
export function ownOrg(context: Context, id: string): Id<'org'> {
  const { org_id } = orgCaller(context);
  if (id !== org_id) throw notFound();
  return org_id;
}

export const listOrgExportsOperation = operation({
  name: 'orgs.exports.list',
  method: 'GET',
  path: '/v1/orgs/:id/exports',
  summary: 'List exports of an organization, newest first',
  audience,
  input: Type.Object({ id: idOf('org'), ...pageInput(200) }),
  output: pageOf(OrgExportView),
  errors: [],
  example: { object: 'list', data: [orgExportExample], next_cursor: '' },
  async run(context, input) {
    const org_id = ownOrg(context, input.id);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `orgs.exports.list ${org_id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listExports(context.db, { org_id, after, limit }),
      placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
    });
    return page(rows.map(viewExport), next_cursor, cursorAt);
  },
});
