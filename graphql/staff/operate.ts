// How the service runs, in the staff schema: open workflows, what waits to be sent, exchange rates and prices.
import {
  FxView,
  fxDayStates,
  fxSources,
  getFxOperation,
  getOutboxOperation,
  listPricesOperation,
  listWorkflowsOperation,
  OutboxView,
  outboxQueues,
  PriceVersionView,
  WorkflowsView,
  workflowStates,
} from '@svc/core/desk/index.ts';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

interface Asked {
  readonly runner: Runner;
}

/** Adds workflows and the outbox. */
function addRunning({ builder, derive }: Parts): void {
  derive.enum('WorkflowState', workflowStates);
  derive.enum('OutboxQueueName', outboxQueues);
  const Workflows = derive.output('Workflows', WorkflowsView, {
    names: { kind: 'WorkflowKind', workflow: 'Workflow' },
  });
  const Outbox = derive.output('Outbox', OutboxView, {
    names: { queue: 'OutboxQueue', waiting: 'OutboxEntry' },
  });
  builder.queryFields((t: Any) => ({
    workflows: t.field({
      type: Workflows,
      nullable: true,
      description: 'Workflows that are open, by kind, with the steps that fail.',
      args: { type: t.arg.string({ description: 'of this kind alone' }) },
      complexity: { field: 20 },
      extensions: { operation: listWorkflowsOperation.name },
      resolve: (_root: unknown, args: Record<string, unknown>, { runner }: Asked) =>
        runner.run(listWorkflowsOperation, toWire(listWorkflowsOperation.input, args)),
    }),
    outbox: t.field({
      type: Outbox,
      nullable: true,
      description: 'What waits to be sent: of each queue how much, and the oldest.',
      complexity: { field: 20 },
      extensions: { operation: getOutboxOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: Asked) => runner.run(getOutboxOperation, {}),
    }),
  }));
}

/** Adds what shows how the service runs and what it charges. */
export function addOperate(parts: Parts): void {
  const { builder, derive, connectionType } = parts;
  addRunning(parts);
  derive.enum('FxSource', fxSources);
  derive.enum('FxDayState', fxDayStates);
  const Rates = derive.output('FxRates', FxView, { names: { day: 'FxDay' } });
  const Prices = connectionType('PriceVersion', derive.output('PriceVersion', PriceVersionView));
  builder.queryFields((t: Any) => ({
    fxRates: t.field({
      type: Rates,
      nullable: true,
      description: 'Exchange rates of the last days, and how their source does.',
      complexity: { field: 20 },
      extensions: { operation: getFxOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: Asked) => runner.run(getFxOperation, {}),
    }),
    priceVersions: t.field({
      type: Prices,
      nullable: true,
      description: 'What endpoints cost from when on, newest first.',
      args: {
        model: t.arg.string({ description: 'models whose id has this in it' }),
        after: t.arg.string(),
        first: t.arg.int(),
      },
      complexity: pageCost,
      extensions: { operation: listPricesOperation.name },
      resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: Asked) => {
        const given = { ...args, first: rowsAsked(args) };
        const page = await runner.run(
          listPricesOperation,
          toWire(listPricesOperation.input, given, pageArgs),
        );
        return { page, paged: typeof args['after'] === 'string' };
      },
    }),
  }));
}
