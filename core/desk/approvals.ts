// Approving what another member of staff asked for: the act is done in the transaction that notes the approval.
import { type Static, Type } from 'typebox';
import { type Approval, decideApproval, listApprovals, lockApproval } from '../approvals/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  isId,
  lineOf,
  notFound,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  staffRoles,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { acts } from './acts.ts';
import { namedFacts } from './schema.ts';

/** `lapsed`: nobody decided in time; it can be asked for again. */
export const approvalStates = ['pending', 'lapsed', 'approved', 'refused', 'withdrawn'] as const;
/** Who decides something; which acts, `acts` says. */
const deciders = { kind: 'staff', roles: ['finance', 'catalog'] } as const;

export const ApprovalView = Type.Object({
  id: Type.String(),
  action: Type.String({ description: 'name of the operation: `staff.credits.grant`' }),
  org_id: nullable(Type.String()),
  org_name: nullable(Type.String()),
  amount_micro_usd: nullable(Type.Integer({ description: 'what moves; null: a price or a rate' })),
  decided_by_roles: Type.Array(oneOf(staffRoles), { description: 'who may decide it, besides `super`' }),
  input: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  reason: Type.String(),
  status: oneOf(approvalStates, 'ApprovalStatus'),
  asked_by: Type.String({ description: 'address of who asked' }),
  asked_at: Time,
  expires_at: Time,
  decided_by: nullable(Type.String()),
  decided_at: nullable(Time),
  note: nullable(Type.String()),
});
type ApprovalView = Static<typeof ApprovalView>;

function viewApproval(approval: Approval, at: Date): ApprovalView {
  const { id, action, org_id, org_name, amount_micro_usd, reason, status, note } = approval;
  return {
    ...{ id, action, org_id, org_name, amount_micro_usd, reason, note },
    decided_by_roles: [...(acts[action]?.roles ?? [])],
    input: namedFacts(approval.input),
    status: status === 'pending' && approval.expires_at <= at ? 'lapsed' : status,
    asked_by: approval.asked_by_email,
    asked_at: approval.asked_at.toISOString(),
    expires_at: approval.expires_at.toISOString(),
    decided_by: approval.decided_by_email,
    decided_at: approval.decided_at?.toISOString() ?? null,
  };
}

const example: ApprovalView = {
  id: 'apr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  action: 'staff.credits.grant',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_name: 'Acme',
  amount_micro_usd: 500_000_000,
  decided_by_roles: ['finance'],
  input: [{ name: 'amount_micro', value: '500000000' }],
  reason: 'as agreed in the contract',
  status: 'approved',
  asked_by: 'fin@svc.example',
  asked_at: '2026-11-21T10:00:00.000Z',
  expires_at: '2026-11-28T10:00:00.000Z',
  decided_by: 'second@svc.example',
  decided_at: '2026-11-21T11:00:00.000Z',
  note: null,
};

export const listApprovalsOperation = operation({
  name: 'staff.approvals.list',
  method: 'GET',
  path: '/staff/approvals',
  summary: 'List acts that need or had a second person, newest first',
  audience: { kind: 'staff', roles: ['finance', 'support', 'compliance', 'catalog'] },
  input: Type.Object({
    waiting: Type.Optional(
      Type.Boolean({ description: 'only those that can be approved now; false: only the others' }),
    ),
    ...pageInput(200),
  }),
  output: pageOf(ApprovalView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.approvals.list', org_id: null });
      const at = context.now();
      const waiting = input.waiting ?? null;
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.approvals ${waiting}`,
        cursor: input.cursor,
        limit: input.limit ?? 50,
        read: (after, limit) =>
          listApprovals(context.db, {
            ...{ waiting, at, limit },
            before: after === null ? null : { at: new Date(after.at), id: after.id },
          }),
        placeOf: ({ asked_at, id }) => ({ at: asked_at.getTime(), id }),
      });
      return page(
        rows.map((row) => viewApproval(row, at)),
        next_cursor,
        cursorAt,
      );
    }),
});

/** An act that is still to be decided, locked, and who decides. @throws ServiceError not_found, state_conflict. */
async function lockOpen(context: Context, id: string) {
  const { caller } = context;
  const staff_id = caller.kind === 'staff' ? caller.staff_id : null;
  const found = isId('approval', id) ? await lockApproval(context.db, id) : null;
  if (found === null) throw notFound();
  // `svcctl` has no name to tell one person from another.
  if (staff_id === null)
    throw new ServiceError('permission_denied', 'A person decides this, in the console.');
  const act = acts[found.action];
  if (act === undefined) throw new Error(`no act ${found.action}`);
  const has = caller.kind === 'staff' ? caller.roles : [];
  if (!has.some((role) => role === 'super' || act.roles.includes(role)))
    throw new ServiceError(
      'permission_denied',
      `This is decided by who has the role ${act.roles.join(' or ')}.`,
      {
        details: { roles: [...act.roles] },
      },
    );
  const { status } = viewApproval(found, context.now());
  const is_over = status !== 'pending' && status !== 'lapsed';
  if (is_over)
    throw new ServiceError('state_conflict', `It was ${status} already.`, { details: { state: status } });
  return { found, act, status, staff_id };
}

function decided(context: Context, found: Approval, change: Partial<Approval>) {
  return { approval: viewApproval({ ...found, decided_at: context.now(), ...change }, context.now()) };
}

const nameOf = ({ caller }: Context) => (caller.kind === 'staff' ? caller.name : null);

export const approveActOperation = operation({
  name: 'staff.approvals.approve',
  method: 'POST',
  path: '/staff/approvals/:id/approve',
  summary: 'Approve what somebody else asked for: it is done at once',
  audience: deciders,
  input: Type.Object({ id: Type.String(), note: Type.Optional(lineOf(500)) }),
  output: Type.Object({
    approval: ApprovalView,
    csv: nullable(Type.String({ description: 'codes of a batch, shown once' })),
  }),
  errors: ['state_conflict', 'already_exists', 'idempotency_conflict'],
  example: { approval: example, csv: null },
  run: (context, { id, note = null }) =>
    context.transaction(async (context) => {
      const { found, act, status, staff_id } = await lockOpen(context, id);
      if (staff_id === found.asked_by)
        throw new ServiceError('permission_denied', 'You asked for this. Somebody else approves it.', {
          details: { asked_by: found.asked_by },
        });
      if (status === 'lapsed')
        throw new ServiceError('state_conflict', 'It waited too long. It can be asked for again.', {
          details: { state: 'lapsed' },
        });
      const { csv } = await act.run(context, found.input, found);
      const at = context.now();
      await decideApproval(context.db, { id: found.id, status: 'approved', by: staff_id, note, at });
      await writeAudit(context, {
        ...{ action: 'staff.approvals.approve', org_id: found.org_id, reason: note ?? found.reason },
        target: { type: 'approval', id: found.id, display: found.action },
        after: {
          ...{ action: found.action, amount_micro_usd: found.amount_micro_usd },
          asked_by: found.asked_by_email,
        },
      });
      const change = { status: 'approved', note, decided_by_email: nameOf(context) } as const;
      return { ...decided(context, found, change), csv };
    }),
});

export const refuseActOperation = operation({
  name: 'staff.approvals.refuse',
  method: 'POST',
  path: '/staff/approvals/:id/refuse',
  summary: 'Refuse what somebody asked for, or take back what one asked for oneself',
  audience: deciders,
  input: Type.Object({ id: Type.String(), reason: lineOf(500) }),
  output: Type.Object({ approval: ApprovalView }),
  errors: ['state_conflict'],
  example: { approval: { ...example, status: 'refused', note: 'not in the contract' } },
  run: (context, { id, reason }) =>
    context.transaction(async (context) => {
      const { found, staff_id } = await lockOpen(context, id);
      const status = staff_id === found.asked_by ? 'withdrawn' : 'refused';
      const at = context.now();
      await decideApproval(context.db, { id: found.id, status, by: staff_id, note: reason, at });
      await writeAudit(context, {
        ...{ action: 'staff.approvals.refuse', org_id: found.org_id, reason },
        target: { type: 'approval', id: found.id, display: found.action },
        after: { status, action: found.action, asked_by: found.asked_by_email },
      });
      return decided(context, found, { status, note: reason, decided_by_email: nameOf(context) });
    }),
});

export const approvalOperations = [listApprovalsOperation, approveActOperation, refuseActOperation] as const;
