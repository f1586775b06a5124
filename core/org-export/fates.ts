// Where the rows of each table that knows an organization are in an export, or why they are in none. Every table with a column `org_id`
// is named here, which a test holds against the database.

/** Files by table: a row of the table is a line of one of them, or part of one. */
export const exported: Readonly<Record<string, readonly string[]>> = {
  org: ['organization'],
  project: ['projects'],
  org_member: ['members'],
  invitation: ['invitations'],
  api_key: ['keys'],
  byok_key: ['provider_keys'],
  app: ['apps'],
  webhook: ['webhooks'],
  webhook_delivery: ['webhook_deliveries'],
  sso_connection: ['single_sign_on'],
  sso_alias: ['single_sign_on'],
  sso_domain: ['single_sign_on'],
  sso_domain_proof: ['single_sign_on'],
  scim_token: ['single_sign_on'],
  scim_user: ['directory_users'],
  scim_group: ['directory_groups'],
  scim_group_member: ['directory_groups'],
  scim_log: ['directory_log'],
  limit_request: ['limit_requests'],
  ticket: ['tickets'],
  ticket_message: ['tickets'],
  legal_acceptance: ['legal_acceptances'],
  data_subject_request: ['privacy_requests'],
  audit_entry: ['audit_log'],
  book: ['balance', 'ledger', 'lots'],
  plan_charge: ['plan_charges'],
  topup: ['topups'],
  dispute: ['topups'],
  refund: ['refunds'],
  mandate: ['mandates'],
  auto_topup: ['auto_topup'],
  gift: ['gifts'],
  redemption: ['redemptions'],
  invoice: ['invoices', 'invoices/*.pdf'],
  policy: ['policies'],
  policy_activation: ['policies', 'policy_versions'],
  policy_version: ['policy_versions'],
  canary: ['policy_trials'],
  canary_window: ['policy_trials'],
  policy_canary_halt: ['policy_trials'],
  experiment_hour: ['policy_trials'],
  shadow_hour: ['policy_trials'],
  eval_suite: ['eval_suites'],
  eval_case: ['eval_cases'],
  eval_run: ['eval_runs'],
  eval_result: ['eval_results'],
  usage_hour: ['usage'],
  usage_view: ['usage_views'],
  request_row: ['requests'],
  request_payload: ['requests'],
  org_export: ['exports'],
  reseller_tier: ['reseller_tiers'],
  reseller_terms: ['reseller_tiers'],
  reseller_allocation: ['reseller_allocations'],
  reseller_reclaim: ['reseller_allocations'],
};

/** What nobody is given: a secret, or what is of use to nobody without one. */
export const secret: Readonly<Record<string, string>> = {
  sso_signing_key: 'keys that sign what is sent to your identity provider',
  idempotency: 'answers to repeated requests, sealed, for a day; those of keys have the secret',
  mail: 'mails are in the mailboxes of people; links in them let in whoever has them',
  session: 'sign-ins under way; who signed in is in the audit log',
};

/** What is gone by itself soon, or says on the way what stands elsewhere. */
export const passing: Readonly<Record<string, string>> = {
  outbox: 'events on their way to endpoints; then in webhook_deliveries',
  'ledger.outbox': 'facts on their way to `outbox`',
  byok_change: 'news for gateways, one hour',
  grant_change: 'news for gateways, one hour',
  policy_change: 'news for gateways, one hour',
  sso_assertion: 'sign-ins under way',
  sso_flow: 'sign-ins under way',
  erasure_tombstone: 'hashes of end users who were erased, a day',
  topup_quote: 'prices that were asked for, an hour',
  staff_look: 'looks of staff, half an hour; each is in the audit log',
  experiment_sample: 'on its way to sums',
  canary_sample: 'on its way to sums',
  shadow_sample: 'on its way to sums',
};

/** What is made of rows that are exported, or only keeps something from happening twice. */
export const derived: Readonly<Record<string, string>> = {
  app_day: 'sums by day that are shown with apps; the calls are in requests',
  webhook_event: 'the content of deliveries, which have it',
  audit_chain: 'the end of each day of the audit log, made of its entries',
  eval_call: 'money that was kept for calls of runs; what they cost is in eval_runs and eval_results',
  people_key_no: 'numbers under which the ledger counts',
  invite_code_use: 'which invitation of ours the organization was made with',
  sandbox_refill: 'how often play credit was filled today; each is in the ledger',
  checkin: 'that a check-in was made today; each is in the ledger',
  auto_topup_attempt: 'tries of automatic payments; each is a line of topups',
  credit_notice: 'that a mail was sent',
  plan_fee_notice: 'that a mail was sent',
  key_notice: 'that a mail was sent',
  experiment_bucket: 'sums by which an experiment is decided; what they show is in policy_trials',
  policy_shadow_day: 'how many copies were sent today',
  policy_shadow_expense: 'what copies that we pay have cost us',
  policy_shadow_allowance: 'what copies may cost us',
  org_closing: 'when the organization was closed; in organization',
  org_erasure: 'when it is erased; in organization',
};

/** What is not the organization's. */
export const ours: Readonly<Record<string, string>> = {
  staff_item: 'a list of work for our staff',
  approval: 'who of our staff approved what; what was done is in audit_log and ledger',
};
