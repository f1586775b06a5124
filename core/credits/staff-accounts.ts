// An organization's accounts as staff read them; each look is an entry of the audit log.
import { Type } from 'typebox';
import { operation, page, pageInput, pageOf, walkPage } from '../kernel/index.ts';
import { readLots } from '../ledger/index.ts';
import { bookIn } from './book.ts';
import { LotView, lotAt, lotExample, placeOfLot, viewLot } from './lots.ts';
import {
  ReconciliationView,
  reconciliationExample,
  reconciliationRange,
  viewReconciliation,
} from './reconciliation/operation.ts';
import { rangeOf, reconcile } from './reconciliation/report.ts';
import { Env, lookInto } from './staff-org.ts';

const accountants = { kind: 'staff', roles: ['finance', 'support'] } as const;

export const listStaffLotsOperation = operation({
  name: 'staff.credits.lots',
  method: 'GET',
  path: '/staff/orgs/:id/credits/lots',
  summary: "List the lots of an organization's book, newest first",
  audience: accountants,
  input: Type.Object({
    id: Type.String(),
    environment: Env,
    open: Type.Optional(Type.Boolean({ description: 'only lots of which something is left' })),
    ...pageInput(200),
  }),
  output: pageOf(LotView),
  errors: [],
  example: { object: 'list', data: [lotExample], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, input.id, 'staff.credits.lots');
      const book_id = bookIn(org, input.environment ?? 'live');
      const ledger = context.shards.at(org.shard);
      const open = input.open ?? false;
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.credits.lots ${book_id} ${open}`,
        cursor: input.cursor,
        limit: input.limit ?? 50,
        read: (after, limit) => readLots(ledger, { book_id, open, after: lotAt(after), limit }),
        placeOf: placeOfLot,
      });
      return page(rows.map(viewLot), next_cursor, cursorAt);
    }),
});

export const staffReconciliationOperation = operation({
  name: 'staff.credits.reconciliation',
  method: 'GET',
  path: '/staff/orgs/:id/credits/reconciliation',
  summary: 'Compare the ledger of an organization with its calls, day by day',
  audience: accountants,
  input: Type.Object({ id: Type.String(), environment: Env, ...reconciliationRange }),
  output: ReconciliationView,
  errors: ['range_too_long'],
  example: reconciliationExample,
  run: (context, input) =>
    context.transaction(async (context) => {
      const range = rangeOf(input, context.now());
      const org = await lookInto(context, input.id, 'staff.credits.reconciliation');
      const wanted = { org, environment: input.environment ?? 'live', ...range } as const;
      return viewReconciliation(range, await reconcile(context, wanted));
    }),
});
