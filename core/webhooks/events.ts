// The catalog of events: what an endpoint can subscribe to. `data` of each is described in docs/webhooks.md.

export const eventTypes = {
  'budget.threshold': 'A key or project reached an alert threshold of its budget.',
  'budget.exhausted': 'A budget of a key or project is used up.',
  'topup.completed': 'A top-up was paid and booked.',
  'topup.failed': 'A top-up failed.',
  'invoice.issued': 'An invoice, receipt or credit note was issued.',
  'test.ping': 'Sent by POST /v1/webhooks/{id}/test.',
  'refund.completed': 'A refund was paid out.',
  'refund.failed': 'A refund failed.',
  'credits.low': 'The balance fell below the mark of the organization.',
  'credits.exhausted': 'A call was refused because the balance did not cover it; once a day.',
  'credits.expiring': 'Credits will expire soon.',
  'auto_topup.disabled': 'Automatic top-up was switched off.',
  'mandate.updated': 'A payment mandate changed its state.',
  'dispute.opened': 'A payer disputed a payment.',
  'dispute.closed': 'A dispute ended.',
  'key.created': 'An API key was created.',
  'key.rotated': 'An API key was rotated.',
  'key.revoked': 'An API key was revoked.',
  'key.expiring': 'An API key will expire soon.',
  'policy.activated': 'A routing policy was activated.',
  'policy.canary': 'The canary of a routing policy changed its state.',
  'eval.run.completed': 'An evaluation run ended.',
  'limit.request.updated': 'A request for higher limits changed its state.',
  'ticket.updated': 'A ticket changed its state.',
  'member.added': 'A member joined the organization.',
  'member.removed': 'A member left the organization.',
  'member.deprovisioned': 'A member was removed by the directory.',
  'privacy.request.completed': 'A privacy request was completed.',
  'model.deprecated': 'A model in use was deprecated.',
  'model.price_changed': 'The price of a model in use changes.',
  'plan.changed': 'The plan of the organization changed.',
  'org.closed': 'The organization was closed.',
  'legal.update': 'A legal document or the list of sub-processors changed.',
} as const satisfies Record<string, string>;

/** Stands for every event, those of later releases too. */
export const ALL_EVENTS = '*';

/** The first of `names` that is neither an event type nor `*`; null when all are. */
export function findUnknownEvent(names: readonly string[]): string | null {
  return names.find((name) => name !== ALL_EVENTS && !Object.hasOwn(eventTypes, name)) ?? null;
}
