// The most of one debit: what each way of being charged allows, and that the tax counts into it.
import type { Id } from '@svc/core/kernel/index.ts';
import { createMandate, findMandate, readAutoTopup, setAutoTopup } from '@svc/core/mandates/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import type { MandateMethod } from '@svc/core/topups/index.ts';
import { expect, test } from 'vitest';
import { type RailAEvent, startWorld } from '../topups/world.ts';

const world = await startWorld();
const { context, sim_a } = world;
const { store } = sim_a;
let delivered = 0;

async function register(org: Org, method: MandateMethod) {
  const { mandate } = await createMandate(context, { org_id: org.id, method });
  store.mandates.register(store.order(mandate.setup_ref as string));
  for (const event of sim_a.webhooks.events.slice(delivered)) {
    delivered++;
    await world.deliverA(event as unknown as RailAEvent);
  }
  return findMandate(world.pool, { id: mandate.id as Id<'mandate'>, org_id: null });
}

test.each([
  ['upi', 1_500_000, 24],
  ['emandate', 10_000_000, 24],
  // The hub of the cards refuses a debit sooner than 36 hours after its notice.
  ['card', 1_500_000, 37],
] as const)(
  'in India %s debits at most %i minor units at once, after %i hours',
  async (method, cap, hours) => {
    const org = await world.indian(`cap-of-${method}`);
    expect(await register(org, method)).toMatchObject({
      ...{ status: 'active', max_amount_minor: cap, notify_hours: hours, currency: 'INR' },
    });
    expect(await readAutoTopup(context, org.id)).toMatchObject({ cap_minor: cap, notify_hours: hours });
  },
);

test('elsewhere a card debits at most 500,000 minor units, without a notice', async () => {
  const { id } = await world.org('cap-abroad');
  expect(await readAutoTopup(context, id)).toMatchObject({ cap_minor: 500_000, notify_hours: 0 });
});

test('the tax counts: of 1,500,000 at 18 % between states 1,271,186 is the most without it', async () => {
  const org = await world.indian('taxed', '27');
  await register(org, 'upi');
  const set = (amount_minor: number) =>
    setAutoTopup(context, { org_id: org.id, enabled: true, threshold_micro: 1_000_000, amount_minor });
  await expect(set(1_271_187)).rejects.toMatchObject({
    ...{ code: 'amount_above_cap', status: 400, param: 'amount_minor' },
    details: { cap_minor: 1_500_000, total_minor: 1_500_001 },
  });
  expect((await readAutoTopup(context, org.id)).config.enabled).toBe(false);
  await set(1_271_186);
  expect(await readAutoTopup(context, org.id)).toMatchObject({
    config: { enabled: true, amount_minor: 1_271_186 },
    next: { total_minor: 1_499_999 },
  });
});
