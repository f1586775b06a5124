// What staff do with refunds and disputes. Each act and each look is an entry of the audit log, in its transaction.
import { Type } from 'typebox';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Id,
  idOf,
  isId,
  lineOf,
  notFound,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import {
  type Dispute,
  DisputeView,
  disputeExample,
  listDisputes,
  nameTopups,
  type TopupNames,
  viewDispute,
} from '../topups/index.ts';
import { endLossBy } from './disputes/loss.ts';
import { refundExample } from './operations.ts';
import { RefundView, viewRefund } from './schema.ts';
import { listStaffRefunds } from './store.ts';

const finance = { kind: 'staff', roles: ['finance'] } as const;
const readers = { kind: 'staff', roles: ['finance', 'support'] } as const;
const PAGE = 50;

function listed(waiting: string) {
  return Type.Object({
    org_id: Type.Optional(idOf('org')),
    waiting: Type.Optional(Type.Boolean({ description: waiting })),
    ...pageInput(200),
  });
}

/** The look into the rows of one organization or of all, written down. */
async function look(
  context: Context,
  action: string,
  asked: { readonly org_id?: string; readonly waiting?: boolean },
): Promise<{ org_id: Id<'org'> | null; waiting: boolean; bound: string }> {
  const { org_id: named, waiting = false } = asked;
  if (named !== undefined && !isId('org', named)) throw notFound();
  const org_id = named ?? null;
  await writeAudit(context, { action, org_id, after: { waiting } });
  return { org_id, waiting, bound: `${action} ${org_id ?? ''} ${waiting}` };
}

const placeBefore = (after: { at: number; id: string } | null) =>
  after === null ? null : { at: new Date(after.at), id: after.id };

/** What people call the parties of a refund or dispute. */
const Names = Type.Object({
  org_name: Type.String(),
  invoice_number: nullable(Type.String({ description: 'of the payment that it is about' })),
});
const names = { org_name: 'Acme', invoice_number: 'INV/26-27/00001' };

/** Each of `rows` beside the names of its top-up. */
async function named<T extends { readonly topup_id: Id<'topup'> }>(
  { db }: Context,
  rows: readonly T[],
): Promise<(readonly [T, TopupNames])[]> {
  const found = await nameTopups(
    db,
    rows.map(({ topup_id }) => topup_id),
  );
  return rows.map((row) => [row, found.get(row.topup_id) ?? { org_name: '', invoice_number: null }]);
}

export const StaffDisputeView = Type.Intersect([DisputeView, Names]);
export const StaffRefundView = Type.Intersect([RefundView, Names]);

export const listStaffDisputesOperation = operation({
  name: 'staff.disputes.list',
  method: 'GET',
  path: '/staff/disputes',
  summary: 'List disputes of all organizations or of one, newest first',
  audience: readers,
  input: listed('only open ones, and losses that nobody has paid'),
  output: pageOf(StaffDisputeView),
  errors: [],
  example: { object: 'list', data: [{ ...disputeExample, ...names }], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const { org_id, waiting, bound } = await look(context, 'staff.disputes.list', input);
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) =>
          listDisputes(context.db, { org_id, waiting, before: placeBefore(after), limit }),
        placeOf: (dispute) => ({ at: dispute.opened_at.getTime(), id: dispute.id }),
      });
      const shown = await named(context, rows);
      return page(
        shown.map(([dispute, names]) => ({ ...viewDispute(dispute), ...names })),
        next_cursor,
        cursorAt,
      );
    }),
});

export const listStaffRefundsOperation = operation({
  name: 'staff.refunds.list',
  method: 'GET',
  path: '/staff/refunds',
  summary: 'List refunds of all organizations or of one, newest first',
  audience: readers,
  input: listed('only those that are pending or have failed'),
  output: pageOf(StaffRefundView),
  errors: [],
  example: { object: 'list', data: [{ ...refundExample, ...names }], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const { org_id, waiting, bound } = await look(context, 'staff.refunds.list', input);
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) =>
          listStaffRefunds(context.db, { org_id, waiting, before: placeBefore(after), limit }),
        placeOf: (refund) => ({ at: refund.created_at.getTime(), id: refund.id }),
      });
      return page(
        (await named(context, rows)).map(([refund, names]) => ({ ...viewRefund(refund), ...names })),
        next_cursor,
        cursorAt,
      );
    }),
});

const Act = Type.Object({ id: idOf('dispute'), reason: lineOf(500) });
const Ended = Type.Object({ dispute: StaffDisputeView });

/** Ends the loss of a dispute, and shows it with its names. @throws ServiceError not_found, state_conflict. */
async function endLoss(context: Context, ended: Parameters<typeof endLossBy>[1]) {
  const [[dispute, names]] = (await named(context, [await endLossBy(context, ended)])) as [
    readonly [Dispute, TopupNames],
  ];
  return { dispute: { ...viewDispute(dispute), ...names } };
}

function disputeId(text: string): Id<'dispute'> {
  if (!isId('dispute', text)) throw notFound();
  return text;
}

export const liftDisputeOperation = operation({
  name: 'staff.disputes.lift',
  method: 'POST',
  path: '/staff/disputes/:id/lift',
  summary: 'Let an organization make calls again although a loss is unpaid; refunds and gifts stay refused',
  audience: finance,
  input: Act,
  output: Ended,
  errors: ['state_conflict'],
  example: { dispute: { ...disputeExample, ...names, lifted_at: '2026-12-21T10:00:00.000Z' } },
  async run(context, { id, reason }) {
    return endLoss(context, { id: disputeId(id), by: 'lifted', reason });
  },
});

export const payDisputeOperation = operation({
  name: 'staff.disputes.paid',
  method: 'POST',
  path: '/staff/disputes/:id/paid',
  summary: 'Note that the loss of a dispute was paid: calls, refunds and gifts are allowed again',
  audience: finance,
  input: Act,
  output: Ended,
  errors: ['state_conflict'],
  example: { dispute: { ...disputeExample, ...names, paid_at: '2026-12-22T10:00:00.000Z' } },
  async run(context, { id, reason }) {
    return endLoss(context, { id: disputeId(id), by: 'paid', reason });
  },
});

export const staffRefundOperations = [
  listStaffRefundsOperation,
  listStaffDisputesOperation,
  liftDisputeOperation,
  payDisputeOperation,
] as const;
