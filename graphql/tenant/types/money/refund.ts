// Refunds of top-ups.
import {
  getRefundOperation,
  listRefundsOperation,
  RefundView,
  refundStatuses,
  refundTopupOperation,
} from '@svc/core/refunds/index.ts';
import { builder, derive, Node } from '../../builder.ts';
import { connectionType, pageField } from '../../connection.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';
import { type Book, Credits } from './credits.ts';

derive.enum('RefundStatus', refundStatuses);

const Refund = derive.output('Refund', RefundView, { interfaces: [Node] });
const RefundConnection = connectionType('Refund', Refund);

builder.objectFields(Credits, (t) => ({
  refunds: pageField(t, 'Refunds', {
    operation: listRefundsOperation,
    type: RefundConnection,
    description: 'Newest first; live only.',
    options: ({ environment }: Book) => ({ environment }),
  }),
  refund: t.field({
    type: Refund,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getRefundOperation.name },
    resolve: async ({ environment }, { id }, { runner }) =>
      (await nullWhenMissing(runner.run(getRefundOperation, { id }, { environment })))?.refund ?? null,
  }),
}));

interface Payload {
  readonly answer: { readonly refund: unknown };
}

mutation({
  name: 'refundTopup',
  operation: refundTopupOperation,
  input: refundTopupOperation.input,
  description:
    'Refunds unused credits of a top-up; the credits are taken at once, the money goes back by the rail.',
  payload: (t) => ({
    refund: t.field({ type: Refund, resolve: ({ answer }: Payload) => answer.refund }),
  }),
});
