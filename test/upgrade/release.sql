-- Rows of a database of this release, written by `make upgrade-dump`; later releases are tested to take it on.
-- migrations: 18, of the ledger: 8
set session_replication_role = replica;
set timezone = 'UTC';
delete from catalog.endpoint;
delete from catalog.model;
delete from catalog.price_history;
delete from catalog.price_version;
delete from ledger.block;
insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash) overriding system value values
  ('1', '1', '1', '1', '0', '2026-11-23 04:45:54.861+00', E'\\xd5101f87806c75da65c41082c0b5416f7ffcf5aa4714f2ad27cb041bbcdbe8d8'),
  ('1', '2', '2', '1', '0', '2026-11-23 04:45:54.919+00', E'\\x732bece60a3c154b3832321d36de1f6cbd20674e8582601466e7d8ca0715a653'),
  ('1', '3', '3', '1', '0', '2026-11-23 04:45:54.947+00', E'\\x3c0e34c57e0d3f12e4a942bc4d0326179444579b42949b8bf2f9326ac4139f72'),
  ('1', '4', '4', '1', '0', '2026-11-23 04:45:54.952+00', E'\\xb4253e0cef33dea1b888923c584f5595e83314100ba63a819b6c496b71c61cb3'),
  ('1', '5', '5', '2', '3', '2026-11-23 04:45:54.991+00', E'\\x76e03da3ae89b540c797f04ca27917811df5949005d3e25591e0935fc43e071e'),
  ('1', '6', '7', '1', '1', '2026-11-23 04:45:55.031+00', E'\\x1fcb0ba154fa75dadad01818bd59ef366c0f17a07413c1d1de13393977e8fdd8'),
  ('1', '7', '8', '1', '1', '2026-11-23 04:45:55.043+00', E'\\x849e37d6be72ca0a2009af3ff707abdff62e0857d379dc4a3b8ee67c74287a09'),
  ('1', '8', '9', '1', '1', '2026-11-23 04:45:55.045+00', E'\\x690b115744a33aed9b76d08b56ed671a956d213d66c2f5f05ad9ad29cd159b48'),
  ('2', '1', '1', '1', '0', '2026-11-23 04:45:54.781+00', E'\\xe4e3d17c22be5d849ff60a2b677fbd281e0d03484a4421a79f93b8e64cef49a3'),
  ('2', '2', '2', '1', '1', '2026-11-23 04:45:55.063+00', E'\\x742af22c09580173976b7a89cdbd0766ee8387fee6ccaad0c7754cbc2fa1be8c'),
  ('2', '3', '3', '1', '0', '2026-11-23 04:45:55.068+00', E'\\xe5f94581aba4bb4acd8cd76d4761f688900de38f8d04359ff52e13a35aa8f336'),
  ('2', '4', '4', '1', '0', '2026-11-23 04:45:55.07+00', E'\\x702f34979eab1319cfb3ff629520e5a8b861e808f177b628d2b4ece6f2aec9a6');
delete from ledger.book;
insert into ledger.book (book_id, org_id, environment, available, held, granted, seq, block_no, head, last_at, current_lot_no, low_mark, exhausted_on) overriding system value values
  ('1', 'org_01M83BK4PGTP0YENV420ZPS6BM', '1', '14676', '25', '9701', '9', '8', E'\\x690b115744a33aed9b76d08b56ed671a956d213d66c2f5f05ad9ad29cd159b48', '2026-11-23 04:45:55.045+00', '2', '5000000', NULL),
  ('2', 'org_01M83BK4PGTP0YENV420ZPS6BM', '2', '0', '0', '0', '4', '4', E'\\x702f34979eab1319cfb3ff629520e5a8b861e808f177b628d2b4ece6f2aec9a6', '2026-11-23 04:45:55.07+00', NULL, NULL, NULL);
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
  ('1', '1', '10000', '10000', '2026-11-23 04:45:54.861+00', NULL, '5', 'staff', 'test 3858 1'),
  ('1', '2', '5000', '15000', '2026-11-23 04:45:54.919+00', NULL, '2', 'staff', 'paid'),
  ('1', '3', '5000', '20000', '2026-11-23 04:45:54.947+00', NULL, '7', 'staff', 'ended'),
  ('1', '4', '-5000', '15000', '2026-11-23 04:45:54.952+00', NULL, '16', 'lot', 'lot_01M83BK4W3C9MQABES4WYDMSQT'),
  ('1', '5', '-70', '14930', '2026-11-23 04:45:54.991+00', '01a206b9-9393-11f3-553e-68654784f0df', '1', NULL, NULL),
  ('1', '6', '-130', '14800', '2026-11-23 04:45:54.991+00', '01a206b9-9394-6def-adda-e264421fbc57', '1', NULL, NULL),
  ('1', '7', '-50', '14750', '2026-11-23 04:45:55.031+00', '01a206b9-93d6-c739-0303-d779acb0e6ad', '1', NULL, NULL),
  ('1', '8', '-40', '14710', '2026-11-23 04:45:55.043+00', '01a206b9-93df-0acf-b625-c3b4cd658880', '1', NULL, NULL),
  ('1', '9', '-9', '14701', '2026-11-23 04:45:55.045+00', '01a206b9-93e5-55c7-fc6b-58667aa83810', '1', NULL, NULL),
  ('2', '1', '100000000', '100000000', '2026-11-23 04:45:54.781+00', NULL, '5', 'staff', 'sandbox org_01M83BK4PGTP0YENV420ZPS6BM'),
  ('2', '2', '-100000000', '0', '2026-11-23 04:45:55.063+00', '01a206b9-93f5-d56a-6fa7-248eba05b6a4', '1', NULL, NULL),
  ('2', '3', '500', '500', '2026-11-23 04:45:55.068+00', NULL, '2', 'staff', 'disputed'),
  ('2', '4', '-500', '0', '2026-11-23 04:45:55.07+00', NULL, '19', 'staff', 'dispute');
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
  ('01a206b9-93f2-e3c1-3101-9e73788a9b69', '1', '25', '1', '1', '1');
delete from ledger.idempotency;
insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, state, created_at, ended_at, cost, http_status, sealed_answer) overriding system value values
  ('upgrade', E'\\x0101010101010101010101010101010101010101010101010101010101010101', E'\\x0202020202020202020202020202020202020202020202020202020202020202', '01a206b9-93df-0acf-b625-c3b4cd658880', '1', '1', 'done', '2026-11-23 04:45:55.039+00', '2026-11-23 04:45:55.043+00', '40', NULL, NULL);
delete from ledger.lease;
insert into ledger.lease (lease_id, process, seconds, expires_at) overriding system value values
  ('1', 'test', '1', '2026-11-23 04:45:55.08065+00');
delete from ledger.lot;
insert into ledger.lot (lot_no, lot_id, book_id, seq, is_grant, expires_at, created_at, amount, burned, is_open) overriding system value values
  ('1', 'lot_01M83BK4PXE0QMX6JA5YX0B532', '2', '1', 'true', 'infinity', '2026-11-23 04:45:54.781+00', '100000000', '100000000', 'false'),
  ('2', 'lot_01M83BK4SC1SYQKTPMREE5SQV9', '1', '1', 'true', 'infinity', '2026-11-23 04:45:54.861+00', '10000', '299', 'true'),
  ('3', 'lot_01M83BK4V7GX0XZQ1PZK359WK8', '1', '2', 'false', 'infinity', '2026-11-23 04:45:54.919+00', '5000', '0', 'true'),
  ('4', 'lot_01M83BK4W3C9MQABES4WYDMSQT', '1', '3', 'true', '2026-11-23 04:45:53.947+00', '2026-11-23 04:45:54.947+00', '5000', '5000', 'false'),
  ('5', 'lot_01M83BK4ZWQWQXSADH3SMRKEJ8', '2', '3', 'false', 'infinity', '2026-11-23 04:45:55.068+00', '500', '500', 'false');
delete from ledger.meter;
insert into ledger.meter (request_id, book_id, block_no, seq, cost, key_no, project_no, model_no, endpoint_no, price_no, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, outcome, estimated, other_units) overriding system value values
  ('01a206b9-9393-11f3-553e-68654784f0df', '1', '5', '5', '70', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206b9-9394-6def-adda-e264421fbc57', '1', '5', '6', '130', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206b9-9394-6def-adda-e264421fbc58', '1', '5', NULL, '0', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206b9-93d6-c739-0303-d779acb0e6ad', '1', '6', '7', '50', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', '{1,2,6,3}'),
  ('01a206b9-93df-0acf-b625-c3b4cd658880', '1', '7', '8', '40', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206b9-93e5-55c7-fc6b-58667aa83810', '1', '8', '9', '9', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206b9-93f5-d56a-6fa7-248eba05b6a4', '2', '2', '2', '2000000000', '2', '4', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL);
delete from ledger.outbox;
insert into ledger.outbox (outbox_id, org_id, topic, payload, created_at) overriding system value values
  ('1', 'org_01M83BK4PGTP0YENV420ZPS6BM', 'budget.threshold', '{"hard": false, "scope": "key", "key_no": 1, "window_end": "2026-11-24T00:00:00.000Z", "spend_micro": 200, "budget_micro": 400, "window_start": "2026-11-23T00:00:00.000Z", "threshold_percent": 50}', '2026-11-23 04:45:54.991+00');
delete from ledger.svc_migration;
insert into ledger.svc_migration (version, name, checksum, compatible_from, applied_at) overriding system value values
  ('1', 'ledger/0001_runtime_role.sql', 'b3fbb59a465c05d0f92b5d03cb25e9dfdd9dcb5199bf692743f56dec9844e6dd', '1', '2026-11-23 04:45:54.487662+00'),
  ('2', 'ledger/0002_tables.sql', '01d5fe11b3f9f8425ae4240f87516515ca69cfcca68cccda260603676ce27349', '2', '2026-11-23 04:45:54.488788+00'),
  ('3', 'ledger/0003_windows.sql', '7ce46836bbb1db840deb2741ba10a1aeecff758be6c33fb3deceefc684a9e99b', '3', '2026-11-23 04:45:54.684094+00'),
  ('4', 'ledger/0004_hold.sql', 'ae633d7ad9545beea619061016656323f4e9a25cba2351fa3322c3ab87a29d2c', '4', '2026-11-23 04:45:54.698213+00'),
  ('5', 'ledger/0005_settle.sql', 'b40f49414f60352bcd05f0d7bf8b71198296fab42e3a33124fbeac34dc4898ec', '5', '2026-11-23 04:45:54.706701+00'),
  ('6', 'ledger/0006_release.sql', 'd40f1a721405b5100baca0ba2a715b6429493f952cc7d73921147b23d03ebc96', '6', '2026-11-23 04:45:54.719673+00'),
  ('7', 'ledger/0007_credits.sql', '9193cd6687e1daa9e918782b630835a18cd2232e616df85e05a7134c51a1eb8c', '7', '2026-11-23 04:45:54.727518+00'),
  ('8', 'ledger/0008_rights.sql', '5b17dd0452d349ece23c9eb3ea1e8e41db2621827dba524718021ef25fa152d5', '8', '2026-11-23 04:45:54.736415+00');
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
  ('2', '2', '1900000000', '01a206b9-93f5-d56a-6fa7-248eba05b6a4'),
  ('2', '4', '300', NULL);
delete from public.api_key;
insert into public.api_key (id, key_no, chain_no, org_id, project_id, environment, name, hash, hint, scopes, status, rpm, tpm, concurrency, budget_daily_micro, budget_hard, alerts, svc_version, data_policy, created_by, managed_by, rotated_from, created_at, updated_at, last_used_at, expires_at, revoked_at) overriding system value values
  ('key_01M83BK4TCSC09E60DXMAHRJWT', '1', '1', 'org_01M83BK4PGTP0YENV420ZPS6BM', 'prj_01M83BK4QG36HC4T1B3929XH40', 'live', 'live', E'\\x742fbdb5b3588f7c32e098ab108ccbaed9e0a01bd15929905b6c1c41cb48bfaa', 'svc-live-...czwn', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, '400', 'false', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 04:45:54.891+00', '2026-11-23 04:45:54.891+00', NULL, NULL, NULL),
  ('key_01M83BK4THB7GVYGXYS8GRXFY3', '2', '2', 'org_01M83BK4PGTP0YENV420ZPS6BM', 'prj_01M83BK4QG36HC4T1B3929XH40', 'test', 'sandbox', E'\\x9283b1d3e312df7c3864fab8514183d35b43e07cc200362f6cb30d3422958ede', 'svc-test-...AoGU', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, NULL, 'true', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 04:45:54.897+00', '2026-11-23 04:45:54.897+00', NULL, NULL, NULL);
delete from public.audit_chain;
delete from public.audit_entry;
delete from public.byok_change;
delete from public.byok_key;
delete from public.grant_change;
insert into public.grant_change (xid, org_id, key_id, at) overriding system value values
  ('791', 'org_01M83BK4PGTP0YENV420ZPS6BM', 'key_01M83BK4TCSC09E60DXMAHRJWT', '2026-11-23 04:45:54.895914+00'),
  ('791', 'org_01M83BK4PGTP0YENV420ZPS6BM', 'key_01M83BK4THB7GVYGXYS8GRXFY3', '2026-11-23 04:45:54.898133+00');
delete from public.idempotency;
delete from public.invoice;
delete from public.invoice_counter;
delete from public.org;
insert into public.org (id, slug, name, kind, status, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status, billing_email, billing_address, settings, data_policy, pepper, live_book_id, sandbox_book_id, parent_org_id, reseller_tier_id, created_at, updated_at, closed_at, logging_off_at) overriding system value values
  ('org_01M83BK4PGTP0YENV420ZPS6BM', 'upgrade', 'upgrade', 'team', 'active', 'enterprise', 'US', 'USD', NULL, NULL, 'unregistered', NULL, NULL, '{}', '{"zdr": false, "redact": {"presets": [], "patterns": []}, "logging": "off", "regions": [], "no_train": false, "retention_days": 30}', E'\\xa40f75105c87cd94bd2484f968eefad1e6ff0cbad40e16b1793962441501453c', '1', '2', NULL, NULL, '2026-11-23 04:45:54.768+00', '2026-11-23 04:45:54.768+00', NULL, NULL);
delete from public.org_member;
delete from public.outbox;
delete from public.person;
delete from public.policy;
delete from public.policy_activation;
delete from public.policy_change;
delete from public.policy_gateway;
delete from public.policy_version;
delete from public.project;
insert into public.project (id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard, alerts, created_at, updated_at) overriding system value values
  ('prj_01M83BK4QG36HC4T1B3929XH40', '1', '2', 'org_01M83BK4PGTP0YENV420ZPS6BM', 'default', 'Default', 'live', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 04:45:54.801+00', '2026-11-23 04:45:54.801+00'),
  ('prj_01M83BK4R3PKB5FC74QKH4R05X', '3', '4', 'org_01M83BK4PGTP0YENV420ZPS6BM', 'sandbox', 'Sandbox', 'test', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 04:45:54.819+00', '2026-11-23 04:45:54.819+00');
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
  ('1', '0001_settings.sql', 'fb810edfeca8d93d3be7f5cb162b8c783705235e893197bcc09bbdba5b8d082d', '1', '2026-11-23 04:45:53.738508+00'),
  ('10', '0010_policies.sql', 'e1135f8550a5b10599dc829e3ea60983e7809b69acf36187ffd5c6a89945da7f', '10', '2026-11-23 04:45:54.034612+00'),
  ('11', '0011_workflow_starts.sql', 'e34fd690026cbe3da3df387495ccfc442b5ea62e8ac447904a28e3cdae186d54', '11', '2026-11-23 04:45:54.089667+00'),
  ('12', '0012_invoices.sql', '2e4073e002d01127ad406507a028fbe761e85443eb0770b8eaa1ba3a73e83184', '12', '2026-11-23 04:45:54.112131+00'),
  ('13', '0013_topups.sql', 'e8ec9c842a7ade391e5a38284889a2a4d18f308cf1a5aa9f97f7e52c80252c5a', '13', '2026-11-23 04:45:54.142483+00'),
  ('14', '0014_webhooks.sql', '513ecc23129a24d95407ee033db33469cf9cac73962b5af5059e53ac012a6594', '14', '2026-11-23 04:45:54.218248+00'),
  ('15', '0015_request_rows.sql', 'ae3e63bb3dd3c5eaffc7ed5f8419aba5d0987b495c5710ae8ea92a897406976b', '15', '2026-11-23 04:45:54.262709+00'),
  ('16', '0016_usage_hours.sql', '9263ac2710a95d76b9c0c833565a41eafa4f9c740db1510715a4f391f5a45492', '16', '2026-11-23 04:45:54.4197+00'),
  ('17', '0017_payloads.sql', 'c023ecd002f68dcb2483cdb924b550313ee53d4b0a23661a5c115c5fa487eb28', '17', '2026-11-23 04:45:54.443231+00'),
  ('18', '0018_provider_keys.sql', '80560ce06d66965770bb8bc0b7e2303b7754944570bfd0ab5abb85d8c75ad85e', '18', '2026-11-23 04:45:54.454283+00'),
  ('2', '0002_outbox.sql', 'e1dab9b4c406377b67333481d201f9b6f70d3cebbc44c13d503728e7f4edd3ce', '2', '2026-11-23 04:45:53.763128+00'),
  ('3', '0003_runtime_role.sql', '10b2e647041bc108c078c71a39a7c89d79ba9f109e6581992ce22b4748150920', '3', '2026-11-23 04:45:53.778924+00'),
  ('4', '0004_catalog.sql', '05ff930ff7319f1d519ce03a52c1faa5fa65f134f1d227ce2ddf523183486ae1', '4', '2026-11-23 04:45:53.791757+00'),
  ('5', '0005_organisations.sql', 'e73b9d45c71e147a3dbfafab1ce2083175fa0a508c00e932ba43eb0fa64f020b', '5', '2026-11-23 04:45:53.832509+00'),
  ('6', '0006_keys.sql', 'ff5dfa6d899be04bac41203399868e8edf2163244d1339eb8f6c0b19b26dd0f0', '6', '2026-11-23 04:45:53.87363+00'),
  ('7', '0007_idempotency.sql', '47724e65b3ae987710505345356bd5e4b7d84514d6d5dd63f55dce832bcf3286', '7', '2026-11-23 04:45:53.91509+00'),
  ('8', '0008_people.sql', 'b5d586191bc7b171e9d99f0a2e3dd8ab6431b6b3ff67dab542363f5b3c05a5af', '8', '2026-11-23 04:45:53.928528+00'),
  ('9', '0009_audit_log.sql', '402e74b5402ad1447c43526d73d2622b32921acfc04eaaa46d7229277dea8679', '9', '2026-11-23 04:45:54.01064+00');
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
select setval('ledger.outbox_outbox_id_seq', 1);
select setval('public.api_key_no', 2);
select setval('public.project_no', 4);
