-- Rows of a database of this release, written by `make upgrade-dump`; later releases are tested to take it on.
-- migrations: 25
set session_replication_role = replica;
set timezone = 'UTC';
delete from catalog.endpoint;
delete from catalog.model;
delete from catalog.price_history;
delete from catalog.price_version;
delete from ledger.block;
insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash) overriding system value values
  ('1', '1', '1', '1', '0', '2026-11-23 03:36:55.055+00', E'\\x3b4db834ea755ba1fe592744ce2cdba84285726dc8bfc14c814acb94202fadd3'),
  ('1', '2', '2', '1', '0', '2026-11-23 03:36:55.107+00', E'\\xd136561e3490d2346aa503be24b894c9d985666f4661c62a224f8eb3a0d3a49c'),
  ('1', '3', '3', '1', '0', '2026-11-23 03:36:55.128+00', E'\\x807255026bbad6e940d1518853c73865cc96eb2103ecc653a4bc1617495a9171'),
  ('1', '4', '4', '1', '0', '2026-11-23 03:36:55.129+00', E'\\x35344a34027c157f88fdff9686405fb1e35e1016dcfa5baf48e9af7778692bef'),
  ('1', '5', '5', '2', '3', '2026-11-23 03:36:55.221+00', E'\\x127b31d808bf3c8b9c32de89da02eab639346652e42dc4930194576661ff3598'),
  ('1', '6', '7', '1', '1', '2026-11-23 03:36:55.239+00', E'\\x8a491eb7f876d7c0f962e1ef34105089575e5a74a434389cb075acedb2d10eec'),
  ('1', '7', '8', '1', '1', '2026-11-23 03:36:55.245+00', E'\\xeec3b7e29513ba1d2153755b6ee10586b59987d982bad55807cd5ad5678a249e'),
  ('1', '8', '9', '1', '1', '2026-11-23 03:36:55.248+00', E'\\xbe97bdceca44e13bbecd395cc3c876db4f97b10be510131d298652e2e07a2c5a'),
  ('2', '1', '1', '1', '0', '2026-11-23 03:36:54.933+00', E'\\x8ab6bc0403a47a035059d6b72729482a75cc48fd0f0e25a063745a160a8c10b6'),
  ('2', '2', '2', '1', '1', '2026-11-23 03:36:55.293+00', E'\\x2817b513c15c752720909dbcc69bbe22b472c6ef624e4386907ca6dbf0e386e4'),
  ('2', '3', '3', '1', '0', '2026-11-23 03:36:55.296+00', E'\\xaadb559f19915229f6fe9d101bd13551a1910f59ec5e6eb12bf51109bd6478cd'),
  ('2', '4', '4', '1', '0', '2026-11-23 03:36:55.298+00', E'\\xe24d5f4e0e95cae50c92307c6c7971e33c013ed0fd625ab4e1b647dc24604121');
delete from ledger.book;
insert into ledger.book (book_id, org_id, environment, available, held, granted, seq, block_no, head, last_at, current_lot_no, low_mark, exhausted_on) overriding system value values
  ('1', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', '1', '14676', '25', '9701', '9', '8', E'\\xbe97bdceca44e13bbecd395cc3c876db4f97b10be510131d298652e2e07a2c5a', '2026-11-23 03:36:55.248+00', '2', '5000000', NULL),
  ('2', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', '2', '0', '0', '0', '4', '4', E'\\xe24d5f4e0e95cae50c92307c6c7971e33c013ed0fd625ab4e1b647dc24604121', '2026-11-23 03:36:55.298+00', NULL, NULL, NULL);
delete from ledger.budget;
insert into ledger.budget (kind, subject, book_id, cap, hard, alerts) overriding system value values
  ('1', '1', '1', '400', 'false', '{50,80,100}'),
  ('1', '2', '2', NULL, 'true', '{50,80,100}'),
  ('2', '1', '1', '50000', 'true', '{50,80,100}'),
  ('2', '2', '2', NULL, 'true', '{50,80,100}'),
  ('2', '3', '1', NULL, 'true', '{50,80,100}'),
  ('2', '4', '2', NULL, 'true', '{50,80,100}');
delete from ledger.burn;
insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no) overriding system value values
  ('1', '0', '100000000', '2', '2'),
  ('2', '0', '200', '1', '5'),
  ('2', '200', '250', '1', '6'),
  ('2', '250', '290', '1', '7'),
  ('2', '290', '299', '1', '8'),
  ('4', '0', '5000', '1', '4'),
  ('5', '0', '500', '2', '4');
delete from ledger.entry;
insert into ledger.entry (book_id, seq, amount, balance_after, created_at, request_id, kind, ref_type, ref_id) overriding system value values
  ('1', '1', '10000', '10000', '2026-11-23 03:36:55.055+00', NULL, '5', 'staff', 'test 5773 1'),
  ('1', '2', '5000', '15000', '2026-11-23 03:36:55.107+00', NULL, '2', 'staff', 'paid'),
  ('1', '3', '5000', '20000', '2026-11-23 03:36:55.128+00', NULL, '7', 'staff', 'ended'),
  ('1', '4', '-5000', '15000', '2026-11-23 03:36:55.129+00', NULL, '16', 'lot', 'lot_01M837MT2R10Y3NGYXPBWNC3F1'),
  ('1', '5', '-70', '14930', '2026-11-23 03:36:55.221+00', '01a2067a-685f-b2c3-8c52-758e84b434f6', '1', NULL, NULL),
  ('1', '6', '-130', '14800', '2026-11-23 03:36:55.221+00', '01a2067a-685f-b2c3-8c52-758e84b434f7', '1', NULL, NULL),
  ('1', '7', '-50', '14750', '2026-11-23 03:36:55.239+00', '01a2067a-68c6-62cb-7e92-53294554f92a', '1', NULL, NULL),
  ('1', '8', '-40', '14710', '2026-11-23 03:36:55.245+00', '01a2067a-68ca-868c-aa42-31dd012a596f', '1', NULL, NULL),
  ('1', '9', '-9', '14701', '2026-11-23 03:36:55.248+00', '01a2067a-68d0-2e2d-8db6-85bfbe73f5dc', '1', NULL, NULL),
  ('2', '1', '100000000', '100000000', '2026-11-23 03:36:54.933+00', NULL, '5', 'staff', 'sandbox org_01M837MSW9T46RSZ5B6Y2BBZRD'),
  ('2', '2', '-100000000', '0', '2026-11-23 03:36:55.293+00', '01a2067a-68fb-ffac-bee8-2f6efae7feeb', '1', NULL, NULL),
  ('2', '3', '500', '500', '2026-11-23 03:36:55.296+00', NULL, '2', 'staff', 'disputed'),
  ('2', '4', '-500', '0', '2026-11-23 03:36:55.298+00', NULL, '19', 'staff', 'dispute');
delete from ledger.entry_kind;
insert into ledger.entry_kind (kind, name) overriding system value values
  ('1', 'settle'),
  ('10', 'checkin'),
  ('11', 'allocation_out'),
  ('12', 'allocation_in'),
  ('13', 'allocation_reclaim'),
  ('14', 'plan_fee'),
  ('15', 'plan_credit'),
  ('16', 'expire'),
  ('17', 'dispute_hold'),
  ('18', 'dispute_release'),
  ('19', 'chargeback'),
  ('2', 'topup'),
  ('20', 'accrual'),
  ('21', 'adjustment'),
  ('3', 'refund'),
  ('4', 'refund_reversal'),
  ('5', 'grant'),
  ('6', 'redeem'),
  ('7', 'gift'),
  ('8', 'gift_cancel'),
  ('9', 'gift_redeem');
delete from ledger.hold;
insert into ledger.hold (hold_id, book_id, amount, key_no, project_no, lease_id) overriding system value values
  ('01a2067a-68d3-4292-3712-05c897ff631d', '1', '25', '1', '1', '1');
delete from ledger.idempotency;
insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, state, created_at, ended_at, cost, http_status, sealed_answer) overriding system value values
  ('upgrade', E'\\x0101010101010101010101010101010101010101010101010101010101010101', E'\\x0202020202020202020202020202020202020202020202020202020202020202', '01a2067a-68ca-868c-aa42-31dd012a596f', '1', '1', 'done', '2026-11-23 03:36:55.242+00', '2026-11-23 03:36:55.245+00', '40', NULL, NULL);
delete from ledger.lease;
insert into ledger.lease (lease_id, process, seconds, expires_at) overriding system value values
  ('1', 'test', '1', '2026-11-23 03:36:55.305665+00');
delete from ledger.lot;
insert into ledger.lot (lot_no, lot_id, book_id, seq, is_grant, expires_at, created_at, amount, burned, is_open) overriding system value values
  ('1', 'lot_01M837MSWNKN3EW1DWTQD4H8JR', '2', '1', 'true', 'infinity', '2026-11-23 03:36:54.933+00', '100000000', '100000000', 'false'),
  ('2', 'lot_01M837MT0FX2XZEEWR45D5C75Q', '1', '1', 'true', 'infinity', '2026-11-23 03:36:55.055+00', '10000', '299', 'true'),
  ('3', 'lot_01M837MT23TKFE7H4C2H5HSVGX', '1', '2', 'false', 'infinity', '2026-11-23 03:36:55.107+00', '5000', '0', 'true'),
  ('4', 'lot_01M837MT2R10Y3NGYXPBWNC3F1', '1', '3', 'true', '2026-11-23 03:36:54.128+00', '2026-11-23 03:36:55.128+00', '5000', '5000', 'false'),
  ('5', 'lot_01M837MT80C48RFADVN5AMB09V', '2', '3', 'false', 'infinity', '2026-11-23 03:36:55.296+00', '500', '500', 'false');
delete from ledger.meter;
insert into ledger.meter (request_id, book_id, block_no, seq, cost, key_no, project_no, model_no, endpoint_no, price_no, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, outcome, estimated, other_units) overriding system value values
  ('01a2067a-685f-b2c3-8c52-758e84b434f6', '1', '5', '5', '70', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2067a-685f-b2c3-8c52-758e84b434f7', '1', '5', '6', '130', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2067a-685f-b2c3-8c52-758e84b434f8', '1', '5', NULL, '0', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2067a-68c6-62cb-7e92-53294554f92a', '1', '6', '7', '50', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', '{1,2,6,3}'),
  ('01a2067a-68ca-868c-aa42-31dd012a596f', '1', '7', '8', '40', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2067a-68d0-2e2d-8db6-85bfbe73f5dc', '1', '8', '9', '9', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2067a-68fb-ffac-bee8-2f6efae7feeb', '2', '2', '2', '2000000000', '2', '4', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL);
delete from ledger.unit_kind;
insert into ledger.unit_kind (kind, name) overriding system value values
  ('1', 'search_units'),
  ('2', 'audio_input_tokens'),
  ('3', 'audio_output_tokens'),
  ('4', 'image_input_tokens'),
  ('5', 'image_output_tokens'),
  ('6', 'requests'),
  ('7', 'insured');
delete from ledger.win;
insert into ledger.win (kind, subject, start, book_id, cap, hard, alerted, next_alert, exhausted_at, spent, held) overriding system value values
  ('1', '1', '2026-11-23', '1', '400', 'false', '50', '320', NULL, '299', '25'),
  ('1', '2', '2026-11-23', '2', NULL, 'true', '0', NULL, NULL, '100000000', '0'),
  ('2', '1', '2026-11-01', '1', '50000', 'true', '0', '25000', NULL, '299', '25'),
  ('2', '4', '2026-11-01', '2', NULL, 'true', '0', NULL, NULL, '100000000', '0');
delete from ledger.writeoff;
insert into ledger.writeoff (book_id, seq, amount, request_id) overriding system value values
  ('2', '2', '1900000000', '01a2067a-68fb-ffac-bee8-2f6efae7feeb'),
  ('2', '4', '300', NULL);
delete from public.api_key;
insert into public.api_key (id, key_no, chain_no, org_id, project_id, environment, name, hash, hint, scopes, status, rpm, tpm, concurrency, budget_daily_micro, budget_hard, alerts, svc_version, data_policy, created_by, managed_by, rotated_from, created_at, updated_at, last_used_at, expires_at, revoked_at) overriding system value values
  ('key_01M837MT1MSB8KG49WF2G0PZEC', '1', '1', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', 'prj_01M837MSWZQHW3AX7H9BCERN2G', 'live', 'live', E'\\x7f241aae76da20f7c39a3c4761140adaf7315e15c3511e44e9502cbdacf068ce', 'svc-live-...pNzK', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, '400', 'false', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 03:36:55.091+00', '2026-11-23 03:36:55.091+00', NULL, NULL, NULL),
  ('key_01M837MT1R1PH3ZVR7FVWF0G6F', '2', '2', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', 'prj_01M837MSWZQHW3AX7H9BCERN2G', 'test', 'sandbox', E'\\x554fdea168e7d54de60e62c51cba4550e3df90722a8ff491029db370c2c912ab', 'svc-test-...MK0Y', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, NULL, 'true', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 03:36:55.096+00', '2026-11-23 03:36:55.096+00', NULL, NULL, NULL);
delete from public.audit_chain;
delete from public.audit_entry;
delete from public.byok_change;
delete from public.byok_key;
delete from public.grant_change;
insert into public.grant_change (xid, org_id, key_id, at) overriding system value values
  ('782', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', 'key_01M837MT1MSB8KG49WF2G0PZEC', '2026-11-23 03:36:55.094944+00'),
  ('782', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', 'key_01M837MT1R1PH3ZVR7FVWF0G6F', '2026-11-23 03:36:55.097594+00');
delete from public.idempotency;
delete from public.invoice;
delete from public.invoice_counter;
delete from public.org;
insert into public.org (id, slug, name, kind, status, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status, billing_email, billing_address, settings, data_policy, pepper, live_book_id, sandbox_book_id, parent_org_id, reseller_tier_id, created_at, updated_at, closed_at, logging_off_at) overriding system value values
  ('org_01M837MSW9T46RSZ5B6Y2BBZRD', 'upgrade', 'upgrade', 'team', 'active', 'enterprise', 'US', 'USD', NULL, NULL, 'unregistered', NULL, NULL, '{}', '{"zdr": false, "redact": {"presets": [], "patterns": []}, "logging": "off", "regions": [], "no_train": false, "retention_days": 30}', E'\\x0e77b301b5ec38b082806c40143a7484e95620a83441ff97de24fe28af7643d3', '1', '2', NULL, NULL, '2026-11-23 03:36:54.921+00', '2026-11-23 03:36:54.921+00', NULL, NULL);
delete from public.org_member;
delete from public.outbox;
insert into public.outbox (outbox_id, org_id, topic, payload, created_at) overriding system value values
  ('1', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', 'budget.threshold', '{"hard": false, "scope": "key", "key_no": 1, "window_end": "2026-11-24T00:00:00.000Z", "spend_micro": 200, "budget_micro": 400, "window_start": "2026-11-23T00:00:00.000Z", "threshold_percent": 50}', '2026-11-23 03:36:55.221+00');
delete from public.person;
delete from public.policy;
delete from public.policy_activation;
delete from public.policy_change;
delete from public.policy_gateway;
delete from public.policy_version;
delete from public.project;
insert into public.project (id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard, alerts, created_at, updated_at) overriding system value values
  ('prj_01M837MSWZQHW3AX7H9BCERN2G', '1', '2', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', 'default', 'Default', 'live', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 03:36:54.943+00', '2026-11-23 03:36:54.943+00'),
  ('prj_01M837MSX36QJ93TCRM1PNBJE7', '3', '4', 'org_01M837MSW9T46RSZ5B6Y2BBZRD', 'sandbox', 'Sandbox', 'test', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 03:36:54.947+00', '2026-11-23 03:36:54.947+00');
delete from public.rail_event;
delete from public.rail_task;
delete from public.recovery_code;
delete from public.request_attempt;
delete from public.request_payload;
delete from public.request_row;
delete from public.sandbox_refill;
delete from public.session;
delete from public.settings;
delete from public.sign_in_challenge;
delete from public.sign_in_throttle;
delete from public.staff;
delete from public.staff_item;
delete from public.staff_session;
delete from public.svc_migration;
insert into public.svc_migration (version, name, checksum, compatible_from, applied_at) overriding system value values
  ('1', '0001_settings.sql', 'fb810edfeca8d93d3be7f5cb162b8c783705235e893197bcc09bbdba5b8d082d', '1', '2026-11-23 03:36:54.479483+00'),
  ('10', '0010_ledger_rights.sql', '8d8b88d84fa37e07981a8971849fa17d74c8328cac58a54e7e5a58e51eee138b', '10', '2026-11-23 03:36:54.596354+00'),
  ('11', '0011_catalog.sql', '7198825f3dc962eb1ac5690c3cf5ba11aaa2804ed8b6e14bbc78b411412718d4', '11', '2026-11-23 03:36:54.603706+00'),
  ('12', '0012_organisations.sql', 'bcad721c21c00e06fe0d1a02336247b5161c05f9069445e863459e5be449e733', '12', '2026-11-23 03:36:54.620301+00'),
  ('13', '0013_keys.sql', '2305127fefacf694fb9e2b1e35da15200c078cde1b003f3e43abb1712b559005', '13', '2026-11-23 03:36:54.637092+00'),
  ('14', '0014_idempotency.sql', 'acff36b9a8418a4e9c240ee36ac4e2e5499b3c164f6dec3285d3013566f0162c', '14', '2026-11-23 03:36:54.675308+00'),
  ('15', '0015_people.sql', '9405484ada71fd3f40d0aa492ec062791ead118be92b5ca63be57ae48b6cbf1a', '15', '2026-11-23 03:36:54.678759+00'),
  ('16', '0016_audit_log.sql', '65c902e1b7222e22033b85e8b77393aeeafbd49b5133fbb7bb3ea442ca4bd855', '16', '2026-11-23 03:36:54.750083+00'),
  ('17', '0017_policies.sql', '7aa6ca0da26cecf6bc11a83315a0a1c66269ad4612a2f677daa8b39ac1480207', '17', '2026-11-23 03:36:54.762702+00'),
  ('18', '0018_workflow_starts.sql', 'dcb0ddcaba5a3c2566cf50d8616fa05d669b49501d39f4e835e90935f69bbef0', '18', '2026-11-23 03:36:54.782913+00'),
  ('19', '0019_invoices.sql', 'e9057b954bb18ef6ed8938c2d37a7bd27e72575995c3bfe564855c5c2078f70f', '19', '2026-11-23 03:36:54.790781+00'),
  ('2', '0002_outbox.sql', '362931f12251d3f90576c0d25734b2c4763edb1924180e8bbd66cd4f6cfdaf6e', '2', '2026-11-23 03:36:54.485175+00'),
  ('20', '0020_topups.sql', 'be71277c6836135dd6ce7bdb8033c2a01951c48f8bf2e3c1abea79c7e2ccd55d', '20', '2026-11-23 03:36:54.818849+00'),
  ('21', '0021_webhooks.sql', 'e55dee4b7726169234ab098543e51cc8876e6e2a432fee853d1391fe3ff6c2f6', '21', '2026-11-23 03:36:54.848609+00'),
  ('22', '0022_request_rows.sql', '04b3e6ff192813a4f970f0433667ee7cdad5870b5b32a023926c81b1ad1f0d3b', '22', '2026-11-23 03:36:54.86791+00'),
  ('23', '0023_usage_hours.sql', '85c82e9f1072b6c2c19024c15ccae31174fabcc701c36b5b50646ebc3be8129a', '23', '2026-11-23 03:36:54.886158+00'),
  ('24', '0024_payloads.sql', 'dd5adf56f488dd2d1821898bb62d27e4fe05e78c7102ae02ece2e22acb4bdaee', '24', '2026-11-23 03:36:54.897511+00'),
  ('25', '0025_provider_keys.sql', '108f75c1577f873542f70c118f3c13e9921ca1a68b1e4c73f149883b55e05bfb', '25', '2026-11-23 03:36:54.902701+00'),
  ('3', '0003_runtime_role.sql', '10b2e647041bc108c078c71a39a7c89d79ba9f109e6581992ce22b4748150920', '3', '2026-11-23 03:36:54.487658+00'),
  ('4', '0004_ledger_tables.sql', 'bd2152f9a25fc9783a634a4ddc8fcd7244f6a63218affe9d7a3f65bfd0889409', '4', '2026-11-23 03:36:54.495049+00'),
  ('5', '0005_ledger_windows.sql', 'fd629f2b62aea407445028dea09b9338b90b755c325a61461d1fc12fd31846c8', '5', '2026-11-23 03:36:54.56674+00'),
  ('6', '0006_ledger_hold.sql', '552bd204b2da2ff72d0acce83f2d306efe51e52c07d08d694dc35192d45c473c', '6', '2026-11-23 03:36:54.57118+00'),
  ('7', '0007_ledger_settle.sql', 'a25548b72b1e2f9c35203742ca8f55000bec414d42a661e1158507e837c32e30', '7', '2026-11-23 03:36:54.579843+00'),
  ('8', '0008_ledger_release.sql', '20c96ef17fb332f474b8baf1c95c717d8262fa1a8ba559c5c273949c58f3fbe5', '8', '2026-11-23 03:36:54.591141+00'),
  ('9', '0009_ledger_credits.sql', 'fff8dd1d032295d578b6a8ede4b1e57b533117a387519dfe1a55a316493e5103', '9', '2026-11-23 03:36:54.593527+00');
delete from public.topup;
delete from public.topup_quote;
delete from public.usage_hour;
delete from public.usage_seal;
insert into public.usage_seal (one, until) overriding system value values
  ('true', NULL);
delete from public.webhook;
delete from public.webhook_delivery;
delete from public.webhook_event;
delete from public.workflow_signal;
delete from public.workflow_start;
select setval('ledger.book_book_id_seq', 2);
select setval('ledger.lease_lease_id_seq', 1);
select setval('ledger.lot_lot_no_seq', 5);
select setval('public.api_key_no', 2);
select setval('public.outbox_outbox_id_seq', 1);
select setval('public.project_no', 4);
