// Refunds and disputes in the staff schema.
import {
  liftDisputeOperation,
  listStaffDisputesOperation,
  listStaffRefundsOperation,
  payDisputeOperation,
  refundStatuses,
  StaffDisputeView,
  StaffRefundView,
} from '@svc/core/refunds/index.ts';
import type { Static } from 'typebox';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

type Ended = Static<typeof liftDisputeOperation.output>;

/** Adds refunds and disputes to the schema. */
export function addMoneyBack({ builder, derive, connectionType, mutation }: Parts): void {
  derive.enum('RefundStatus', refundStatuses);
  const Dispute = derive.output('Dispute', StaffDisputeView);
  const lists = [
    {
      ...{
        name: 'disputes',
        operation: listStaffDisputesOperation,
        type: connectionType('Dispute', Dispute),
      },
      description: 'Disputes, newest first; `waiting`: only open ones and losses that nobody has paid.',
    },
    {
      ...{ name: 'refunds', operation: listStaffRefundsOperation },
      type: connectionType('Refund', derive.output('Refund', StaffRefundView)),
      description: 'Refunds, newest first; `waiting`: only those that are pending or have failed.',
    },
  ] as const;
  for (const { name, operation, type, description } of lists) {
    builder.queryField(name, (t: Any) =>
      t.field({
        type,
        nullable: true,
        description,
        args: {
          orgId: t.arg.id({ description: 'of this organization alone' }),
          waiting: t.arg.boolean(),
          after: t.arg.string(),
          first: t.arg.int(),
        },
        complexity: pageCost,
        extensions: { operation: operation.name },
        resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: { runner: Runner }) => {
          const given = { ...args, first: rowsAsked(args) };
          const page = await runner.run(operation as Any, toWire(operation.input, given, pageArgs));
          return { page, paged: typeof args['after'] === 'string' };
        },
      }),
    );
  }
  const payload = (t: Any) => ({
    dispute: t.field({ type: Dispute, resolve: ({ dispute }: Ended) => dispute }),
  });
  mutation({
    ...{ name: 'liftDispute', operation: liftDisputeOperation, payload },
    description: 'Lets an organization make calls again although the loss of a dispute is unpaid.',
  });
  mutation({
    ...{ name: 'payDispute', operation: payDisputeOperation, payload },
    description: 'Notes that the loss of a dispute was paid: calls, refunds and gifts are allowed again.',
  });
}
