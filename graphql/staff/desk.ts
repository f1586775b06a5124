// The desk in the staff schema: top-ups, documents and acts of an organization, and the queue of what a person must look
// at.
import {
  ActView,
  BudgetsView,
  DocumentView,
  getShadowAllowanceOperation,
  ItemView,
  listStaffActsOperation,
  listStaffBudgetsOperation,
  listStaffDocumentsOperation,
  listStaffItemsOperation,
  listStaffTopupsOperation,
  resolveItemOperation,
  ShadowAllowanceView,
  setShadowAllowanceOperation,
} from '@svc/core/desk/index.ts';
import { TopupView, topupStatuses } from '@svc/core/topups/index.ts';
import type { Static } from 'typebox';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

type Resolved = Static<typeof resolveItemOperation.output>;

/** Limits, and budgets of projects and keys, of an organization. */
function budgetsField(t: Any, derive: Parts['derive']): Any {
  derive.enum('BudgetScope', ['project', 'key']);
  return t.field({
    type: derive.output('OrgBudgets', BudgetsView),
    nullable: true,
    description: 'Limits, and budgets of projects and keys.',
    args: derive.args(t.arg, 'Budgets', listStaffBudgetsOperation.input, { omit: ['id'] }),
    complexity: { field: 200, multiplier: 1 },
    extensions: { operation: listStaffBudgetsOperation.name },
    resolve: ({ id }: { id: string }, args: Record<string, unknown>, { runner }: { runner: Runner }) =>
      runner.run(listStaffBudgetsOperation, toWire(listStaffBudgetsOperation.input, { ...args, id })),
  });
}

/** Adds what the platform pays for an organization's shadows, and the act that changes it. */
function addShadows({ builder, derive, mutation, StaffOrg }: Parts): void {
  const Allowance = derive.output('ShadowAllowance', ShadowAllowanceView);
  builder.objectFields(StaffOrg, (t: Any) => ({
    shadowAllowance: t.field({
      type: Allowance,
      nullable: true,
      description: 'What the platform pays for shadows of routing policies, and has paid.',
      extensions: { operation: getShadowAllowanceOperation.name },
      resolve: ({ id }: { id: string }, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getShadowAllowanceOperation, { id }),
    }),
  }));
  mutation({
    name: 'setShadowAllowance',
    operation: setShadowAllowanceOperation,
    description: "Sets what the platform pays for an organization's shadows in a day; null ends it.",
    rename: { id: 'orgId' },
    payload: (t) => ({ allowance: t.field({ type: Allowance, resolve: (answer: unknown) => answer }) }),
  });
}

/** Adds the desk to the schema. */
export function addDesk(parts: Parts): void {
  const { builder, derive, connectionType, orgPage, mutation, StaffOrg } = parts;
  addShadows(parts);
  derive.enum('TopupStatus', topupStatuses);
  derive.enum('TopupSource', ['checkout', 'auto', 'staff']);
  const connected = (name: string, view: Any) => connectionType(name, derive.output(name, view));
  const Topups = connected('Topup', TopupView);
  const Documents = connected('Document', DocumentView);
  const Acts = connected('Act', ActView);
  const Item = derive.output('StaffItem', ItemView);
  const Items = connectionType('StaffItem', Item);

  builder.objectFields(StaffOrg, (t: Any) => ({
    topups: orgPage(t, 'Topups', listStaffTopupsOperation, Topups),
    documents: orgPage(t, 'Documents', listStaffDocumentsOperation, Documents),
    acts: orgPage(t, 'Acts', listStaffActsOperation, Acts),
    budgets: budgetsField(t, derive),
  }));
  builder.queryField('staffItems', (t: Any) =>
    t.field({
      type: Items,
      nullable: true,
      description: 'What a person must look at, oldest first.',
      args: {
        orgId: t.arg.id({ description: 'items about this organization alone' }),
        after: t.arg.string(),
        first: t.arg.int(),
      },
      complexity: pageCost,
      extensions: { operation: listStaffItemsOperation.name },
      resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: { runner: Runner }) => {
        const given = { ...args, first: rowsAsked(args) };
        const page = await runner.run(
          listStaffItemsOperation,
          toWire(listStaffItemsOperation.input, given, pageArgs),
        );
        return { page, paged: typeof args['after'] === 'string' };
      },
    }),
  );
  mutation({
    name: 'resolveStaffItem',
    operation: resolveItemOperation,
    description: 'Ends a matter of the queue, with a note for the audit log.',
    payload: (t) => ({
      item: t.field({ type: Item, resolve: ({ item }: Resolved) => item }),
      replay: t.boolean({
        description: 'it was over before; this note was not kept',
        resolve: ({ replay }: Resolved) => replay,
      }),
    }),
  });
}
