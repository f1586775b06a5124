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
  ('1', '1', '1', '1', '0', '2026-11-23 04:23:56.12+00', E'\\x154e839b0b9f8a404d7ec2ad7adb4ce9c97c411464f1e8e3e247c21fbe4f5c52'),
  ('1', '2', '2', '1', '0', '2026-11-23 04:23:56.237+00', E'\\xa9c6a7a7d5f3e83b7c898324e0edfe560e1fe1ec96d806801e63ca3c7ce79353'),
  ('1', '3', '3', '1', '0', '2026-11-23 04:23:56.282+00', E'\\x419e505f4872fe2e03f9496e12a2ec064bbd1401ff8663d82c7ae84340afb8bc'),
  ('1', '4', '4', '1', '0', '2026-11-23 04:23:56.294+00', E'\\x857bc3a52753f363ebd0f33401b3cfef2a17708d329e06dae85fe2ebd1b654dc'),
  ('1', '5', '5', '2', '3', '2026-11-23 04:23:56.41+00', E'\\xe3659fcd64a9141f571b293b59bff3c87589d97006c286873f8c06eb17f16e1b'),
  ('1', '6', '7', '1', '1', '2026-11-23 04:23:56.464+00', E'\\x76d34322d54a60ef2651a59614d2bf1fe940b9f46e5071b4ab0a3e86a7cbbf2e'),
  ('1', '7', '8', '1', '1', '2026-11-23 04:23:56.5+00', E'\\xefb8683da29c608bde7b5567d4f9f9fd4be4512a9a9433df1be2261c09bc8418'),
  ('1', '8', '9', '1', '1', '2026-11-23 04:23:56.514+00', E'\\xed2a12d9573ec9a345b13919471f20d3f3741cbd4c70f9f3b11b9a4a92a7745a'),
  ('2', '1', '1', '1', '0', '2026-11-23 04:23:56.012+00', E'\\xd34b121fc73cbd0306e73e303dce8aa0cd14554969ab2b88882734009a2e93f9'),
  ('2', '2', '2', '1', '1', '2026-11-23 04:23:56.526+00', E'\\xa8b8e960aea9863ef49a3dbd60505d24a54e6743a01873d0a3199396f44d435b'),
  ('2', '3', '3', '1', '0', '2026-11-23 04:23:56.531+00', E'\\x0debbb2ca0952e8ffbe54a5045be2d0033efc091433ca9760bb0e4dc08354500'),
  ('2', '4', '4', '1', '0', '2026-11-23 04:23:56.535+00', E'\\x5109a493452ad0d0c971e3c2401ed8317611e4a4a8c4cecf7a1b268fdb08057d');
delete from ledger.book;
insert into ledger.book (book_id, org_id, environment, available, held, granted, seq, block_no, head, last_at, current_lot_no, low_mark, exhausted_on) overriding system value values
  ('1', 'org_01M83AAWTXPE3W3THZY07EQXNE', '1', '14676', '25', '9701', '9', '8', E'\\xed2a12d9573ec9a345b13919471f20d3f3741cbd4c70f9f3b11b9a4a92a7745a', '2026-11-23 04:23:56.514+00', '2', '5000000', NULL),
  ('2', 'org_01M83AAWTXPE3W3THZY07EQXNE', '2', '0', '0', '0', '4', '4', E'\\x5109a493452ad0d0c971e3c2401ed8317611e4a4a8c4cecf7a1b268fdb08057d', '2026-11-23 04:23:56.535+00', NULL, NULL, NULL);
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
  ('1', '1', '10000', '10000', '2026-11-23 04:23:56.12+00', NULL, '5', 'staff', 'test 8001 1'),
  ('1', '2', '5000', '15000', '2026-11-23 04:23:56.237+00', NULL, '2', 'staff', 'paid'),
  ('1', '3', '5000', '20000', '2026-11-23 04:23:56.282+00', NULL, '7', 'staff', 'ended'),
  ('1', '4', '-5000', '15000', '2026-11-23 04:23:56.294+00', NULL, '16', 'lot', 'lot_01M83AAX3SGKVZSGSX6T53VPN2'),
  ('1', '5', '-70', '14930', '2026-11-23 04:23:56.41+00', '01a206a5-74a7-84b1-9c6a-81ea0b6ad475', '1', NULL, NULL),
  ('1', '6', '-130', '14800', '2026-11-23 04:23:56.41+00', '01a206a5-74a8-0740-a714-7e0e85c35b84', '1', NULL, NULL),
  ('1', '7', '-50', '14750', '2026-11-23 04:23:56.464+00', '01a206a5-752f-0347-7e8e-97bff049c18f', '1', NULL, NULL),
  ('1', '8', '-40', '14710', '2026-11-23 04:23:56.5+00', '01a206a5-7543-b98f-18bd-3406927e3eea', '1', NULL, NULL),
  ('1', '9', '-9', '14701', '2026-11-23 04:23:56.514+00', '01a206a5-7562-7930-f2fd-87195d5e146d', '1', NULL, NULL),
  ('2', '1', '100000000', '100000000', '2026-11-23 04:23:56.012+00', NULL, '5', 'staff', 'sandbox org_01M83AAWTXPE3W3THZY07EQXNE'),
  ('2', '2', '-100000000', '0', '2026-11-23 04:23:56.526+00', '01a206a5-756d-5fce-c6bf-44c02ef4e75d', '1', NULL, NULL),
  ('2', '3', '500', '500', '2026-11-23 04:23:56.531+00', NULL, '2', 'staff', 'disputed'),
  ('2', '4', '-500', '0', '2026-11-23 04:23:56.535+00', NULL, '19', 'staff', 'dispute');
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
  ('01a206a5-7568-c1af-9044-45eb56a70b54', '1', '25', '1', '1', '1');
delete from ledger.idempotency;
insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, state, created_at, ended_at, cost, http_status, sealed_answer) overriding system value values
  ('upgrade', E'\\x0101010101010101010101010101010101010101010101010101010101010101', E'\\x0202020202020202020202020202020202020202020202020202020202020202', '01a206a5-7543-b98f-18bd-3406927e3eea', '1', '1', 'done', '2026-11-23 04:23:56.484+00', '2026-11-23 04:23:56.5+00', '40', NULL, NULL);
delete from ledger.lease;
insert into ledger.lease (lease_id, process, seconds, expires_at) overriding system value values
  ('1', 'test', '1', '2026-11-23 04:23:56.553973+00');
delete from ledger.lot;
insert into ledger.lot (lot_no, lot_id, book_id, seq, is_grant, expires_at, created_at, amount, burned, is_open) overriding system value values
  ('1', 'lot_01M83AAWVCSCWV6Y3CRGEP2WX6', '2', '1', 'true', 'infinity', '2026-11-23 04:23:56.012+00', '100000000', '100000000', 'false'),
  ('2', 'lot_01M83AAWYQRHNP7397T467B6Q6', '1', '1', 'true', 'infinity', '2026-11-23 04:23:56.12+00', '10000', '299', 'true'),
  ('3', 'lot_01M83AAX2DT08JA0HJ6APR47HB', '1', '2', 'false', 'infinity', '2026-11-23 04:23:56.237+00', '5000', '0', 'true'),
  ('4', 'lot_01M83AAX3SGKVZSGSX6T53VPN2', '1', '3', 'true', '2026-11-23 04:23:55.281+00', '2026-11-23 04:23:56.282+00', '5000', '5000', 'false'),
  ('5', 'lot_01M83AAXBK8A1WQERZ8301B17R', '2', '3', 'false', 'infinity', '2026-11-23 04:23:56.531+00', '500', '500', 'false');
delete from ledger.meter;
insert into ledger.meter (request_id, book_id, block_no, seq, cost, key_no, project_no, model_no, endpoint_no, price_no, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, outcome, estimated, other_units) overriding system value values
  ('01a206a5-74a7-84b1-9c6a-81ea0b6ad475', '1', '5', '5', '70', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206a5-74a8-0740-a714-7e0e85c35b84', '1', '5', '6', '130', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206a5-74a8-0740-a714-7e0e85c35b85', '1', '5', NULL, '0', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206a5-752f-0347-7e8e-97bff049c18f', '1', '6', '7', '50', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', '{1,2,6,3}'),
  ('01a206a5-7543-b98f-18bd-3406927e3eea', '1', '7', '8', '40', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206a5-7562-7930-f2fd-87195d5e146d', '1', '8', '9', '9', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a206a5-756d-5fce-c6bf-44c02ef4e75d', '2', '2', '2', '2000000000', '2', '4', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL);
delete from ledger.outbox;
insert into ledger.outbox (outbox_id, org_id, topic, payload, created_at) overriding system value values
  ('1', 'org_01M83AAWTXPE3W3THZY07EQXNE', 'budget.threshold', '{"hard": false, "scope": "key", "key_no": 1, "window_end": "2026-11-24T00:00:00.000Z", "spend_micro": 200, "budget_micro": 400, "window_start": "2026-11-23T00:00:00.000Z", "threshold_percent": 50}', '2026-11-23 04:23:56.41+00');
delete from ledger.svc_migration;
insert into ledger.svc_migration (version, name, checksum, compatible_from, applied_at) overriding system value values
  ('1', 'ledger/0001_runtime_role.sql', 'b3fbb59a465c05d0f92b5d03cb25e9dfdd9dcb5199bf692743f56dec9844e6dd', '1', '2026-11-23 04:23:55.758064+00'),
  ('2', 'ledger/0002_tables.sql', '07be25a8766e4b23396470c52c4007629953291f432c40482521f4f370b4f715', '2', '2026-11-23 04:23:55.75954+00'),
  ('3', 'ledger/0003_windows.sql', '7ce46836bbb1db840deb2741ba10a1aeecff758be6c33fb3deceefc684a9e99b', '3', '2026-11-23 04:23:55.896203+00'),
  ('4', 'ledger/0004_hold.sql', 'ae633d7ad9545beea619061016656323f4e9a25cba2351fa3322c3ab87a29d2c', '4', '2026-11-23 04:23:55.917669+00'),
  ('5', 'ledger/0005_settle.sql', 'b40f49414f60352bcd05f0d7bf8b71198296fab42e3a33124fbeac34dc4898ec', '5', '2026-11-23 04:23:55.924718+00'),
  ('6', 'ledger/0006_release.sql', 'd40f1a721405b5100baca0ba2a715b6429493f952cc7d73921147b23d03ebc96', '6', '2026-11-23 04:23:55.938694+00'),
  ('7', 'ledger/0007_credits.sql', '9193cd6687e1daa9e918782b630835a18cd2232e616df85e05a7134c51a1eb8c', '7', '2026-11-23 04:23:55.942928+00'),
  ('8', 'ledger/0008_rights.sql', '5b17dd0452d349ece23c9eb3ea1e8e41db2621827dba524718021ef25fa152d5', '8', '2026-11-23 04:23:55.954806+00');
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
  ('2', '2', '1900000000', '01a206a5-756d-5fce-c6bf-44c02ef4e75d'),
  ('2', '4', '300', NULL);
delete from public.api_key;
insert into public.api_key (id, key_no, chain_no, org_id, project_id, environment, name, hash, hint, scopes, status, rpm, tpm, concurrency, budget_daily_micro, budget_hard, alerts, svc_version, data_policy, created_by, managed_by, rotated_from, created_at, updated_at, last_used_at, expires_at, revoked_at) overriding system value values
  ('key_01M83AAX0T3VCB4ZK7HD0R368H', '1', '1', 'org_01M83AAWTXPE3W3THZY07EQXNE', 'prj_01M83AAWW3CNW8XDA9KM5EE7CN', 'live', 'live', E'\\xf7405ba9e40a26887540f26f99aa25ac82d2861bff80288c09ba459a435cce6b', 'svc-live-...byhy', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, '400', 'false', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 04:23:56.186+00', '2026-11-23 04:23:56.186+00', NULL, NULL, NULL),
  ('key_01M83AAX1BX71AMFN3Z556BKF6', '2', '2', 'org_01M83AAWTXPE3W3THZY07EQXNE', 'prj_01M83AAWW3CNW8XDA9KM5EE7CN', 'test', 'sandbox', E'\\x9d705cb1395c15e4ef57c76620d4ff3013b3dc047207dcead9198d0d882b76ec', 'svc-test-...KooU', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, NULL, 'true', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 04:23:56.203+00', '2026-11-23 04:23:56.203+00', NULL, NULL, NULL);
delete from public.audit_chain;
delete from public.audit_entry;
delete from public.byok_change;
delete from public.byok_key;
delete from public.grant_change;
insert into public.grant_change (xid, org_id, key_id, at) overriding system value values
  ('785', 'org_01M83AAWTXPE3W3THZY07EQXNE', 'key_01M83AAX0T3VCB4ZK7HD0R368H', '2026-11-23 04:23:56.191932+00'),
  ('785', 'org_01M83AAWTXPE3W3THZY07EQXNE', 'key_01M83AAX1BX71AMFN3Z556BKF6', '2026-11-23 04:23:56.203963+00');
delete from public.idempotency;
delete from public.invoice;
delete from public.invoice_counter;
delete from public.org;
insert into public.org (id, slug, name, kind, status, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status, billing_email, billing_address, settings, data_policy, pepper, live_book_id, sandbox_book_id, parent_org_id, reseller_tier_id, created_at, updated_at, closed_at, logging_off_at) overriding system value values
  ('org_01M83AAWTXPE3W3THZY07EQXNE', 'upgrade', 'upgrade', 'team', 'active', 'enterprise', 'US', 'USD', NULL, NULL, 'unregistered', NULL, NULL, '{}', '{"zdr": false, "redact": {"presets": [], "patterns": []}, "logging": "off", "regions": [], "no_train": false, "retention_days": 30}', E'\\x0ae11713b41cd25702995ca5347b94d71f48964c4ee99be41e5cbdcfe566d800', '1', '2', NULL, NULL, '2026-11-23 04:23:55.997+00', '2026-11-23 04:23:55.997+00', NULL, NULL);
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
  ('prj_01M83AAWW3CNW8XDA9KM5EE7CN', '1', '2', 'org_01M83AAWTXPE3W3THZY07EQXNE', 'default', 'Default', 'live', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 04:23:56.035+00', '2026-11-23 04:23:56.035+00'),
  ('prj_01M83AAWWYV30G6GGMG5HMG85W', '3', '4', 'org_01M83AAWTXPE3W3THZY07EQXNE', 'sandbox', 'Sandbox', 'test', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 04:23:56.062+00', '2026-11-23 04:23:56.062+00');
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
  ('1', '0001_settings.sql', 'fb810edfeca8d93d3be7f5cb162b8c783705235e893197bcc09bbdba5b8d082d', '1', '2026-11-23 04:23:55.079696+00'),
  ('10', '0010_policies.sql', 'e1135f8550a5b10599dc829e3ea60983e7809b69acf36187ffd5c6a89945da7f', '10', '2026-11-23 04:23:55.406264+00'),
  ('11', '0011_workflow_starts.sql', 'e34fd690026cbe3da3df387495ccfc442b5ea62e8ac447904a28e3cdae186d54', '11', '2026-11-23 04:23:55.455184+00'),
  ('12', '0012_invoices.sql', '2e4073e002d01127ad406507a028fbe761e85443eb0770b8eaa1ba3a73e83184', '12', '2026-11-23 04:23:55.478276+00'),
  ('13', '0013_topups.sql', 'e8ec9c842a7ade391e5a38284889a2a4d18f308cf1a5aa9f97f7e52c80252c5a', '13', '2026-11-23 04:23:55.517031+00'),
  ('14', '0014_webhooks.sql', '513ecc23129a24d95407ee033db33469cf9cac73962b5af5059e53ac012a6594', '14', '2026-11-23 04:23:55.574952+00'),
  ('15', '0015_request_rows.sql', 'de8f24be64bb7d3c21b815ce17a4759a113ed1b48e8336adc59cee135df63713', '15', '2026-11-23 04:23:55.617111+00'),
  ('16', '0016_usage_hours.sql', '9263ac2710a95d76b9c0c833565a41eafa4f9c740db1510715a4f391f5a45492', '16', '2026-11-23 04:23:55.665178+00'),
  ('17', '0017_payloads.sql', '2c177a24de0d35561e76e8e4686298b0d99270088ce79d8c8ed9876c895f235c', '17', '2026-11-23 04:23:55.682833+00'),
  ('18', '0018_provider_keys.sql', '80560ce06d66965770bb8bc0b7e2303b7754944570bfd0ab5abb85d8c75ad85e', '18', '2026-11-23 04:23:55.710728+00'),
  ('2', '0002_outbox.sql', 'e1dab9b4c406377b67333481d201f9b6f70d3cebbc44c13d503728e7f4edd3ce', '2', '2026-11-23 04:23:55.090246+00'),
  ('3', '0003_runtime_role.sql', '10b2e647041bc108c078c71a39a7c89d79ba9f109e6581992ce22b4748150920', '3', '2026-11-23 04:23:55.102275+00'),
  ('4', '0004_catalog.sql', '05ff930ff7319f1d519ce03a52c1faa5fa65f134f1d227ce2ddf523183486ae1', '4', '2026-11-23 04:23:55.116548+00'),
  ('5', '0005_organisations.sql', 'e73b9d45c71e147a3dbfafab1ce2083175fa0a508c00e932ba43eb0fa64f020b', '5', '2026-11-23 04:23:55.176068+00'),
  ('6', '0006_keys.sql', 'ff5dfa6d899be04bac41203399868e8edf2163244d1339eb8f6c0b19b26dd0f0', '6', '2026-11-23 04:23:55.231843+00'),
  ('7', '0007_idempotency.sql', '47724e65b3ae987710505345356bd5e4b7d84514d6d5dd63f55dce832bcf3286', '7', '2026-11-23 04:23:55.275046+00'),
  ('8', '0008_people.sql', 'b5d586191bc7b171e9d99f0a2e3dd8ab6431b6b3ff67dab542363f5b3c05a5af', '8', '2026-11-23 04:23:55.292297+00'),
  ('9', '0009_audit_log.sql', '402e74b5402ad1447c43526d73d2622b32921acfc04eaaa46d7229277dea8679', '9', '2026-11-23 04:23:55.379205+00');
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
