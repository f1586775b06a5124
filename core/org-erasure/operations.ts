// Erasure of an organization over REST and GraphQL, and the list of what is due for staff (docs/organizations/erasure.md).
import { type Static, Type } from 'typebox';
import { getStaffOrg } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Id,
  idOf,
  lineOf,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
  Time,
} from '../kernel/index.ts';
import { findOrgRecords, findOrgs, OrgView, orgExample, viewOrg } from '../orgs/index.ts';
import { cancelOrgErasure, requestOrgErasure } from './ask.ts';
import { kept, steps } from './fates.ts';
import { findErasure, listOpenErasures } from './store.ts';
import { changeErasureTerms, noticeDays, readErasureTerms } from './terms.ts';
import { erasureStates, type OrgErasure } from './types.ts';

const audience = {
  kind: 'key',
  scopes: ['manage:keys'],
  session: ['owner'],
  sandbox: false,
  reauthenticated: true,
} as const;
const ROWS = 200;

async function own(context: Context, id: string): Promise<Id<'org'>> {
  const { org_id } = orgCaller(context);
  if (id !== org_id) throw notFound();
  return org_id;
}

async function shown(context: Context, id: Id<'org'>): Promise<OrgView> {
  const caller = orgCaller(context);
  const [org] = await findOrgRecords(context.db, [id]);
  if (org === undefined) throw notFound();
  return viewOrg(org, caller.kind === 'session' ? caller.role : null, context.now());
}

export const requestOrgErasureOperation = operation({
  name: 'orgs.erasure.request',
  method: 'POST',
  path: '/v1/orgs/:id/erasure',
  summary:
    'Ask for the erasure of an organization: it begins after a notice, and can be taken back until then',
  audience,
  input: Type.Object({
    id: idOf('org'),
    refund_requested: Type.Optional(
      Type.Boolean({ description: 'give unused credit back that was paid for; false when left out' }),
    ),
  }),
  output: OrgView,
  errors: ['erasure_pending', 'in_use', 'reauthentication_required', 'csrf_failed'],
  request: { refund_requested: true },
  example: {
    ...orgExample,
    erasure_requested_at: '2026-11-21T11:00:00.000Z',
    erasure_due_at: '2026-12-21T11:00:00.000Z',
  },
  async run(context, { id, refund_requested = false }) {
    const org_id = await own(context, id);
    await requestOrgErasure(context, { org_id, refund_requested, action: 'orgs.erasure.request' });
    return shown(context, org_id);
  },
});

export const cancelOrgErasureOperation = operation({
  name: 'orgs.erasure.cancel',
  method: 'DELETE',
  path: '/v1/orgs/:id/erasure',
  summary: 'Take the erasure of an organization back that has not begun',
  audience,
  input: Type.Object({ id: idOf('org') }),
  output: OrgView,
  errors: ['state_conflict', 'reauthentication_required', 'csrf_failed'],
  example: orgExample,
  async run(context, { id }) {
    const org_id = await own(context, id);
    await cancelOrgErasure(context, { org_id, action: 'orgs.erasure.cancel' });
    return shown(context, org_id);
  },
});

const Counted = Type.Object({ table: Type.String(), rows: Type.Integer({ minimum: 0 }) });

export const OrgErasureView = named(
  'OrgErasure',
  Type.Object({
    org_id: Type.String(),
    slug: Type.String(),
    status: oneOf(erasureStates, 'OrgErasureStatus'),
    refund_requested: Type.Boolean(),
    requested_at: Time,
    due_at: Time,
    overdue: Type.Boolean({ description: 'it should have ended a week ago' }),
    began_at: nullable(Time),
    completed_at: nullable(Time),
    steps_done: Type.Integer({ minimum: 0, description: 'tables that are behind it' }),
    steps: Type.Integer({ minimum: 0, description: 'tables in all' }),
    erased: Type.Array(named('ErasedRows', Counted)),
    kept: Type.Array(
      named('KeptRows', Type.Object({ ...Counted.properties, reason: Type.String(), term: Type.String() })),
      { description: 'what the law keeps, counted at the end' },
    ),
    digest: nullable(
      Type.String({
        description: 'SHA-256 over the id and the lines `erased api_key 3`, `kept invoice 2`, sorted',
      }),
    ),
  }),
);

const OVERDUE_MS = 7 * 86_400_000;

/** An erasure with its receipt, as staff see it. */
function viewErasure(erasure: OrgErasure, slug: string, now: Date): Static<typeof OrgErasureView> {
  const { org_id, status, refund_requested, requested_at, due_at, began_at, completed_at, digest } = erasure;
  const is_open = status !== 'completed' && status !== 'cancelled';
  return {
    ...{ org_id, slug, status, refund_requested, digest },
    ...{ steps_done: erasure.step, steps: steps.length },
    requested_at: requested_at.toISOString(),
    due_at: due_at.toISOString(),
    overdue: is_open && now.getTime() > due_at.getTime() + OVERDUE_MS,
    began_at: began_at?.toISOString() ?? null,
    completed_at: completed_at?.toISOString() ?? null,
    erased: Object.entries(erasure.erased).map(([table, rows]) => ({ table, rows })),
    kept: Object.entries(erasure.kept ?? {}).map(([table, rows]) => ({
      ...{ table, rows, reason: kept[table]?.reason ?? '', term: kept[table]?.term ?? '' },
    })),
  };
}

const example = {
  ...{ org_id: orgExample.id, slug: 'erased-1f2e3d4c', status: 'completed', refund_requested: false },
  ...{ requested_at: '2026-11-21T11:00:00.000Z', due_at: '2026-12-21T11:00:00.000Z', overdue: false },
  ...{ began_at: '2026-12-21T11:00:00.000Z', completed_at: '2026-12-21T12:01:00.000Z' },
  ...{ steps_done: 76, steps: 76 },
  erased: [{ table: 'api_key', rows: 3 }],
  kept: [{ table: 'invoice', rows: 2, reason: 'books of account', term: '8 years after the financial year' }],
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} satisfies Static<typeof OrgErasureView>;

const staffAudience = { kind: 'staff', roles: ['support', 'compliance'] } as const;

async function staffView(context: Context, org: { id: Id<'org'>; slug: string }) {
  const erasure = await findErasure(context.db, org.id);
  if (erasure === null) throw notFound();
  return viewErasure(erasure, org.slug, context.now());
}

export const listOrgErasuresOperation = operation({
  name: 'staff.orgs.erasures.list',
  method: 'GET',
  path: '/staff/org-erasures',
  summary: 'Erasures of organizations that have not ended, the one due first at the top',
  audience: staffAudience,
  input: Type.Object({}),
  output: Type.Object({ data: Type.Array(OrgErasureView) }),
  errors: [],
  example: { data: [{ ...example, status: 'asked', digest: null, completed_at: null, began_at: null }] },
  async run(context) {
    await writeAudit(context, { action: 'staff.orgs.erasures.list', org_id: null });
    const open = await listOpenErasures(context.db, ROWS);
    const orgs = await findOrgs(
      context.db,
      open.map(({ org_id }) => org_id),
    );
    const now = context.now();
    return { data: open.map((one) => viewErasure(one, orgs.get(one.org_id)?.slug ?? '', now)) };
  },
});

export const getOrgErasureOperation = operation({
  name: 'staff.orgs.erasures.get',
  method: 'GET',
  path: '/staff/orgs/:id/erasure',
  summary: 'The erasure of an organization, with its receipt',
  audience: staffAudience,
  input: Type.Object({ id: Type.String() }),
  output: OrgErasureView,
  errors: [],
  example,
  async run(context, { id }) {
    const org = await getStaffOrg(context, id);
    // In the log of the installation: the organization's own may be gone.
    const target = { type: 'org', id: org.id };
    await writeAudit(context, { action: 'staff.orgs.erasures.get', org_id: null, target });
    return staffView(context, org);
  },
});

export const requestOrgErasureByStaffOperation = operation({
  name: 'staff.orgs.erasure.request',
  method: 'POST',
  path: '/staff/orgs/:id/erasure',
  summary: 'Ask for the erasure of an organization for its owner',
  audience: staffAudience,
  input: Type.Object({
    id: Type.String(),
    refund_requested: Type.Optional(Type.Boolean()),
    reason: lineOf(500),
  }),
  output: OrgErasureView,
  errors: ['erasure_pending', 'in_use'],
  request: { reason: 'asked by the owner' },
  example: { ...example, status: 'asked', digest: null, completed_at: null, began_at: null },
  async run(context, { id, refund_requested = false, reason }) {
    const org = await getStaffOrg(context, id);
    const action = 'staff.orgs.erasure.request';
    await requestOrgErasure(context, { org_id: org.id, refund_requested, action, reason });
    return staffView(context, org);
  },
});

export const cancelOrgErasureByStaffOperation = operation({
  name: 'staff.orgs.erasure.cancel',
  method: 'DELETE',
  path: '/staff/orgs/:id/erasure',
  summary: 'Take the erasure of an organization back for its owner',
  audience: staffAudience,
  input: Type.Object({ id: Type.String(), reason: lineOf(500) }),
  output: OrgErasureView,
  errors: ['state_conflict'],
  request: { reason: 'asked by the owner' },
  example: { ...example, status: 'cancelled', digest: null, completed_at: null, began_at: null },
  async run(context, { id, reason }) {
    const org = await getStaffOrg(context, id);
    await cancelOrgErasure(context, { org_id: org.id, action: 'staff.orgs.erasure.cancel', reason });
    return staffView(context, org);
  },
});

export const OrgErasureTermsView = named(
  'OrgErasureTerms',
  Type.Object({
    notice_days: Type.Integer({
      ...{ minimum: noticeDays.min, maximum: noticeDays.max },
      description: 'between asking for an erasure and its beginning',
    }),
  }),
);

export const getOrgErasureTermsOperation = operation({
  name: 'staff.orgs.erasures.terms.get',
  method: 'GET',
  path: '/staff/org-erasures/terms',
  summary: 'Show how long erasures of organizations are announced',
  audience: staffAudience,
  input: Type.Object({}),
  output: OrgErasureTermsView,
  errors: [],
  example: { notice_days: 30 },
  async run(context) {
    await writeAudit(context, { action: 'staff.orgs.erasures.terms.get', org_id: null });
    return readErasureTerms(context.db);
  },
});

export const setOrgErasureTermsOperation = operation({
  name: 'staff.orgs.erasures.terms.set',
  method: 'PUT',
  path: '/staff/org-erasures/terms',
  summary: 'Set how long erasures of organizations are announced that are asked for from now on',
  audience: { kind: 'staff', roles: ['compliance'] },
  input: OrgErasureTermsView,
  output: OrgErasureTermsView,
  errors: [],
  example: { notice_days: 45 },
  run: (context, terms) => changeErasureTerms(context, terms),
});

export const orgErasureOperations = [requestOrgErasureOperation, cancelOrgErasureOperation] as const;
export const staffOrgErasureOperations = [
  listOrgErasuresOperation,
  getOrgErasureOperation,
  requestOrgErasureByStaffOperation,
  cancelOrgErasureByStaffOperation,
  getOrgErasureTermsOperation,
  setOrgErasureTermsOperation,
] as const;
