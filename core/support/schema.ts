// Wire shapes of requests for higher limits.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { type Limits, type LimitTicket, ticketStatuses } from './types.ts';

const Limit = nullable(Type.Integer());
/** Limits in an answer. */
export const LimitsView = named('LimitValues', Type.Object({ rpm: Limit, tpm: Limit, concurrency: Limit }));
const Asked = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
/** Limits that are asked for or granted. */
export const limitMembers = {
  rpm: Type.Optional(Asked),
  tpm: Type.Optional(Asked),
  concurrency: Type.Optional(Asked),
};
/** What people write about a request. */
export const Words = Type.String({ maxLength: 500, format: 'lines' });

export const TicketView = named(
  'LimitTicket',
  Type.Object({
    id: idOf('ticket'),
    org_id: idOf('org'),
    kind: Type.Literal('limit_increase'),
    status: oneOf(ticketStatuses, 'TicketStatus'),
    subject: Type.String(),
    body: Type.Object({
      key_id: idOf('key'),
      requested: LimitsView,
      current: Type.Object(LimitsView.properties, { description: 'what held for the key' }),
      plan_max: Type.Object(LimitsView.properties, {
        description: 'the most that was granted without a person; null: no bound',
      }),
      reason: Type.String(),
    }),
    created_by: nullable(Type.String({ description: 'the person; null for a key that is bound to nobody' })),
    resolution: Type.String({
      description: 'what was answered; empty until then, or where nobody was asked',
    }),
    created_at: Time,
    updated_at: Time,
  }),
);
type TicketView = Static<typeof TicketView>;

export const ticketExample = {
  id: 'tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  kind: 'limit_increase',
  status: 'approved',
  subject: 'checkout service: 240 requests a minute',
  body: {
    key_id: 'key_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    requested: { rpm: 240, tpm: null, concurrency: null },
    current: { rpm: 120, tpm: 1_000_000, concurrency: 20 },
    plan_max: { rpm: 300, tpm: 1_000_000, concurrency: 20 },
    reason: 'the sale begins on Friday',
  },
  created_by: null,
  resolution: '',
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
} satisfies TicketView;

/** A request on the wire. */
export function viewTicket(ticket: LimitTicket): TicketView {
  const { id, org_id, kind, status, subject, body, created_by, resolution, created_at, updated_at } = ticket;
  return {
    ...{ id, org_id, kind, status, subject, created_by, resolution },
    body: { ...body, requested: { ...body.requested }, current: { ...body.current } },
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

/** The limits of a request body; what is left out is not asked for. */
export function limitsIn(given: { rpm?: number; tpm?: number; concurrency?: number }): Limits {
  return { rpm: given.rpm ?? null, tpm: given.tpm ?? null, concurrency: given.concurrency ?? null };
}
