// Real events from their source to webhooks: payments, and budgets that the ledger found used up.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { microUsd, newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { openLedger, setBudget } from '@svc/core/ledger/index.ts';
import { findProject } from '@svc/core/orgs/index.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { provision } from '../support/provision.ts';
import { events, startWorld as startMoneyIn } from '../topups/world.ts';
import { startReceiver } from './receiver.ts';
import { startWorld } from './world.ts';

const money = await startMoneyIn();
const world = await startWorld({ url: money.url });

test('a top-up that was paid reaches the receiver with its credits and invoice', async () => {
  const org = await money.org('payer');
  const tenant = await world.tenant('payer', org.id);
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url, ['topup.completed', 'invoice.issued']);
  const topup = await money.topup(org);
  const event = events.completed(topup);
  const { invoice } = await money.deliver(event);
  await money.deliver(event);
  await world.drain();
  const reported = receiver.verified(hook.secret);
  expect(reported.map(({ type }) => type).sort()).toEqual(['invoice.issued', 'topup.completed']);
  expect(reported.find(({ type }) => type === 'topup.completed')?.data).toEqual({
    ...{ topup_id: topup.id, credits_micro: 25_000_000, currency: 'USD', amount_minor: 2_500, tax_minor: 0 },
    ...{ total_minor: 2_500, method: 'card', source: 'checkout' },
    ...{ invoice_id: (await money.read(topup.id)).invoice_id, invoice_number: invoice },
  });
});

test('budget events name key and project by the ids that callers know', async () => {
  const made = await provision({ database_url: world.url, slug: 'budgets', live_micro_usd: 1_000_000 });
  const project = await findProject(world.pool, { org_id: made.org_id, id: made.project_id });
  const tenant = await world.tenant('budgets', made.org_id);
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url, ['budget.exhausted']);
  const journal_dir = mkdtempSync(join(tmpdir(), 'svc-journal-'));
  const ledger = await openLedger({ url: world.url, process_name: 'test', journal_dir, log: silentLog });
  atFileEnd(async () => {
    await ledger.close();
    rmSync(journal_dir, { recursive: true, force: true });
  });
  const book_id = made.live_book_id;
  const key_no = made.keys[0]!.key_no;
  const project_no = project!.live_no;
  const refuse = () =>
    ledger.hold({ book_id, key_no, project_no, request_id: newRequestId(), amount_micro_usd: microUsd(10) });
  const cap = { book_id, cap_micro_usd: microUsd(5), hard: true };
  await setBudget(world.pool, { ...cap, subject: { project_no } });
  expect(await refuse()).toMatchObject({ status: 'budget_exhausted', scope: 'project' });
  await setBudget(world.pool, { ...cap, subject: { key_no } });
  expect(await refuse()).toMatchObject({ status: 'budget_exhausted', scope: 'key' });
  await world.drain();
  const reported = receiver.verified(hook.secret).map(({ data }) => data);
  const window = { budget_micro: 5, spend_micro: 0, hard: true, resumes_at: expect.any(String) };
  const ends = { window_start: expect.any(String), window_end: expect.any(String) };
  expect(reported.sort((a, b) => String(a['scope']).localeCompare(String(b['scope'])))).toEqual([
    { scope: 'key', key_id: made.keys[0]!.key_id, project_id: made.project_id, ...window, ...ends },
    { scope: 'project', key_id: null, project_id: made.project_id, ...window, ...ends },
  ]);
});
