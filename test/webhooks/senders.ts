// Each event with the source that sends it and a test of its cause. senders.test.ts walks from the table of docs/webhooks.md
// over these, so that no event is described that nothing sends.

/** Makes every event happen once, as its cause does, and looks at what arrives. */
const CAUSES = ['test/webhooks/causes.test.ts', '%s comes with what the documentation lists'] as const;
const LEDGER = 'core/db/schema.sql';
const KEYS = 'core/keys/events.ts';
const LEDGER_TEST = 'core/ledger/events.test.ts';
const MANDATES = 'test/mandates/mandates.test.ts';
const REFUNDS = 'test/refunds/refunds.test.ts';
const CALLBACK = 'test/topups/callback.test.ts';
const NEWS_TEST = 'test/webhooks/model-news.test.ts';

export interface Sender {
  /** The file that writes the fact; of `test.ping` the operation that makes it. */
  readonly source: string;
  readonly test: readonly [file: string, name: string];
}

export const senders: Readonly<Record<string, Sender>> = {
  'budget.threshold': {
    source: LEDGER,
    test: [LEDGER_TEST, 'thresholds fire once each, by the settle that reaches them'],
  },
  'budget.exhausted': {
    source: LEDGER,
    test: [
      LEDGER_TEST,
      'budget.exhausted comes once per window, with the first refusal or the spend, whichever is first',
    ],
  },
  'credits.low': {
    source: LEDGER,
    test: [
      LEDGER_TEST,
      'credits.low fires when the balance falls below the mark, and again after it was above',
    ],
  },
  'credits.exhausted': {
    source: LEDGER,
    test: [LEDGER_TEST, 'credits.exhausted fires with the first refusal of a UTC day'],
  },
  'credits.expiring': {
    source: 'core/credits/expiry/notices.ts',
    test: [
      'test/credits/expiry.test.ts',
      'what ends on a day is announced fourteen and three days before, once each; what was paid by mail too',
    ],
  },
  'topup.completed': {
    source: 'core/topups/booking.ts',
    test: [
      CALLBACK,
      'a captured payment becomes credit, lot, document and events in one transaction; its repeat is a replay',
    ],
  },
  'topup.failed': {
    source: 'core/topups/booking.ts',
    test: [
      CALLBACK,
      'an asynchronous payment that fails fails the top-up and says so once; money that comes all the same is booked',
    ],
  },
  'invoice.issued': {
    source: 'core/invoices/issue.ts',
    test: [
      'test/invoices/credit-notes.test.ts',
      'a credit note says what goes back of which document, under the same tax terms, and is announced',
    ],
  },
  'mandate.updated': {
    source: 'core/mandates/change.ts',
    test: [
      MANDATES,
      'a card is registered at the rail, and the former one is given up when the new one is there',
    ],
  },
  'auto_topup.blocked': {
    source: 'core/mandates/change.ts',
    test: [
      MANDATES,
      'a blocked automatic top-up leaves one event for each reason, and the reason in its view',
    ],
  },
  'auto_topup.disabled': {
    source: 'core/mandates/change.ts',
    test: [
      MANDATES,
      'three failures in a row pause the mandate and switch it off; a success in between begins anew',
    ],
  },
  'refund.completed': {
    source: 'core/refunds/settle.ts',
    test: [
      REFUNDS,
      'a refund takes the credits first, then asks the rail, and issues a credit note in its own series',
    ],
  },
  'refund.failed': {
    source: 'core/refunds/settle.ts',
    test: [
      REFUNDS,
      'a refusal of the rail gives the credits back to where they came from, so that they can be refunded again',
    ],
  },
  'dispute.opened': {
    source: 'core/refunds/disputes/book.ts',
    test: [
      'test/refunds/disputes.test.ts',
      'its credits are held, the payment is marked, and no money leaves the organization meanwhile',
    ],
  },
  'dispute.closed': {
    source: 'core/refunds/disputes/book.ts',
    test: ['test/refunds/disputes.test.ts', 'of fifty deliveries at once each step is booked once'],
  },
  'test.ping': {
    source: 'core/webhooks/delivery-operations.ts',
    test: [
      'test/webhooks/operations.test.ts',
      'test.ping is sent at once, once, and its answer is the delivery, whatever came of it',
    ],
  },
  'key.created': { source: KEYS, test: CAUSES },
  'key.rotated': { source: KEYS, test: CAUSES },
  'key.revoked': { source: KEYS, test: CAUSES },
  'key.expiring': {
    source: KEYS,
    test: [
      'test/organizations/key-expiry.test.ts',
      'a key is announced seven days and one day before its end, once each, to its maker, owners and admins',
    ],
  },
  'limit.request.updated': {
    source: 'core/support/limit-request.ts',
    test: [
      'test/budgets/limit-requests.test.ts',
      'what is within the plan is granted in the answer, and holds where the key is known',
    ],
  },
  'ticket.updated': {
    source: 'core/support/tickets.ts',
    test: [
      'test/organizations/tickets.test.ts',
      'a ticket goes back and forth until staff settle it, and another word opens it again',
    ],
  },
  'policy.activated': { source: 'core/policies/activate.ts', test: CAUSES },
  'policy.canary': { source: 'core/rollouts/judge.ts', test: CAUSES },
  'eval.run.completed': { source: 'core/evals/runs/finish.ts', test: CAUSES },
  'member.added': {
    source: 'core/identity/members/accept.ts',
    test: [
      'test/organizations/invitations.test.ts',
      'accepted twice at once it is accepted once, and subscribers hear of one member',
    ],
  },
  'member.deprovisioned': {
    source: 'core/identity/members/depart.ts',
    test: [
      'gateway/scim/scim.test.ts',
      'whoever is deactivated is out at once, keeps the role, and is let back in with it',
    ],
  },
  'member.removed': { source: 'core/identity/members/depart.ts', test: CAUSES },
  'plan.changed': {
    source: 'core/orgs/terms.ts',
    test: [
      'test/plans/plans.test.ts',
      'without enough credit there are three days with a mail on each, then payg, the event and a last mail',
    ],
  },
  'model.price_changed': {
    source: 'core/catalog/news/note.ts',
    test: [
      NEWS_TEST,
      'processes that load a change at once note it once, and one that dies in the middle notes nothing',
    ],
  },
  'model.deprecated': {
    source: 'core/catalog/news/note.ts',
    test: [NEWS_TEST, 'a model is told of on the day on which it is deprecated, and when its last day moves'],
  },
  'legal.update': {
    source: 'core/legal/tell.ts',
    test: [
      'test/legal/publish.test.ts',
      'every organization is told once by event and mail, also when telling is interrupted',
    ],
  },
  'privacy.request.completed': {
    source: 'core/privacy/subjects/erase.ts',
    test: [
      'test/workflows/erasure.test.ts',
      'killed in the middle of a batch and before the receipt: every call is counted once',
    ],
  },
  'org.closed': {
    source: 'core/orgs/terms.ts',
    test: [
      'test/organizations/closing.test.ts',
      'an endpoint hears of the closing and of nothing that comes after it',
    ],
  },
};
