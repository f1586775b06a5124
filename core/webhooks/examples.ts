// An example of the `data` of each event, as GET /v1/webhooks/events shows it. test/webhooks/causes.test.ts compares the members
// with those of the event that arrives.
import type { eventTypes } from './events.ts';

type Data = Readonly<Record<string, unknown>>;

const id = (prefix: string) => `${prefix}_01KACZ3V8S6T5R4Q3P2N1M0K9J`;
const at = '2026-11-21T10:00:00.000Z';
const window = { window_start: '2026-11-21T00:00:00.000Z', window_end: '2026-11-22T00:00:00.000Z' };
const subject = { scope: 'key', key_id: id('key'), project_id: id('prj') };
const budget = { ...subject, budget_micro: 50_000_000, spend_micro: 40_000_000, ...window, hard: true };
const mandate = { mandate_id: id('mnd'), status: 'active', reason: '', consecutive_failures: 0 };
const refund = {
  ...{ refund_id: id('rfd'), topup_id: id('tup'), amount_minor: 1_000, tax_minor: 0, total_minor: 1_000 },
  ...{ currency: 'USD', credits_micro: 9_500_000, credit_note_id: id('cn'), failure_code: '' },
};
const dispute = { topup_id: id('tup'), amount_minor: 2_500, currency: 'USD', status: 'under_review' };
const balance = { available_micro_usd: 4_200_000, threshold_micro: 5_000_000 };
const actor = { type: 'user', id: id('usr'), display: 'ann@acme.example' };
const key = {
  ...{ key_id: id('key'), name: 'checkout service', project_id: id('prj'), hint: 'svc-live-...DVvb' },
  ...{ expires_at: null, actor },
};
const ticket = { ticket_id: id('tkt'), kind: 'other', status: 'open' };
const policy = { name: 'cheap', version: 3, scope: null };
const member = { user_id: id('usr'), email: 'ann@acme.example', role: 'developer', source: 'invite' };

export const examples: Readonly<Record<keyof typeof eventTypes, Data>> = {
  'budget.threshold': { ...budget, threshold_percent: 80 },
  'budget.exhausted': { ...budget, spend_micro: 50_000_000, resumes_at: window.window_end },
  'topup.completed': {
    ...{ topup_id: id('tup'), credits_micro: 24_000_000, currency: 'USD', amount_minor: 2_500, tax_minor: 0 },
    ...{ total_minor: 2_500, method: 'card', source: 'checkout' },
    ...{ invoice_id: id('inv'), invoice_number: 'INV/26-27/00042' },
  },
  'topup.failed': {
    ...{ topup_id: id('tup'), currency: 'USD', total_minor: 2_500, source: 'auto' },
    ...{ failure_code: 'card_declined', failure_message: 'The card was declined.', consecutive_failures: 1 },
  },
  'mandate.updated': mandate,
  'auto_topup.blocked': { ...mandate, status: 'paused', reason: 'mandate_paused' },
  'auto_topup.disabled': { ...mandate, reason: 'three_failures', consecutive_failures: 3 },
  'refund.completed': refund,
  'refund.failed': { ...refund, credit_note_id: null, failure_code: 'declined' },
  'dispute.opened': dispute,
  'dispute.closed': { ...dispute, status: 'won' },
  'invoice.issued': {
    ...{ invoice_id: id('inv'), number: 'INV/26-27/00042', kind: 'tax_invoice', currency: 'INR' },
    ...{ total_minor: 118_000, topup_id: id('tup'), refund_id: null, issued_at: at },
  },
  'test.ping': { webhook_id: id('wh'), message: 'ping' },
  'credits.low': balance,
  'credits.exhausted': { ...balance, available_micro_usd: 1_200 },
  'credits.expiring': { amount_micro: 2_000_000, expires_at: '2026-12-05T00:00:00.000Z' },
  'key.created': key,
  'key.rotated': { ...key, rotated_from: id('key') },
  'key.revoked': key,
  'key.expiring': { ...key, expires_at: '2026-11-28T10:00:00.000Z' },
  'eval.run.completed': {
    ...{
      run_id: id('er'),
      suite_id: id('es'),
      status: 'completed',
      stop_reason: '',
      score: 0.95,
      cost_micro: 41_200,
    },
    counts: { total: 20, done: 20, passed: 19, failed: 1, errors: 0, skipped: 0 },
  },
  'privacy.request.completed': { request_id: id('dsr'), kind: 'erasure', records: 42 },
  'limit.request.updated': { ...ticket, kind: 'limit_increase', status: 'approved' },
  'ticket.updated': ticket,
  'policy.activated': { ...policy, state: 'active', reason: 'activated' },
  'policy.canary': { ...policy, endpoint_id: id('ep'), state: 'green', reason: '' },
  'member.added': member,
  'member.deprovisioned': { ...member, source: 'scim' },
  'member.removed': member,
  'plan.changed': { plan_id: 'scale', previous_plan_id: 'team' },
  'model.price_changed': {
    ...{ model: 'openai/gpt-4o', endpoint_id: id('ep'), effective_at: at },
    summary: 'USD per million units: input 2.5 → 3, output 10 → 12.',
  },
  'model.deprecated': {
    ...{ model: 'openai/gpt-4o', endpoint_id: null, effective_at: '2026-11-21T00:00:00.000Z' },
    summary: 'The model is deprecated. From 2027-02-21 on it is not called.',
  },
  'legal.update': {
    ...{ kind: 'tos', version: '2026-12-21', effective_at: '2027-01-20T00:00:00.000Z' },
    requires_acceptance: true,
  },
  'org.closed': { closed_at: at },
};
