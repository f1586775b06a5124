// The balance and the ledger entries of a book.
import {
  BalanceView,
  EntryView,
  getBalanceOperation,
  LotView,
  listEntriesOperation,
  listLotsOperation,
  lotKinds,
  ReconciliationView,
  reconciliationOperation,
  refillSandboxOperation,
} from '@svc/core/credits/index.ts';
import { type Environment, ServiceError } from '@svc/core/kernel/index.ts';
import { ENTRY_KINDS } from '@svc/core/ledger/index.ts';
import type { Static } from 'typebox';
import { toWire } from '../../../derive.ts';
import { environmentOf } from '../../../run.ts';
import { builder, derive } from '../../builder.ts';
import { connectionType, pageField } from '../../connection.ts';
import { mutation } from '../../mutation.ts';
import { EnvironmentEnum } from '../common.ts';

derive.enum('LedgerEntryKind', ENTRY_KINDS);
derive.enum('LotKind', lotKinds);

export const Balance = derive.output('Balance', BalanceView);
const LedgerEntry = derive.output('LedgerEntry', EntryView);
const LedgerEntryConnection = connectionType('LedgerEntry', LedgerEntry);
const LotConnection = connectionType('Lot', derive.output('Lot', LotView));
const Reconciliation = derive.output('Reconciliation', ReconciliationView, { omit: ['object'] });

/** The book whose credits are shown. */
export interface Book {
  readonly environment: Environment;
}

export const Credits = builder.objectRef<Book>('Credits').implement({
  description: 'The credits of one environment.',
  fields: (t) => ({
    environment: t.field({ type: EnvironmentEnum, resolve: ({ environment }) => environment }),
    balance: t.field({
      type: Balance,
      nullable: true,
      extensions: { operation: getBalanceOperation.name },
      resolve: ({ environment }, _args, { runner }) => runner.run(getBalanceOperation, {}, { environment }),
    }),
    ledger: pageField(t, 'Ledger', {
      operation: listEntriesOperation,
      type: LedgerEntryConnection,
      description: 'Entries, newest first.',
      options: ({ environment }: Book) => ({ environment }),
    }),
    lots: pageField(t, 'Lots', {
      operation: listLotsOperation,
      type: LotConnection,
      description: 'Credit that came in together, newest first.',
      options: ({ environment }: Book) => ({ environment }),
    }),
    reconciliation: t.field({
      type: Reconciliation,
      nullable: true,
      description: 'The ledger compared with the calls, day by day; at most 92 days.',
      args: derive.args(t.arg, 'Reconciliation', reconciliationOperation.input, { omit: ['format'] }),
      complexity: { field: 92, multiplier: 1 },
      extensions: { operation: reconciliationOperation.name },
      resolve: async ({ environment }, args, { runner }) =>
        (await runner.run(reconciliationOperation, toWire(reconciliationOperation.input, args), {
          environment,
        })) as Static<typeof ReconciliationView>,
    }),
  }),
});

builder.queryField('credits', (t) =>
  t.field({
    type: Credits,
    nullable: true,
    args: { environment: t.arg({ type: EnvironmentEnum }) },
    extensions: { operation: null },
    resolve: (_root, args, { runner }) => {
      const own = environmentOf(runner.caller);
      const environment = (args.environment as Environment | null | undefined) ?? own;
      // A key acts in one book, a person in both.
      if (runner.caller.kind === 'key' && environment !== own) {
        throw new ServiceError(
          'permission_denied',
          `A ${own} key reads the credits of its own environment.`,
          {
            details: { environment: own },
          },
        );
      }
      return { environment };
    },
  }),
);

mutation({
  name: 'refillSandbox',
  operation: refillSandboxOperation,
  input: refillSandboxOperation.input,
  description: 'Tops the play balance of the test environment up to 100 USD, at most ten times a UTC day.',
  options: () => ({ environment: 'test' }),
  payload: (t) => ({
    balance: t.field({ type: Balance, resolve: ({ answer }: { answer: unknown }) => answer }),
  }),
});
