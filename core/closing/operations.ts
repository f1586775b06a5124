// Closing an organization over REST and GraphQL (docs/organizations/closing.md).
import { Type } from 'typebox';
import { getStaffOrg } from '../credits/index.ts';
import { idOf, lineOf, notFound, operation, orgCaller, Time } from '../kernel/index.ts';
import { findOrgRecords, OrgView, orgExample, viewOrg } from '../orgs/index.ts';
import { closeOrg } from './close.ts';
import { findClosing } from './store.ts';

export const closeOrgOperation = operation({
  name: 'orgs.close',
  method: 'POST',
  path: '/v1/orgs/:id/close',
  summary: 'Close an organization; for 90 days its owners can read invoices and ledger',
  audience: {
    ...{ kind: 'key', scopes: ['manage:keys'], sandbox: false, reauthenticated: true },
    session: ['owner'],
  },
  input: Type.Object({
    id: idOf('org'),
    confirm: Type.String({ maxLength: 100, description: 'the slug of the organization' }),
    refund_requested: Type.Optional(
      Type.Boolean({ description: 'give unused credit back that was paid for; false when left out' }),
    ),
  }),
  output: OrgView,
  errors: ['confirm_mismatch', 'org_closed', 'in_use', 'reauthentication_required', 'csrf_failed'],
  request: { confirm: 'acme', refund_requested: true },
  example: { ...orgExample, status: 'closed', closed_at: '2026-11-21T11:00:00.000Z' },
  async run(context, { id, confirm, refund_requested = false }) {
    const caller = orgCaller(context);
    if (id !== caller.org_id) throw notFound();
    const { org_id } = caller;
    await closeOrg(context, { org_id, confirm, refund_requested, action: 'orgs.close' });
    const [org] = await findOrgRecords(context.db, [org_id]);
    if (org === undefined) throw notFound();
    return viewOrg(org, caller.kind === 'session' ? caller.role : null, context.now());
  },
});

/** What staff see of a closing. */
const ClosedView = Type.Object({ org_id: Type.String(), closed_at: Time });

export const closeOrgByStaffOperation = operation({
  name: 'staff.orgs.close',
  method: 'POST',
  path: '/staff/orgs/:id/close',
  summary: 'Close an organization for its owner',
  audience: { kind: 'staff', roles: ['support', 'compliance'] },
  input: Type.Object({
    id: Type.String(),
    refund_requested: Type.Optional(Type.Boolean()),
    reason: lineOf(500),
  }),
  output: ClosedView,
  errors: ['org_closed', 'in_use'],
  request: { refund_requested: true, reason: 'asked by the owner' },
  example: { org_id: orgExample.id, closed_at: '2026-11-21T11:00:00.000Z' },
  async run(context, { id, refund_requested = false, reason }) {
    const org = await getStaffOrg(context, id);
    await closeOrg(context, {
      org_id: org.id,
      confirm: null,
      refund_requested,
      action: 'staff.orgs.close',
      reason,
    });
    const closing = await findClosing(context.db, org.id);
    if (closing === null) throw notFound();
    return { org_id: org.id, closed_at: closing.closed_at.toISOString() };
  },
});

export const closingOperations = [closeOrgOperation] as const;
export const staffClosingOperations = [closeOrgByStaffOperation] as const;
