// Names of what runs and of what waits, in words. Pure.
import type { OutboxQueueName, WorkflowState } from '../../../api/gen/staff/graphql.ts';
import type { Tone } from '../../../ui/status.tsx';

/** By name in lower case. */
const kinds: Readonly<Record<string, string>> = {
  topup: 'Top-ups',
  autotopup: 'Automatic top-ups',
  mandate: 'Mandates',
  dispute: 'Disputes',
  refund: 'Refunds',
  invoiceissue: 'Registrations of documents',
  planperiod: 'Fees of plans',
  evalrun: 'Runs of evaluations',
  erasure: 'Erasures of end users',
  orgclose: 'Closings of organizations',
  orgerasure: 'Erasures of organizations',
};

/** A kind of workflow as people say it; one that a newer release made keeps its own name. */
export function kindName(type: string): string {
  return kinds[type.toLowerCase()] ?? type;
}

export const queueNames: Readonly<Record<OutboxQueueName, string>> = {
  EVENTS: 'Events to relay',
  DELIVERIES: 'Deliveries to webhooks',
  MAILS: 'Mails',
  RAILS: 'Work at payment rails',
  STARTS: 'Workflows to start',
  SIGNALS: 'Signals to workflows',
};

export const stateTones: Readonly<Record<WorkflowState, Tone>> = {
  FAILING: 'bad',
  WAITING: 'warn',
  OPEN: 'ok',
};

/** A sentence on what a worker saw, and how far it can be trusted. */
export function lookText(look: { lookedAt: string | null; complete: boolean }): string {
  if (look.lookedAt === null) return 'No worker has asked Temporal yet.';
  return look.complete ? 'As a worker saw them' : 'More are open than a worker looks at; as it saw them';
}
