// Acts that need a second person, in the staff schema.
import {
  ApprovalView,
  approvalStates,
  approveActOperation,
  listApprovalsOperation,
  refuseActOperation,
} from '@svc/core/desk/index.ts';
import type { Static } from 'typebox';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;
type Approved = Static<typeof approveActOperation.output>;

/** Adds the acts, and what decides them. */
export function addApprovals({ builder, derive, connectionType, mutation }: Parts): void {
  derive.enum('ApprovalStatus', approvalStates);
  const Approval = derive.output('Approval', ApprovalView);
  const Approvals = connectionType('Approval', Approval);
  builder.queryField('approvals', (t: Any) =>
    t.field({
      type: Approvals,
      nullable: true,
      description: 'Acts that need or had a second person, newest first.',
      args: {
        waiting: t.arg.boolean({
          description: 'only those that can be approved now; false: only the others',
        }),
        after: t.arg.string(),
        first: t.arg.int(),
      },
      complexity: pageCost,
      extensions: { operation: listApprovalsOperation.name },
      resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: { runner: Runner }) => {
        const given = { ...args, first: rowsAsked(args) };
        const page = await runner.run(
          listApprovalsOperation,
          toWire(listApprovalsOperation.input, given, pageArgs),
        );
        return { page, paged: typeof args['after'] === 'string' };
      },
    }),
  );
  const approval = (t: Any) => ({
    approval: t.field({ type: Approval, resolve: (made: Pick<Approved, 'approval'>) => made.approval }),
  });
  mutation({
    name: 'approveAct',
    operation: approveActOperation,
    description: 'Approves what somebody else asked for: it is done at once.',
    payload: (t) => ({
      ...approval(t),
      csv: t.string({ nullable: true, resolve: ({ csv }: Approved) => csv }),
    }),
  });
  mutation({
    name: 'refuseAct',
    operation: refuseActOperation,
    description: 'Refuses what somebody asked for, or takes back what one asked for oneself.',
    payload: approval,
  });
}
