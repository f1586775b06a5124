// Words for kinds and states of tickets.
import type { TicketRowFragment } from '../../api/gen/tools/graphql.ts';
import type { Tone } from '../../ui/status.tsx';

export const kindWords: Record<TicketRowFragment['kind'], string> = {
  OTHER: 'question',
  INVOICE_CORRECTION: 'correction of an invoice',
  REFUND: 'refund',
  CLOSE_ORG: 'closing the organisation',
  LIMIT_INCREASE: 'higher limits',
};

/** Kinds that people choose from when they write. */
export const writtenKinds = ['OTHER', 'INVOICE_CORRECTION', 'REFUND', 'CLOSE_ORG'] as const;

/** How a ticket stands, as who wrote it reads it. */
export function standing(row: Pick<TicketRowFragment, 'status' | 'waitingFor'>): {
  tone: Tone;
  word: string;
} {
  if (row.status === 'OPEN') {
    return row.waitingFor === 'CUSTOMER'
      ? { tone: 'warn', word: 'answered, waits for you' }
      : { tone: 'ok', word: 'waits for support' };
  }
  return { tone: 'mute', word: row.status.toLowerCase() };
}
