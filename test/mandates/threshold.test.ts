// When a balance is below the threshold of automatic top-up.
import { newRequestId } from '@svc/core/kernel/index.ts';
import {
  holdOf,
  journalDirectory,
  openTestLedger,
  PATIENT,
  settleOf,
} from '@svc/core/ledger/testing/testing.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startWorld } from './world.ts';

const DOLLAR = 1_000_000;
const world = await startWorld();
const { dir, remove } = journalDirectory();
const ledger = await openTestLedger(world.url, dir, PATIENT);
atFileEnd(async () => {
  await ledger.close();
  remove();
});

test('credit that running calls hold counts as there: what they will not use comes back', async () => {
  const { org } = await world.payer('holds');
  // The subjects of a call are known after a first one.
  await world.spend(org, DOLLAR);
  const book_id = org.live_book_id;
  const subject = { book_id, key_no: book_id * 1_000, project_no: book_id * 1_000 };
  const running = holdOf(subject, 20 * DOLLAR, newRequestId());
  expect(await ledger.hold(running)).toMatchObject({ status: 'ok' });
  expect([await world.available(org), await world.look(org)]).toEqual([4 * DOLLAR, 0]);
  await ledger.settle(settleOf(subject, running.request_id, 20 * DOLLAR));
  expect([await world.available(org), await world.look(org)]).toEqual([4 * DOLLAR, 1]);
});
