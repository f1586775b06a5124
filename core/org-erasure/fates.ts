// What becomes of each table that knows an organization, when it is erased. Every table with a column `org_id` is named here, which a
// test holds against the database; what is kept says by which law and for how long.

/** Steps in their order: what refers to a table goes before it. */
export const steps = [
  // Nobody comes in any more, and nothing goes out.
  ...['session', 'sso_assertion', 'sso_flow', 'sso_alias', 'sso_connection', 'sso_signing_key'],
  ...[
    'sso_domain_proof',
    'sso_domain',
    'scim_log',
    'scim_token',
    'scim_group_member',
    'scim_group',
    'scim_user',
  ],
  ...['webhook_delivery', 'webhook_event', 'webhook', 'outbox', 'byok_key'],
  // What calls have left.
  ...[
    'request_payload',
    'request_row',
    'usage_hour',
    'usage_value',
    'usage_unsummed',
    'usage_span',
    'usage_spanned',
    'usage_unspanned',
    'usage_view',
    'app',
    'app_day',
    'app_window',
    'eval_result',
    'eval_call',
    'eval_run',
    'eval_case',
  ],
  ...['eval_suite', 'data_subject_request', 'erasure_tombstone', 'idempotency'],
  // How calls were routed.
  ...[
    'experiment_sample',
    'experiment_hour',
    'experiment_bucket',
    'canary_window',
    'canary_sample',
    'canary',
  ],
  ...[
    'shadow_sample',
    'shadow_hour',
    'policy_shadow_day',
    'policy_shadow_expense',
    'policy_shadow_allowance',
  ],
  ...['policy_canary_halt', 'policy_activation', 'policy_version', 'policy'],
  // Money that is not the ledger's: settings, offers and notices.
  ...['auto_topup_attempt', 'auto_topup', 'topup_quote', 'checkin', 'credit_notice', 'plan_fee_notice'],
  ...['sandbox_refill', 'gift'],
  ...[
    'storefront_certificate',
    'storefront_domain_proof',
    'storefront_domain',
    'storefront_domain_past',
    'storefront_logo',
    'storefront',
  ],
  ...['reseller_terms', 'reseller_announcement', 'mail_sender'],
  // What was written to us and about the organization.
  ...['limit_request', 'ticket_message', 'ticket', 'staff_item', 'staff_look'],
  ...['key_notice', 'api_key', 'people_key_no', 'project'],
  ...[
    'invitation',
    'invite_code_use',
    'org_member',
    'mail',
    'audit_chain',
    'audit_entry',
    'org_export',
    'org',
  ],
] as const;
export type Step = (typeof steps)[number];

/** Steps that change rows and let them stay; the others delete. */
export const changed: Readonly<Partial<Record<Step, string>>> = {
  org: 'names, addresses, settings and the key of hashes are overwritten; number, country and currency stay',
  gift: 'its note is emptied; what was given to whom is in the ledger',
  usage_hour: 'sums by day stay under an id that nobody can lead back; keys, projects and apps are taken out',
};

interface Kept {
  /** Which law, as counsel has to confirm. */
  readonly reason: string;
  readonly term: string;
}

const BOOKS = '8 years after the financial year';
const accounts: Kept = {
  reason: 'books of account and tax records (CGST Act 2017 s. 36, Companies Act 2013 s. 128(5))',
  term: BOOKS,
};
const payments: Kept = {
  reason: 'records of payments, refunds and disputes (books of account, evidence)',
  term: BOOKS,
};

/**
 * Tables that the law keeps. CGST Act 2017 s. 36: 72 months from the due date of the year's annual return; Companies Act
 * 2013 s. 128(5): eight financial years. The longer one rules. DPDP Act 2023 s. 8(7), 12(3): what another law asks for stays.
 */
export const kept: Readonly<Record<string, Kept>> = {
  book: accounts,
  invoice: accounts,
  plan_charge: accounts,
  reseller_tier: accounts,
  reseller_allocation: accounts,
  reseller_reclaim: accounts,
  reseller_accrual: accounts,
  reseller_month: accounts,
  reseller_accrual_place: accounts,
  reseller_accrual_lot: accounts,
  reseller_invoicing: accounts,
  redemption: accounts,
  topup: payments,
  refund: payments,
  dispute: payments,
  mandate: payments,
  approval: { reason: 'who approved what moved money: control over the books of account', term: BOOKS },
  org_closing: payments,
  legal_acceptance: { reason: 'evidence of the contract (limitation of claims)', term: BOOKS },
  org_erasure: { reason: 'proof that the erasure was made: ids, times and numbers alone', term: BOOKS },
};

/** Rows that are gone by themselves within an hour: news between programs, which hold ids alone. */
export const passing: Readonly<Record<string, string>> = {
  'ledger.outbox': 'facts on their way to `outbox`, seconds',
  byok_change: 'news for gateways, one hour',
  grant_change: 'news for gateways, one hour',
  policy_change: 'news for gateways, one hour',
};
