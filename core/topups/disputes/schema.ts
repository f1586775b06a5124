// Wire shape of disputes.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, Time } from '../../kernel/index.ts';
import { railNames } from '../types.ts';
import { type Dispute, disputeStatuses } from './types.ts';

export const DisputeView = named(
  'Dispute',
  Type.Object({
    id: idOf('dispute'),
    org_id: idOf('org'),
    topup_id: idOf('topup'),
    gateway: oneOf(railNames, 'Rail'),
    gateway_ref: Type.String({ description: "the rail's name of it" }),
    phase: Type.String({ description: 'how far it has gone, in the word of the rail' }),
    reason: Type.String({ description: 'what the payer says, in the word of the rail' }),
    currency: Type.String(),
    amount_minor: Type.Integer({ description: 'what the payer wants back, tax included' }),
    status: oneOf(disputeStatuses, 'DisputeStatus'),
    credits_micro: Type.Integer({ description: 'credits that the amount bought' }),
    written_off_micro: nullable(
      Type.Integer({ description: 'of a lost one: credits that were spent; null until it is known' }),
    ),
    respond_by: nullable(Time),
    opened_at: Time,
    closed_at: nullable(Time),
    lifted_at: nullable(Type.String({ format: 'date-time', description: 'when calls were allowed again' })),
    paid_at: nullable(Type.String({ format: 'date-time', description: 'when the loss was paid' })),
  }),
);
type DisputeView = Static<typeof DisputeView>;

/** What the documentation shows. */
export const disputeExample = {
  id: 'dsp_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  gateway: 'rail-b',
  gateway_ref: 'dp_a1',
  phase: 'chargeback',
  reason: 'fraudulent',
  currency: 'USD',
  amount_minor: 2_500,
  status: 'lost',
  credits_micro: 25_000_000,
  written_off_micro: 10_000_000,
  respond_by: '2026-11-30T10:00:00.000Z',
  opened_at: '2026-11-21T10:00:00.000Z',
  closed_at: '2026-12-20T10:00:00.000Z',
  lifted_at: null,
  paid_at: null,
} as const satisfies DisputeView;

/** A dispute as the API shows it. */
export function viewDispute(dispute: Dispute): DisputeView {
  return {
    id: dispute.id,
    org_id: dispute.org_id,
    topup_id: dispute.topup_id,
    gateway: dispute.gateway,
    gateway_ref: dispute.gateway_ref,
    phase: dispute.phase,
    reason: dispute.reason,
    currency: dispute.currency,
    amount_minor: dispute.amount_minor,
    status: dispute.status,
    credits_micro: dispute.credits_micro,
    written_off_micro: dispute.written_off_micro,
    respond_by: dispute.respond_by?.toISOString() ?? null,
    opened_at: dispute.opened_at.toISOString(),
    closed_at: dispute.closed_at?.toISOString() ?? null,
    lifted_at: dispute.lifted_at?.toISOString() ?? null,
    paid_at: dispute.paid_at?.toISOString() ?? null,
  };
}
