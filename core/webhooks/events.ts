// The catalog of events that an endpoint can subscribe to: those that this release sends, and no others.
// docs/webhooks.md describes the `data` of each; test/webhooks/causes.test.ts makes each happen.

export const eventTypes = {
  'budget.threshold': 'A key or project reached an alert threshold of its budget.',
  'budget.exhausted': 'A budget of a key or project is used up.',
  'topup.completed': 'A top-up was paid and booked.',
  'topup.failed': 'A top-up failed.',
  'mandate.updated': 'A mandate became active, or is so no more.',
  'auto_topup.blocked': 'The balance is below the threshold, and nothing is bought.',
  'auto_topup.disabled': 'Automatic top-up was switched off by the service.',
  'refund.completed': 'A refund went back, and its credit note was issued.',
  'refund.failed': 'A refund failed; its credits are back.',
  'dispute.opened': 'The payer of a top-up asked the bank for the money back; its credits are held.',
  'dispute.closed': 'A dispute was won or lost.',
  'invoice.issued': 'An invoice, receipt or credit note was issued.',
  'test.ping': 'Sent by POST /v1/webhooks/{id}/test.',
  'credits.low': 'The balance fell below the mark of the organization.',
  'credits.exhausted': 'A call was refused because the balance did not cover it; once a day.',
  'credits.expiring': 'Credit ends within fourteen days, and again within three.',
  'key.created': 'An API key was created.',
  'key.rotated': 'An API key was rotated.',
  'key.revoked': 'An API key was revoked.',
  'key.expiring': 'An API key ends within seven days, and again within one.',
  'limit.request.updated': 'A request for higher limits was granted or refused.',
  'ticket.updated': 'Staff answered a ticket, or its status changed.',
  'policy.activated': 'A routing policy was activated.',
  'policy.canary': 'A canary of a routing policy was found good, or worse than the endpoints beside it.',
  'eval.run.completed': 'A run of an evaluation has ended, with its score and what it cost.',
  'member.added': 'A member joined the organization.',
  'member.deprovisioned': 'The directory of the organization suspended or removed a member.',
  'member.removed': 'A member left the organization, or was removed.',
  'plan.changed': 'The plan of the organization changed.',
  'model.price_changed': 'A price of a model that the organization called within 30 days changed.',
  'model.deprecated':
    'A model that the organization called within 30 days is deprecated, or is not offered any more.',
  'legal.update': 'A legal document or the list of sub-processors changes.',
  'privacy.request.completed': 'The erasure of an end user was completed.',
  'org.closed': 'The organization was closed.',
} as const satisfies Record<string, string>;

/** Stands for every event, those of later releases too. */
export const ALL_EVENTS = '*';

/** The first of `names` that is neither an event type nor `*`; null when all are. */
export function findUnknownEvent(names: readonly string[]): string | null {
  return names.find((name) => name !== ALL_EVENTS && !Object.hasOwn(eventTypes, name)) ?? null;
}
