// Prices and exchange rates that one member of staff proposes and another one confirms, in the staff schema.
import {
  getProposedPriceOperation,
  listSetPricesOperation,
  PricePlanView,
  previewPriceOperation,
  proposePriceOperation,
  proposeRatesOperation,
  SetPriceView,
  setPriceStates,
} from '@svc/core/desk/index.ts';
import { toWire } from '../derive.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

interface Asked {
  readonly runner: Runner;
}

/** Adds what proposed prices come to, those that were set, and the act that proposes. */
export function addPrices({ builder, derive, mutation }: Parts): void {
  derive.enum('SetPriceState', setPriceStates);
  const Plan = derive.output('PricePlan', PricePlanView, {
    names: { rate: 'PricePair', effect: 'PriceEffect' },
  });
  const SetPrice = derive.output('SetPrice', SetPriceView);
  builder.queryFields((t: Any) => ({
    pricePreview: t.field({
      type: Plan,
      nullable: true,
      description: 'What other prices of an endpoint would come to; nothing is kept.',
      args: derive.args(t.arg, 'PricePreview', previewPriceOperation.input),
      complexity: { field: 100 },
      extensions: { operation: previewPriceOperation.name },
      resolve: (_root: unknown, args: Record<string, unknown>, { runner }: Asked) =>
        runner.run(previewPriceOperation, toWire(previewPriceOperation.input, args)),
    }),
    proposedPrice: t.field({
      type: Plan,
      nullable: true,
      description: 'What prices that wait for a second person come to as things are now.',
      args: derive.args(t.arg, 'ProposedPrice', getProposedPriceOperation.input),
      complexity: { field: 100 },
      extensions: { operation: getProposedPriceOperation.name },
      resolve: (_root: unknown, args: Record<string, unknown>, { runner }: Asked) =>
        runner.run(getProposedPriceOperation, toWire(getProposedPriceOperation.input, args)),
    }),
    setPrices: t.field({
      type: [SetPrice],
      nullable: true,
      description: 'The newest prices that staff set, and what became of them.',
      complexity: { field: 1, multiplier: 100 },
      extensions: { operation: listSetPricesOperation.name },
      resolve: async (_root: unknown, _args: unknown, { runner }: Asked) =>
        (await runner.run(listSetPricesOperation, {})).data,
    }),
  }));
  const approvalId = (t: Any) => ({
    approvalId: t.id({ resolve: ({ approval_id }: { approval_id: string }) => approval_id }),
  });
  mutation({
    name: 'proposeRates',
    operation: proposeRatesOperation,
    description: 'Proposes exchange rates of a day; a second person confirms them.',
    payload: approvalId,
  });
  mutation({
    name: 'proposePrice',
    operation: proposePriceOperation,
    description: 'Proposes other prices of an endpoint from a day on; a second person confirms them.',
    payload: approvalId,
  });
}
