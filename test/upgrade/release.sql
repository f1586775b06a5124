-- Rows of a database of this release, written by `make upgrade-dump`; later releases are tested to take it on.
-- migrations: 19, of the ledger: 8
set session_replication_role = replica;
set timezone = 'UTC';
delete from catalog.endpoint;
delete from catalog.model;
delete from catalog.price_history;
delete from catalog.price_version;
delete from ledger.block;
insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash) overriding system value values
  ('1', '1', '1', '1', '0', '2026-11-23 07:19:00.756+00', E'\\x60d5b1f54851a81f119c70fe81aec98d517cd8b6142b70662d59dabbd7d2f35a'),
  ('1', '2', '2', '1', '0', '2026-11-23 07:19:00.832+00', E'\\x672c43c421a6e1c8a74d5e01e4753ea817ed831f99b283b8067fbf3a7672f50e'),
  ('1', '3', '3', '1', '0', '2026-11-23 07:19:00.862+00', E'\\x996ec007ce1c6a4a833e232a47d3b6cc7267bc8a6354172f95691adedb11995a'),
  ('1', '4', '4', '1', '0', '2026-11-23 07:19:00.869+00', E'\\x095ad44a87566083e4094dde0292446c5abf2cf8fb75e9c457581d2fe39de57e'),
  ('1', '5', '5', '2', '3', '2026-11-23 07:19:00.984+00', E'\\xc8e73c98eb6404ffb1881887772b0f7c6a9fb2f490af15b0574e8be5bfab520f'),
  ('1', '6', '7', '1', '1', '2026-11-23 07:19:01.162+00', E'\\x437cbec303fe9bc4564ab3a208500541c8fbb1ac8b1cdb26b5db8d593694ed1a'),
  ('1', '7', '8', '1', '1', '2026-11-23 07:19:01.353+00', E'\\xc0431678c76e99d1aa5677089af45cc9916f3560cc2c8dba39be3e13feeda353'),
  ('1', '8', '9', '1', '1', '2026-11-23 07:19:01.375+00', E'\\x47cc4e3d01351ecb3981d4e2b7fc703d1d3c31ba77104405d7bd0785f87c57f1'),
  ('2', '1', '1', '1', '0', '2026-11-23 07:19:00.644+00', E'\\xfa141501cde7b66f8a787f2199852e8c778430e0b2c4721bd77e97f22a8ac1e4'),
  ('2', '2', '2', '1', '1', '2026-11-23 07:19:01.43+00', E'\\xf4801e2979d58bedb8432d47bf54ca630734bfe4195c85a6cb5fbe744e45f220'),
  ('2', '3', '3', '1', '0', '2026-11-23 07:19:01.466+00', E'\\x83aa6134575dafb548cb4f0253d87c720cd825e905ee809f3f05f91757dfd3ef'),
  ('2', '4', '4', '1', '0', '2026-11-23 07:19:01.468+00', E'\\x059eb4e726c95dac4717d13d4d9c3625ea3c6da2b3965d3c6b25dfda9f3ac7fd');
delete from ledger.book;
insert into ledger.book (book_id, org_id, environment, available, held, granted, seq, block_no, head, last_at, current_lot_no, low_mark, exhausted_on) overriding system value values
  ('1', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', '1', '14676', '25', '9701', '9', '8', E'\\x47cc4e3d01351ecb3981d4e2b7fc703d1d3c31ba77104405d7bd0785f87c57f1', '2026-11-23 07:19:01.375+00', '2', '5000000', NULL),
  ('2', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', '2', '0', '0', '0', '4', '4', E'\\x059eb4e726c95dac4717d13d4d9c3625ea3c6da2b3965d3c6b25dfda9f3ac7fd', '2026-11-23 07:19:01.468+00', NULL, NULL, NULL);
delete from ledger.budget;
insert into ledger.budget (kind, subject, book_id, cap, hard, alerts, version) overriding system value values
  ('1', '1', '1', '400', 'false', '{50,80,100}', '8'),
  ('1', '2', '2', NULL, 'true', '{50,80,100}', '9'),
  ('2', '1', '1', '50000', 'true', '{50,80,100}', '4'),
  ('2', '2', '2', NULL, 'true', '{50,80,100}', '5'),
  ('2', '3', '1', NULL, 'true', '{50,80,100}', '6'),
  ('2', '4', '2', NULL, 'true', '{50,80,100}', '7');
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
  ('1', '1', '10000', '10000', '2026-11-23 07:19:00.756+00', NULL, '5', 'staff', 'test 2544 1'),
  ('1', '2', '5000', '15000', '2026-11-23 07:19:00.832+00', NULL, '2', 'staff', 'paid'),
  ('1', '3', '5000', '20000', '2026-11-23 07:19:00.862+00', NULL, '7', 'staff', 'ended'),
  ('1', '4', '-5000', '15000', '2026-11-23 07:19:00.869+00', NULL, '16', 'lot', 'lot_01M83MBFFY6AN903WE5R5QH2JD'),
  ('1', '5', '-70', '14930', '2026-11-23 07:19:00.984+00', '01a20745-be19-f40a-c4d6-a35ff4b181c9', '1', NULL, NULL),
  ('1', '6', '-130', '14800', '2026-11-23 07:19:00.984+00', '01a20745-be19-f40a-c4d6-a35ff4b181ca', '1', NULL, NULL),
  ('1', '7', '-50', '14750', '2026-11-23 07:19:01.162+00', '01a20745-bf28-cd1e-dc38-21f50d28e192', '1', NULL, NULL),
  ('1', '8', '-40', '14710', '2026-11-23 07:19:01.353+00', '01a20745-bfd5-8f0d-2569-563bf857b6e9', '1', NULL, NULL),
  ('1', '9', '-9', '14701', '2026-11-23 07:19:01.375+00', '01a20745-bfff-c23a-c717-e0f0c1534327', '1', NULL, NULL),
  ('2', '1', '100000000', '100000000', '2026-11-23 07:19:00.644+00', NULL, '5', 'staff', 'sandbox org_01M83MBF7V4PE8BSCDMSP85WQ0'),
  ('2', '2', '-100000000', '0', '2026-11-23 07:19:01.43+00', '01a20745-c029-a76e-310b-eec529c7a3ca', '1', NULL, NULL),
  ('2', '3', '500', '500', '2026-11-23 07:19:01.466+00', NULL, '2', 'staff', 'disputed'),
  ('2', '4', '-500', '0', '2026-11-23 07:19:01.468+00', NULL, '19', 'staff', 'dispute');
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
  ('01a20745-c024-48d8-2d3b-7cdd48b5bed3', '1', '25', '1', '1', '1');
delete from ledger.idempotency;
insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, state, created_at, ended_at, cost, http_status, sealed_answer) overriding system value values
  ('upgrade', E'\\x0101010101010101010101010101010101010101010101010101010101010101', E'\\x0202020202020202020202020202020202020202020202020202020202020202', '01a20745-bfd5-8f0d-2569-563bf857b6e9', '1', '1', 'done', '2026-11-23 07:19:01.333+00', '2026-11-23 07:19:01.353+00', '40', NULL, NULL);
delete from ledger.lease;
insert into ledger.lease (lease_id, process, seconds, expires_at) overriding system value values
  ('1', 'test', '1', '2026-11-23 07:19:01.494474+00');
delete from ledger.lot;
insert into ledger.lot (lot_no, lot_id, book_id, seq, is_grant, expires_at, created_at, amount, burned, is_open) overriding system value values
  ('1', 'lot_01M83MBF832SAS5ZE2FDFA6RR7', '2', '1', 'true', 'infinity', '2026-11-23 07:19:00.644+00', '100000000', '100000000', 'false'),
  ('2', 'lot_01M83MBFCMZ2HZ98R98RSSYA54', '1', '1', 'true', 'infinity', '2026-11-23 07:19:00.756+00', '10000', '299', 'true'),
  ('3', 'lot_01M83MBFF024VPES686RQ1FJF2', '1', '2', 'false', 'infinity', '2026-11-23 07:19:00.832+00', '5000', '0', 'true'),
  ('4', 'lot_01M83MBFFY6AN903WE5R5QH2JD', '1', '3', 'true', '2026-11-23 07:18:59.862+00', '2026-11-23 07:19:00.862+00', '5000', '5000', 'false'),
  ('5', 'lot_01M83MBG2T431GWSF1HE6EMH4F', '2', '3', 'false', 'infinity', '2026-11-23 07:19:01.466+00', '500', '500', 'false');
delete from ledger.meter;
insert into ledger.meter (request_id, book_id, block_no, seq, cost, key_no, project_no, model_no, endpoint_no, price_no, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, outcome, estimated, other_units) overriding system value values
  ('01a20745-be19-f40a-c4d6-a35ff4b181c9', '1', '5', '5', '70', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a20745-be19-f40a-c4d6-a35ff4b181ca', '1', '5', '6', '130', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a20745-be1a-e576-170d-d8bdee02b970', '1', '5', NULL, '0', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a20745-bf28-cd1e-dc38-21f50d28e192', '1', '6', '7', '50', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', '{1,2,6,3}'),
  ('01a20745-bfd5-8f0d-2569-563bf857b6e9', '1', '7', '8', '40', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a20745-bfff-c23a-c717-e0f0c1534327', '1', '8', '9', '9', '1', '1', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL),
  ('01a20745-c029-a76e-310b-eec529c7a3ca', '2', '2', '2', '2000000000', '2', '4', '1', '2', '3', '100', '20', '3', '4', '5', '6', '7', '0', 'false', NULL);
delete from ledger.outbox;
insert into ledger.outbox (outbox_id, org_id, topic, payload, created_at) overriding system value values
  ('1', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', 'budget.threshold', '{"hard": false, "scope": "key", "key_no": 1, "window_end": "2026-11-24T00:00:00.000Z", "spend_micro": 200, "budget_micro": 400, "window_start": "2026-11-23T00:00:00.000Z", "threshold_percent": 50}', '2026-11-23 07:19:00.984+00');
delete from ledger.svc_migration;
insert into ledger.svc_migration (version, name, checksum, compatible_from, applied_at) overriding system value values
  ('1', 'ledger/0001_runtime_role.sql', 'b3fbb59a465c05d0f92b5d03cb25e9dfdd9dcb5199bf692743f56dec9844e6dd', '1', '2026-11-23 07:19:00.19643+00'),
  ('2', 'ledger/0002_tables.sql', '51761f9c7bac12f41185b4f4e5785f31fd8dde84823a53031839463d762be7ee', '2', '2026-11-23 07:19:00.197846+00'),
  ('3', 'ledger/0003_windows.sql', '7ce46836bbb1db840deb2741ba10a1aeecff758be6c33fb3deceefc684a9e99b', '3', '2026-11-23 07:19:00.419006+00'),
  ('4', 'ledger/0004_hold.sql', 'ae633d7ad9545beea619061016656323f4e9a25cba2351fa3322c3ab87a29d2c', '4', '2026-11-23 07:19:00.429538+00'),
  ('5', 'ledger/0005_settle.sql', 'b40f49414f60352bcd05f0d7bf8b71198296fab42e3a33124fbeac34dc4898ec', '5', '2026-11-23 07:19:00.470266+00'),
  ('6', 'ledger/0006_release.sql', 'd40f1a721405b5100baca0ba2a715b6429493f952cc7d73921147b23d03ebc96', '6', '2026-11-23 07:19:00.483678+00'),
  ('7', 'ledger/0007_credits.sql', '793a288106f21a3cd6deee54b010cc39d9949db08caf15098deb99e3fdbd489b', '7', '2026-11-23 07:19:00.518234+00'),
  ('8', 'ledger/0008_rights.sql', '5b17dd0452d349ece23c9eb3ea1e8e41db2621827dba524718021ef25fa152d5', '8', '2026-11-23 07:19:00.553695+00');
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
  ('2', '2', '1900000000', '01a20745-c029-a76e-310b-eec529c7a3ca'),
  ('2', '4', '300', NULL);
delete from public.api_key;
insert into public.api_key (id, key_no, chain_no, org_id, project_id, environment, name, hash, hint, scopes, status, rpm, tpm, concurrency, budget_daily_micro, budget_hard, alerts, svc_version, data_policy, created_by, managed_by, rotated_from, created_at, updated_at, last_used_at, expires_at, revoked_at) overriding system value values
  ('key_01M83MBFDS1VKCVPSWGX12CY7H', '1', '1', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', 'prj_01M83MBF85EHHF3DCMAT5QZDJM', 'live', 'live', E'\\xfb5e85011fff51103a4a39e9c9f3753f354e55d93ea8b4617391926e537c43f6', 'svc-live-...lra0', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, '400', 'false', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 07:19:00.792+00', '2026-11-23 07:19:00.792+00', NULL, NULL, NULL),
  ('key_01M83MBFE521ZNQPZHJHQTWYYH', '2', '2', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', 'prj_01M83MBF85EHHF3DCMAT5QZDJM', 'test', 'sandbox', E'\\x224fc088a38eaeacc2b796d0143569cb7beab584e3709fa5648dcaf9f2fd053a', 'svc-test-...1985', '{inference,read:usage,read:credits,manage:credits,manage:keys,manage:policies}', 'active', NULL, NULL, NULL, NULL, 'true', '{50,80,100}', '2026-09-09', NULL, NULL, NULL, NULL, '2026-11-23 07:19:00.805+00', '2026-11-23 07:19:00.805+00', NULL, NULL, NULL);
delete from public.audit_chain;
delete from public.audit_entry;
delete from public.byok_change;
delete from public.byok_key;
delete from public.grant_change;
insert into public.grant_change (xid, org_id, key_id, at) overriding system value values
  ('801', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', 'key_01M83MBFDS1VKCVPSWGX12CY7H', '2026-11-23 07:19:00.795789+00'),
  ('801', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', 'key_01M83MBFE521ZNQPZHJHQTWYYH', '2026-11-23 07:19:00.806866+00');
delete from public.idempotency;
delete from public.invoice;
delete from public.invoice_counter;
delete from public.ledger_task;
insert into public.ledger_task (task_no, shard, book_id, kind, reference, content, result, applied_at, tries, next_at, fault, created_at) overriding system value values
  ('3', 'main', '2', 'credit', 'grant staff sandbox org_01M83MBF7V4PE8BSCDMSP85WQ0', '{"kind": "grant", "lot_id": "lot_01M83MBF832SAS5ZE2FDFA6RR7", "ref_id": "sandbox org_01M83MBF7V4PE8BSCDMSP85WQ0", "book_id": 2, "granted": true, "ref_type": "staff", "expires_at": null, "amount_micro_usd": 100000000}', '{"seq": 1, "lot_id": "lot_01M83MBF832SAS5ZE2FDFA6RR7"}', '2026-11-23 07:19:00.66+00', '0', '2026-11-23 07:19:00.611+00', NULL, '2026-11-23 07:19:00.611+00');
delete from public.org;
insert into public.org (id, slug, name, kind, status, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status, billing_email, billing_address, settings, data_policy, pepper, shard, live_book_id, sandbox_book_id, parent_org_id, reseller_tier_id, created_at, updated_at, closed_at, logging_off_at) overriding system value values
  ('org_01M83MBF7V4PE8BSCDMSP85WQ0', 'upgrade', 'upgrade', 'team', 'active', 'enterprise', 'US', 'USD', NULL, NULL, 'unregistered', NULL, NULL, '{}', '{"zdr": false, "redact": {"presets": [], "patterns": []}, "logging": "off", "regions": [], "no_train": false, "retention_days": 30}', E'\\x7fe8e133dcbb53b12eddb7f5c90a659cc8dfb7b2ea9d8ad01ed84c968ad17cbf', 'main', '1', '2', NULL, NULL, '2026-11-23 07:19:00.603+00', '2026-11-23 07:19:00.603+00', NULL, NULL);
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
  ('prj_01M83MBF85EHHF3DCMAT5QZDJM', '1', '2', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', 'default', 'Default', 'live', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 07:19:00.613+00', '2026-11-23 07:19:00.613+00'),
  ('prj_01M83MBF89XM45JJQP0KPDNHDX', '3', '4', 'org_01M83MBF7V4PE8BSCDMSP85WQ0', 'sandbox', 'Sandbox', 'test', 'active', NULL, 'true', '{50,80,100}', '2026-11-23 07:19:00.618+00', '2026-11-23 07:19:00.618+00');
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
  ('1', '0001_settings.sql', 'fb810edfeca8d93d3be7f5cb162b8c783705235e893197bcc09bbdba5b8d082d', '1', '2026-11-23 07:18:59.253655+00'),
  ('10', '0010_policies.sql', 'e1135f8550a5b10599dc829e3ea60983e7809b69acf36187ffd5c6a89945da7f', '10', '2026-11-23 07:18:59.794859+00'),
  ('11', '0011_workflow_starts.sql', 'e34fd690026cbe3da3df387495ccfc442b5ea62e8ac447904a28e3cdae186d54', '11', '2026-11-23 07:18:59.837034+00'),
  ('12', '0012_invoices.sql', '2e4073e002d01127ad406507a028fbe761e85443eb0770b8eaa1ba3a73e83184', '12', '2026-11-23 07:18:59.861174+00'),
  ('13', '0013_topups.sql', 'e8ec9c842a7ade391e5a38284889a2a4d18f308cf1a5aa9f97f7e52c80252c5a', '13', '2026-11-23 07:18:59.898161+00'),
  ('14', '0014_webhooks.sql', '513ecc23129a24d95407ee033db33469cf9cac73962b5af5059e53ac012a6594', '14', '2026-11-23 07:18:59.986238+00'),
  ('15', '0015_request_rows.sql', 'ae3e63bb3dd3c5eaffc7ed5f8419aba5d0987b495c5710ae8ea92a897406976b', '15', '2026-11-23 07:19:00.01298+00'),
  ('16', '0016_usage_hours.sql', '9263ac2710a95d76b9c0c833565a41eafa4f9c740db1510715a4f391f5a45492', '16', '2026-11-23 07:19:00.137523+00'),
  ('17', '0017_payloads.sql', 'c023ecd002f68dcb2483cdb924b550313ee53d4b0a23661a5c115c5fa487eb28', '17', '2026-11-23 07:19:00.148979+00'),
  ('18', '0018_provider_keys.sql', '80560ce06d66965770bb8bc0b7e2303b7754944570bfd0ab5abb85d8c75ad85e', '18', '2026-11-23 07:19:00.162475+00'),
  ('19', '0019_ledger_tasks.sql', '7432c7ed71e559bb42226160df498969113073effd54003aa49b0fff675268c0', '19', '2026-11-23 07:19:00.173068+00'),
  ('2', '0002_outbox.sql', 'e1dab9b4c406377b67333481d201f9b6f70d3cebbc44c13d503728e7f4edd3ce', '2', '2026-11-23 07:18:59.284661+00'),
  ('3', '0003_runtime_role.sql', '10b2e647041bc108c078c71a39a7c89d79ba9f109e6581992ce22b4748150920', '3', '2026-11-23 07:18:59.31413+00'),
  ('4', '0004_catalog.sql', '05ff930ff7319f1d519ce03a52c1faa5fa65f134f1d227ce2ddf523183486ae1', '4', '2026-11-23 07:18:59.461467+00'),
  ('5', '0005_organisations.sql', '6ac5d7b391edcd955a5f6ce7df92ec519ef3b1fb0676697bf2eda664e171c18b', '5', '2026-11-23 07:18:59.54596+00'),
  ('6', '0006_keys.sql', 'ff5dfa6d899be04bac41203399868e8edf2163244d1339eb8f6c0b19b26dd0f0', '6', '2026-11-23 07:18:59.579801+00'),
  ('7', '0007_idempotency.sql', '47724e65b3ae987710505345356bd5e4b7d84514d6d5dd63f55dce832bcf3286', '7', '2026-11-23 07:18:59.598054+00'),
  ('8', '0008_people.sql', 'b5d586191bc7b171e9d99f0a2e3dd8ab6431b6b3ff67dab542363f5b3c05a5af', '8', '2026-11-23 07:18:59.654722+00'),
  ('9', '0009_audit_log.sql', '402e74b5402ad1447c43526d73d2622b32921acfc04eaaa46d7229277dea8679', '9', '2026-11-23 07:18:59.778616+00');
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
select setval('ledger.lease_lease_id_seq', 1);
select setval('ledger.lot_lot_no_seq', 5);
select setval('ledger.outbox_outbox_id_seq', 1);
select setval('public.api_key_no', 2);
select setval('public.book_no', 2);
select setval('public.ledger_task_task_no_seq', 9);
select setval('public.project_no', 4);
