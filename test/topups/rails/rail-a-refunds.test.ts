// Refunds and disputes at rail-a: what it is asked, to the letter, and what its answers are taken for.
import { expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell } = await startAnsweringRail('rail-a');

const named = { refund_id: 'rfd_1', payment_ref: 'pay_1' } as const;
const refund = {
  ...{ id: 'rfnd_1', payment_id: 'pay_1', amount: 700, currency: 'INR', status: 'processed' },
  notes: { refund_id: 'rfd_1' },
};
const fact = {
  ...{ kind: 'refund', ref: 'rfnd_1', payment_ref: 'pay_1', refund_id: 'rfd_1', amount_minor: 700 },
  ...{ currency: 'INR', status: 'refunded', failure_code: null },
};
const little = { name: 'RailError', declined: false, message: expect.stringContaining('says too little') };

test('a refund is asked for under its own id, with our names for it', async () => {
  tell({ body: refund });
  const request = { ...named, topup_id: 'tup_1', org_id: 'org_1', total_minor: 700 } as const;
  expect(await rail.createRefund(request)).toEqual(fact);
  expect(asked).toMatchObject([
    { what: 'POST /v1/payments/pay_1/refund', headers: { 'x-refund-idempotency': 'rfd_1' } },
  ]);
  expect(asked[0]?.body).toEqual({
    ...{ amount: 700, speed: 'normal', receipt: 'rfd_1' },
    notes: { refund_id: 'rfd_1', topup_id: 'tup_1', org_id: 'org_1' },
  });
});

test('a refund is found among those of its payment by our name', async () => {
  const others = [
    { ...refund, id: 'rfnd_8', notes: [] },
    { ...refund, id: 'rfnd_9', notes: { refund_id: 'rfd_9' } },
  ];
  tell({ body: { items: [...others, refund] } }, { body: { items: others } });
  expect(await rail.findRefund(named)).toEqual(fact);
  expect(asked.map(({ what }) => what)).toEqual(['GET /v1/payments/pay_1/refunds?count=100']);
  expect(await rail.findRefund(named)).toBeNull();
});

test('a refund is read by the name that the rail gave it', async () => {
  tell({ body: refund });
  expect(await rail.readRefund('rfnd_1')).toEqual(fact);
  expect(asked.map(({ what }) => what)).toEqual(['GET /v1/refunds/rfnd_1']);
});

test('an answer without what a booking needs is no refund', async () => {
  tell({ body: { ...refund, amount: null } }, { body: [refund] });
  await expect(rail.readRefund('rfnd_1')).rejects.toMatchObject(little);
  await expect(rail.readRefund('rfnd_1')).rejects.toMatchObject(little);
});

test('a dispute is read by the name that the rail gave it; one that says too little is none', async () => {
  const dispute = {
    ...{ id: 'disp_1', payment_id: 'pay_1', amount: 2_500, currency: 'INR', status: 'won' },
    ...{ phase: 'chargeback', reason_code: 'fraud' },
  };
  tell({ body: dispute }, { body: { ...dispute, status: 'of_tomorrow' } }, { body: [dispute] });
  expect(await rail.readDispute('disp_1')).toEqual({
    ...{ kind: 'dispute', ref: 'disp_1', payment_ref: 'pay_1', amount_minor: 2_500, currency: 'INR' },
    ...{ status: 'won', phase: 'chargeback', reason: 'fraud', respond_by: null },
  });
  expect(asked.map(({ what }) => what)).toEqual(['GET /v1/disputes/disp_1']);
  await expect(rail.readDispute('disp_1')).rejects.toMatchObject(little);
  await expect(rail.readDispute('disp_1')).rejects.toMatchObject(little);
});
