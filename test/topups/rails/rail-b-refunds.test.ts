// Refunds and disputes at rail-b: what it is asked, to the letter, and what its answers are taken for.
import { expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell } = await startAnsweringRail('rail-b');

const named = { refund_id: 'rfd_1', payment_ref: 'pi_1' } as const;
const refund = {
  ...{ id: 're_1', payment_intent: 'pi_1', amount: 700, currency: 'usd', status: 'succeeded' },
  metadata: { refund_id: 'rfd_1' },
};
const fact = {
  ...{ kind: 'refund', ref: 're_1', payment_ref: 'pi_1', refund_id: 'rfd_1', amount_minor: 700 },
  ...{ currency: 'USD', status: 'refunded', failure_code: null },
};
const little = { name: 'RailError', declined: false, message: expect.stringContaining('says too little') };

test('a refund is asked for under its own id, with our names for it', async () => {
  tell({ body: refund });
  const request = { ...named, topup_id: 'tup_1', org_id: 'org_1', total_minor: 700 } as const;
  expect(await rail.createRefund(request)).toEqual(fact);
  expect(asked).toMatchObject([{ what: 'POST /v1/refunds', headers: { 'idempotency-key': 'rfd_1' } }]);
  expect(asked[0]?.body).toEqual({
    ...{ payment_intent: 'pi_1', amount: '700', 'metadata[refund_id]': 'rfd_1' },
    ...{ 'metadata[topup_id]': 'tup_1', 'metadata[org_id]': 'org_1' },
  });
});

test('a refund is found among those of its payment, on whichever page it is', async () => {
  const others = [
    { ...refund, id: 're_8', metadata: null },
    { ...refund, id: 're_9', metadata: { refund_id: 'rfd_9' } },
  ];
  tell({ body: { data: others, has_more: true } }, { body: { data: [refund], has_more: false } });
  expect(await rail.findRefund(named)).toEqual(fact);
  expect(asked.map(({ what }) => what)).toEqual([
    'GET /v1/refunds?payment_intent=pi_1&limit=100',
    'GET /v1/refunds?payment_intent=pi_1&limit=100&starting_after=re_9',
  ]);
  tell({ body: { data: others, has_more: false } });
  expect(await rail.findRefund(named)).toBeNull();
});

test('a refund is read by the name that the rail gave it', async () => {
  tell({ body: refund });
  expect(await rail.readRefund('re_1')).toEqual(fact);
  expect(asked.map(({ what }) => what)).toEqual(['GET /v1/refunds/re_1']);
});

test('an answer without what a booking needs is no refund', async () => {
  tell({ body: { ...refund, amount: null } });
  await expect(rail.readRefund('re_1')).rejects.toMatchObject(little);
});

test('a dispute is read by the name that the rail gave it; one that says too little is none', async () => {
  const dispute = {
    ...{ id: 'dp_1', payment_intent: 'pi_1', amount: 2_500, currency: 'usd', status: 'lost' },
    reason: 'fraudulent',
  };
  tell({ body: dispute }, { body: { ...dispute, status: 'of_tomorrow' } });
  expect(await rail.readDispute('dp_1')).toEqual({
    ...{ kind: 'dispute', ref: 'dp_1', payment_ref: 'pi_1', amount_minor: 2_500, currency: 'USD' },
    ...{ status: 'lost', phase: 'chargeback', reason: 'fraudulent', respond_by: null },
  });
  expect(asked.map(({ what }) => what)).toEqual(['GET /v1/disputes/dp_1']);
  await expect(rail.readDispute('dp_1')).rejects.toMatchObject(little);
});
