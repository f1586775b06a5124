// The rupee that proves a registration over rail-a goes back, whatever the rail reported of it, and when.
import type { Id } from '@svc/core/kernel/index.ts';
import {
  actOnMandate,
  createMandate,
  findMandate,
  type Mandate,
  pollMandate,
  releaseMandate,
} from '@svc/core/mandates/index.ts';
import { runRailTasks } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { type RailAEvent, startWorld } from '../topups/world.ts';

const world = await startWorld();
const { context, sim_a } = world;
const { mandates } = sim_a.store;

afterEach(() => world.expectRight());

async function begin(slug: string): Promise<{ org_id: Id<'org'>; mandate: Mandate }> {
  const { id: org_id } = await world.indian(slug);
  return { org_id, ...(await createMandate(context, { org_id, method: 'upi' })) };
}

const payAndAllow = ({ setup_ref }: Mandate) => mandates.register(sim_a.store.order(setup_ref as string));

const statusOf = async ({ id }: Mandate) => (await findMandate(world.pool, { id, org_id: null }))?.status;

/** How much of the payment went back. */
async function returnedOf({ setup_ref }: Mandate): Promise<number | undefined> {
  await runRailTasks(context);
  return sim_a.store.paymentsOf(setup_ref as string)[0]?.amount_refunded;
}

test('what proved a registration goes back although only its token was reported', async () => {
  const { mandate } = await begin('half-reported');
  payAndAllow(mandate);
  const [confirmed] = sim_a.webhooks.events.filter(({ body }) =>
    JSON.stringify(body).includes('token.confirmed'),
  );
  await world.deliverA(confirmed as unknown as RailAEvent);
  expect(await statusOf(mandate)).toBe('active');
  expect(await returnedOf(mandate)).toBe(0);
  expect(await pollMandate(context, { mandate_id: mandate.id })).toMatchObject({ setup_open: false });
  expect(await returnedOf(mandate)).toBe(100);
});

test('who registers after the end gets back what proved it, and the leave is taken back', async () => {
  const { org_id, mandate } = await begin('too-late');
  const named = { mandate_id: mandate.id };
  await actOnMandate(context, { org_id, id: mandate.id, act: 'cancel' });
  await releaseMandate(context, named);
  expect(await pollMandate(context, named)).toMatchObject({ to_release: false, setup_open: true });
  const token = payAndAllow(mandate);
  const paid = await pollMandate(context, named);
  expect(paid).toMatchObject({ status: 'cancelled', to_release: true, setup_open: false });
  await releaseMandate(context, named);
  expect(token.recurring_details.status).toBe('cancelled');
  expect(await returnedOf(mandate)).toBe(100);
});

test('what proved a registration goes back although its token cannot be read', async () => {
  const { mandate } = await begin('forgotten');
  mandates.tokens.delete(payAndAllow(mandate).id);
  expect(await pollMandate(context, { mandate_id: mandate.id })).toMatchObject({ setup_open: false });
  expect(await statusOf(mandate)).toBe('pending');
  expect(await returnedOf(mandate)).toBe(100);
});
