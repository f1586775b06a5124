// Top-ups, and quotes for them.
import {
  cancelTopupOperation,
  createTopupOperation,
  getTopupOperation,
  listTopupsOperation,
  QuoteView,
  quoteTopupOperation,
  TopupView,
  topupStatuses,
} from '@svc/core/topups/index.ts';
import { toWire } from '../../../derive.ts';
import { builder, derive, Node } from '../../builder.ts';
import { connectionType, pageField } from '../../connection.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';
import { type Book, Credits } from './credits.ts';

derive.enum('TopupStatus', topupStatuses);
derive.enum('TopupSource', ['checkout', 'auto', 'staff']);

export const Topup = derive.output('Topup', TopupView, { interfaces: [Node] });
const TopupConnection = connectionType('Topup', Topup);
const TopupQuote = derive.output('TopupQuote', QuoteView, { names: { item: 'TopupQuoteFee' } });

builder.objectFields(Credits, (t) => ({
  topups: pageField(t, 'Topups', {
    operation: listTopupsOperation,
    type: TopupConnection,
    description: 'Newest first; live only.',
    options: ({ environment }: Book) => ({ environment }),
  }),
  topup: t.field({
    type: Topup,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getTopupOperation.name },
    resolve: ({ environment }, { id }, { runner }) =>
      nullWhenMissing(runner.run(getTopupOperation, { id }, { environment })),
  }),
  quote: t.field({
    type: TopupQuote,
    nullable: true,
    description: 'What an amount buys, with tax; the rate binds for 15 minutes.',
    args: derive.args(t.arg, 'Quote', quoteTopupOperation.input) as {
      amountMinor: ReturnType<typeof t.arg.string>;
    },
    extensions: { operation: quoteTopupOperation.name },
    resolve: ({ environment }, args, { runner }) =>
      runner.run(quoteTopupOperation, toWire(quoteTopupOperation.input, args), { environment }),
  }),
}));

interface Payload {
  readonly answer: { readonly topup: unknown; readonly checkout_url: string; readonly quote: unknown };
}

mutation({
  name: 'startTopup',
  operation: createTopupOperation,
  input: createTopupOperation.input,
  description: 'Starts a top-up; it is paid at `checkoutUrl`.',
  payload: (t) => ({
    topup: t.field({ type: Topup, resolve: ({ answer }: Payload) => answer.topup }),
    checkoutUrl: t.string({ resolve: ({ answer }: Payload) => answer.checkout_url }),
    quote: t.field({ type: TopupQuote, resolve: ({ answer }: Payload) => answer.quote }),
  }),
});

mutation({
  name: 'cancelTopup',
  operation: cancelTopupOperation,
  input: cancelTopupOperation.input,
  description: 'Cancels a top-up that was not paid; its checkout accepts no payment any more.',
  payload: (t) => ({
    topup: t.field({ type: Topup, resolve: ({ answer }: { answer: unknown }) => answer as never }),
  }),
});
