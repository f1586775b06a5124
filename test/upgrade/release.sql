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
  ('1', '1', '1', '1', '0', '2026-11-23 03:54:35.051+00', E'\\xbda9f4ecdb58826265e7dbfad93010397a1ca5173ea54950a27e76d5c968a3a5'),
  ('1', '2', '2', '1', '0', '2026-11-23 03:54:35.09+00', E'\\x26e5e0687a632de9c2c65a92ae98007291cbeda2ec590315bc0928a4ccce7f86'),
  ('1', '3', '3', '1', '0', '2026-11-23 03:54:35.105+00', E'\\xddc559219437c539b9d7841bb48a5a32d4c9335d44fcceca09f7fd334b9cff51'),
  ('1', '4', '4', '1', '0', '2026-11-23 03:54:35.107+00', E'\\x123d1d2d52d7e47310b75f9590e443430155d1f2b4434c58858dd7a61cebd515'),
  ('1', '5', '5', '2', '3', '2026-11-23 03:54:35.14+00', E'\\xd1012a55cf0ead5f5d7a3831dcc3cb043860fdedd4719f9101d9dfca9389293a'),
  ('1', '6', '7', '1', '1', '2026-11-23 03:54:35.167+00', E'\\x035dc6ccd894f27898ec25a5c084703a576bd840997fb5adb59b5df04ec3e162'),
  ('1', '7', '8', '1', '1', '2026-11-23 03:54:35.172+00', E'\\x8331a1c5a3f1b9538ccc41e21e8e40ab99aa424c0629fea5eb13db822f41e40b'),
  ('1', '8', '9', '1', '1', '2026-11-23 03:54:35.18+00', E'\\x90d05e59ffec00962d491564ff3f29855c456af424625baa506b46180d0f29ec'),
  ('2', '1', '1', '1', '0', '2026-11-23 03:54:35.009+00', E'\\x9be575be3f1bab310d007f9dccaa1f6996b04b34fd64974e1273502249fa4857'),
  ('2', '2', '2', '1', '1', '2026-11-23 03:54:35.186+00', E'\\x5412bf0de8984acee42e9a968a1c6bf3ea084cd294df696bef47c594cf4ed8c3'),
  ('2', '3', '3', '1', '0', '2026-11-23 03:54:35.197+00', E'\\x7dbd1409bfc051a9b168a18be4edd5aaf5d50800fa0a5ff395467b6f4ea6e226'),
  ('2', '4', '4', '1', '0', '2026-11-23 03:54:35.198+00', E'\\xb84213e6d19227ebf8eb8c9f075d0efaeb5812328383f17e5c98196ae4796986');
delete from ledger.book;
insert into ledger.book (book_id, org_id, environment, available, held, granted, seq, block_no, head, last_at, current_lot_no, low_mark, exhausted_on) overriding system value values
  ('1', 'org_01M838N53K0QP7WJ8GNDDX1BVW', '1', '14676', '25', '9701', '9', '8', E'\\x90d05e59ffec00962d491564ff3f29855c456af424625baa506b46180d0f29ec', '2026-11-23 03:54:35.18+00', '2', '5000000', NULL),
  ('2', 'org_01M838N53K0QP7WJ8GNDDX1BVW', '2', '0', '0', '0', '4', '4', E'\\xb84213e6d19227ebf8eb8c9f075d0efaeb5812328383f17e5c98196ae4796986', '2026-11-23 03:54:35.198+00', NULL, NULL, NULL);
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
  ('1', '1', '10000', '10000', '2026-11-23 03:54:35.051+00', NULL, '5', 'staff', 'test 2446 1'),
  ('1', '2', '5000', '15000', '2026-11-23 03:54:35.09+00', NULL, '2', 'staff', 'paid'),
  ('1', '3', '5000', '20000', '2026-11-23 03:54:35.105+00', NULL, '7', 'staff', 'ended'),
  ('1', '4', '-5000', '15000', '2026-11-23 03:54:35.107+00', NULL, '16', 'lot', 'lot_01M838N571J8H2701Q3H55CZAY'),
  ('1', '5', '-70', '14930', '2026-11-23 03:54:35.14+00', '01a2068a-94ec-9675-944a-edb3cfd696df', '1', NULL, NULL),
  ('1', '6', '-130', '14800', '2026-11-23 03:54:35.14+00', '01a2068a-94ec-9675-944a-edb3cfd696e0', '1', NULL, NULL),
  ('1', '7', '-50', '14750', '2026-11-23 03:54:35.167+00', '01a2068a-951d-af56-4cb3-83ad27a71d4d', '1', NULL, NULL),
  ('1', '8', '-40', '14710', '2026-11-23 03:54:35.172+00', '01a2068a-9521-9124-e130-52b86d927e78', '1', NULL, NULL),
  ('1', '9', '-9', '14701', '2026-11-23 03:54:35.18+00', '01a2068a-952c-8d91-b940-85037f0518a1', '1', NULL, NULL),
  ('2', '1', '100000000', '100000000', '2026-11-23 03:54:35.009+00', NULL, '5', 'staff', 'sandbox org_01M838N53K0QP7WJ8GNDDX1BVW'),
  ('2', '2', '-100000000', '0', '2026-11-23 03:54:35.186+00', '01a2068a-9531-a487-2ba2-a44483356a18', '1', NULL, NULL),
  ('2', '3', '500', '500', '2026-11-23 03:54:35.197+00', NULL, '2', 'staff', 'disputed'),
  ('2', '4', '-500', '0', '2026-11-23 03:54:35.198+00', NULL, '19', 'staff', 'dispute');
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
  ('01a2068a-952f-f11a-49a3-df38e9834743', '1', '25', '1', '1', '1');
delete from ledger.idempotency;
insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, state, created_at, ended_at, cost, http_status, sealed_answer) overriding system value values
  ('upgrade', E'\\x0101010101010101010101010101010101010101010101010101010101010101', E'\\x0202020202020202020202020202020202020202020202020202020202020202', '01a2068a-9521-9124-e130-52b86d927e78', '1', '1', 'done', '2026-11-23 03:54:35.169+00', '2026-11-23 03:54:35.172+00', '40', NULL, NULL);
delete from ledger.lease;
insert into ledger.lease (lease_id, process, seconds, expires_at) overriding system value values
  ('1', 'test', '1', '2026-11-23 03:54:35.208977+00');
delete from ledger.lot;
insert into ledger.lot (lot_no, lot_id, book_id, seq, is_grant, expires_at, created_at, amount, burned, is_open) overriding system value values
  ('1', 'lot_01M838N5419DDCHBZTFJ4KGWY2', '2', '1', 'true', 'infinity', '2026-11-23 03:54:35.009+00', '100000000', '100000000', 'false'),
  ('2', 'lot_01M838N55B9EWANZP443JMNEEC', '1', '1', 'true', 'infinity', '2026-11-23 03:54:35.051+00', '10000', '299', 'true'),
  ('3', 'lot_01M838N56J5JF76PTET904WCVB', '1', '2', 'false', 'infinity', '2026-11-23 03:54:35.09+00', '5000', '0', 'true'),
  ('4', 'lot_01M838N571J8H2701Q3H55CZAY', '1', '3', 'true', '2026-11-23 03:54:34.105+00', '2026-11-23 03:54:35.105+00', '5000', '5000', 'false'),
  ('5', 'lot_01M838N59X2S9KPWP2EMCH23EA', '2', '3', 'false', 'infinity', '2026-11-23 03:54:35.197+00', '500', '500', 'false');
delete from ledger.meter;
insert into ledger.meter (request_id, book_id, block_no, seq, cost, key_no, project_no, model_no, endpoint_no, price_no, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, outcome, estimated, other_units) overriding system value values
  ('01a2068a-94ec-9675-944a-edb3cfd696df', '1', '5', '5', '70', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2068a-94ec-9675-944a-edb3cfd696e0', '1', '5', '6', '130', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2068a-94ed-69c5-0d4b-e9fc43cbe3e8', '1', '5', NULL, '0', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2068a-951d-af56-4cb3-83ad27a71d4d', '1', '6', '7', '50', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', '{1,2,6,3}'),
  ('01a2068a-9521-9124-e130-52b86d927e78', '1', '7', '8', '40', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2068a-952c-8d91-b940-85037f0518a1', '1', '8', '9', '9', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a2068a-9531-a487-2ba2-a44483356a18', '2', '2', '2', '2000000000', '2', '4', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL);
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
  ('2', '2', '1900000000', '01a2068a-9531-a487-2ba2-a44483356a18'),
  ('2', '4', '300', NULL);
delete from public.api_key;
insert into public.api_key (id, key_no, chain_no, org_id, project_id, environment, name, hash, hint, scopes, status, rpm, tpm, concurrency, budget_daily_micro, budget_hard, alerts, svc_version, data_policy, created_by, managed_by, rotated_from, created_at, updated_at, last_used_at, expires_at, revoked_at) overriding system value values
  ('key_01M838N55ZC0YWQNAYXPZZ2063', '1', '1', 'org_01M838N53K0QP7WJ8GNDDX1BVW', 'prj_01M838N54GC0GT442T9M1578ZW', 'live', 'live', E'\\x34beab4c19a7a708d3e2fee75724140142c37719a837ab766b6feff73ee49a21', 'svc-live-...oYzE', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, '400', 'false', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 03:54:35.07+00', '2026-11-23 03:54:35.07+00', NULL, NULL, NULL),
  ('key_01M838N563YD51JZF9BJP5SDKY', '2', '2', 'org_01M838N53K0QP7WJ8GNDDX1BVW', 'prj_01M838N54GC0GT442T9M1578ZW', 'test', 'sandbox', E'\\x120d0638acac09338a1636e3cd5cd13760dae7c52190455e5719ea5c50f30e1a', 'svc-test-...7TDc', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, NULL, 'true', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 03:54:35.075+00', '2026-11-23 03:54:35.075+00', NULL, NULL, NULL);
delete from public.audit_chain;
delete from public.audit_entry;
delete from public.byok_change;
delete from public.byok_key;
delete from public.grant_change;
insert into public.grant_change (xid, org_id, key_id, at) overriding system value values
  ('782', 'org_01M838N53K0QP7WJ8GNDDX1BVW', 'key_01M838N55ZC0YWQNAYXPZZ2063', '2026-11-23 03:54:35.073539+00'),
  ('782', 'org_01M838N53K0QP7WJ8GNDDX1BVW', 'key_01M838N563YD51JZF9BJP5SDKY', '2026-11-23 03:54:35.076172+00');
delete from public.idempotency;
delete from public.invoice;
delete from public.invoice_counter;
delete from public.org;
insert into public.org (id, slug, name, kind, status, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status, billing_email, billing_address, settings, data_policy, pepper, live_book_id, sandbox_book_id, parent_org_id, reseller_tier_id, created_at, updated_at, closed_at, logging_off_at) overriding system value values
  ('org_01M838N53K0QP7WJ8GNDDX1BVW', 'upgrade', 'upgrade', 'team', 'active', 'enterprise', 'US', 'USD', NULL, NULL, 'unregistered', NULL, NULL, '{}', '{"zdr": false, "redact": {"presets": [], "patterns": []}, "logging": "off", "regions": [], "no_train": false, "retention_days": 30}', E'\\xb29c1a3b3a85643215429ac79b2bde1f149154e89bb71576149f22809ffa27f6', '1', '2', NULL, NULL, '2026-11-23 03:54:34.995+00', '2026-11-23 03:54:34.995+00', NULL, NULL);
delete from public.org_member;
delete from public.outbox;
insert into public.outbox (outbox_id, org_id, topic, payload, created_at) overriding system value values
  ('1', 'org_01M838N53K0QP7WJ8GNDDX1BVW', 'budget.threshold', '{"hard": false, "scope": "key", "key_no": 1, "window_end": "2026-11-24T00:00:00.000Z", "spend_micro": 200, "budget_micro": 400, "window_start": "2026-11-23T00:00:00.000Z", "threshold_percent": 50}', '2026-11-23 03:54:35.14+00');
delete from public.person;
delete from public.policy;
delete from public.policy_activation;
delete from public.policy_change;
delete from public.policy_gateway;
delete from public.policy_version;
delete from public.project;
insert into public.project (id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard, alerts, created_at, updated_at) overriding system value values
  ('prj_01M838N54GC0GT442T9M1578ZW', '1', '2', 'org_01M838N53K0QP7WJ8GNDDX1BVW', 'default', 'Default', 'live', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 03:54:35.024+00', '2026-11-23 03:54:35.024+00'),
  ('prj_01M838N54NSTH2ZFF9D986QEVN', '3', '4', 'org_01M838N53K0QP7WJ8GNDDX1BVW', 'sandbox', 'Sandbox', 'test', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 03:54:35.03+00', '2026-11-23 03:54:35.03+00');
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
  ('1', '0001_settings.sql', 'fb810edfeca8d93d3be7f5cb162b8c783705235e893197bcc09bbdba5b8d082d', '1', '2026-11-23 03:54:34.23917+00'),
  ('10', '0010_ledger_rights.sql', '8d8b88d84fa37e07981a8971849fa17d74c8328cac58a54e7e5a58e51eee138b', '10', '2026-11-23 03:54:34.518227+00'),
  ('11', '0011_catalog.sql', '7198825f3dc962eb1ac5690c3cf5ba11aaa2804ed8b6e14bbc78b411412718d4', '11', '2026-11-23 03:54:34.534693+00'),
  ('12', '0012_organisations.sql', 'bcad721c21c00e06fe0d1a02336247b5161c05f9069445e863459e5be449e733', '12', '2026-11-23 03:54:34.576852+00'),
  ('13', '0013_keys.sql', '2305127fefacf694fb9e2b1e35da15200c078cde1b003f3e43abb1712b559005', '13', '2026-11-23 03:54:34.621096+00'),
  ('14', '0014_idempotency.sql', 'acff36b9a8418a4e9c240ee36ac4e2e5499b3c164f6dec3285d3013566f0162c', '14', '2026-11-23 03:54:34.648552+00'),
  ('15', '0015_people.sql', '9405484ada71fd3f40d0aa492ec062791ead118be92b5ca63be57ae48b6cbf1a', '15', '2026-11-23 03:54:34.66679+00'),
  ('16', '0016_audit_log.sql', '65c902e1b7222e22033b85e8b77393aeeafbd49b5133fbb7bb3ea442ca4bd855', '16', '2026-11-23 03:54:34.732307+00'),
  ('17', '0017_policies.sql', '7aa6ca0da26cecf6bc11a83315a0a1c66269ad4612a2f677daa8b39ac1480207', '17', '2026-11-23 03:54:34.748358+00'),
  ('18', '0018_workflow_starts.sql', 'dcb0ddcaba5a3c2566cf50d8616fa05d669b49501d39f4e835e90935f69bbef0', '18', '2026-11-23 03:54:34.790908+00'),
  ('19', '0019_invoices.sql', 'e9057b954bb18ef6ed8938c2d37a7bd27e72575995c3bfe564855c5c2078f70f', '19', '2026-11-23 03:54:34.822818+00'),
  ('2', '0002_outbox.sql', '362931f12251d3f90576c0d25734b2c4763edb1924180e8bbd66cd4f6cfdaf6e', '2', '2026-11-23 03:54:34.265539+00'),
  ('20', '0020_topups.sql', 'be71277c6836135dd6ce7bdb8033c2a01951c48f8bf2e3c1abea79c7e2ccd55d', '20', '2026-11-23 03:54:34.86339+00'),
  ('21', '0021_webhooks.sql', 'e55dee4b7726169234ab098543e51cc8876e6e2a432fee853d1391fe3ff6c2f6', '21', '2026-11-23 03:54:34.899326+00'),
  ('22', '0022_request_rows.sql', '04b3e6ff192813a4f970f0433667ee7cdad5870b5b32a023926c81b1ad1f0d3b', '22', '2026-11-23 03:54:34.926916+00'),
  ('23', '0023_usage_hours.sql', '85c82e9f1072b6c2c19024c15ccae31174fabcc701c36b5b50646ebc3be8129a', '23', '2026-11-23 03:54:34.951932+00'),
  ('24', '0024_payloads.sql', 'dd5adf56f488dd2d1821898bb62d27e4fe05e78c7102ae02ece2e22acb4bdaee', '24', '2026-11-23 03:54:34.956635+00'),
  ('25', '0025_provider_keys.sql', '108f75c1577f873542f70c118f3c13e9921ca1a68b1e4c73f149883b55e05bfb', '25', '2026-11-23 03:54:34.966537+00'),
  ('3', '0003_runtime_role.sql', '10b2e647041bc108c078c71a39a7c89d79ba9f109e6581992ce22b4748150920', '3', '2026-11-23 03:54:34.280454+00'),
  ('4', '0004_ledger_tables.sql', '3fd8404429aabcd3299896ed09bf669c8c2d4bf6222e09ec899f8f2e8e020b4e', '4', '2026-11-23 03:54:34.304448+00'),
  ('5', '0005_ledger_windows.sql', '480f0f2b7a8b10d085c5380a379d7919b98ff60c363c28d3ec57c84237311c73', '5', '2026-11-23 03:54:34.461134+00'),
  ('6', '0006_ledger_hold.sql', '32387c5b2c7efab38cb9104e33a3bcd2cff1e99d9923616530077e0b7f2f70a9', '6', '2026-11-23 03:54:34.47469+00'),
  ('7', '0007_ledger_settle.sql', '27e038ebe107125305b013085b81c6d8a484ed199a38818a86ed02097246b978', '7', '2026-11-23 03:54:34.482011+00'),
  ('8', '0008_ledger_release.sql', '256f2f8ca61c0b4653ae01da39bd929dade620b356f1db9cd162baded971ad20', '8', '2026-11-23 03:54:34.496865+00'),
  ('9', '0009_ledger_credits.sql', '8be0e9a7c944c581b11884e6ac88091f0c17396b305bd7d6196dbdbcb2556124', '9', '2026-11-23 03:54:34.510251+00');
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
