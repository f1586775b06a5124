// Every reason that stops an automatic top-up: each is brought about, leaves its event, and stands in the view.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSetting } from '@svc/core/db/index.ts';
import type { Context } from '@svc/core/kernel/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import { takeShipped } from '@svc/core/legal/index.ts';
import {
  actOnMandate,
  announceAttempt,
  chargeAttempt,
  endMandates,
  lookAtBalances,
  readAutoTopup,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import { type BlockReason, blockReasons } from '@svc/core/mandates/types.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { moneyIn } from '@svc/core/topups/index.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { root } from '../suite/parts.ts';
import { type Payer, startWorld } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DOLLAR = 1_000_000;
const world = await startWorld();
const { context, sim } = world;
const doc = readFileSync(join(root, 'docs/money/auto-topup.md'), 'utf8');
await takeShipped(context);
const catalog = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');

afterEach(async () => {
  sim.turn({ api: [] });
  await world.rows(`delete from settings where name = 'legal'`);
  await world.expectRight();
});

/** The same process with other rails. */
function withRail(change: object | null): Context {
  const money_in = moneyIn(context);
  const rail = change === null ? null : { ...money_in.rails['rail-b'], ...change };
  const rails = { ...money_in.rails, 'rail-b': rail };
  // The class of contexts, which the type of operations leaves out.
  return (context as Context & { with(change: object): Context }).with({
    services: { money_in: { ...money_in, rails } },
  });
}

async function debit({ org }: Payer): Promise<void> {
  await world.spend(org, (await world.available(org)) - DOLLAR);
  expect(await world.look(org)).toBe(1);
  expect(await world.carryOut(org)).toMatchObject({ status: 'succeeded' });
}

async function dispute(): Promise<void> {
  const { payment_intent } = [...sim.store.sessions.values()].findLast(
    ({ payment_intent }) => payment_intent !== null,
  ) as { payment_intent: string };
  const from = sim.webhooks.events.length;
  sim.store.disputing.open(payment_intent);
  for (const event of sim.webhooks.events.slice(from)) await world.deliver(event);
}

const change = (text: string, value: unknown, { org }: Payer) =>
  world.rows(text, [org.id, value]).then(() => {});

/** How each comes about. */
const causes: Readonly<Record<BlockReason, (payer: Payer) => Promise<void>>> = {
  // It was registered in another currency than the organization pays in now.
  no_active_mandate: (payer) => change('update mandate set currency = $2 where org_id = $1', 'EUR', payer),
  mandate_paused: async ({ org, mandate }) => {
    await actOnMandate(context, { org_id: org.id, id: mandate.id, act: 'pause' });
  },
  dispute_open: dispute,
  org_inactive: async ({ org }) => {
    await changeTerms(context, org.id, { status: 'suspended' });
  },
  too_soon: debit,
  daily_limit: async (payer) => {
    // At noon, so that all five are of one day.
    world.pass(DAY + DAY / 2 - (now().getTime() % DAY));
    for (let n = 0; n < 5; n++) {
      await debit(payer);
      world.pass(11 * MINUTE);
    }
  },
  amount_above_cap: (payer) =>
    change('update mandate set max_amount_minor = $2 where org_id = $1', 100, payer),
  amount_too_small: (payer) => change('update auto_topup set amount_minor = $2 where org_id = $1', 1, payer),
  price_unavailable: async () => {},
  // Terms have been waiting to be accepted for longer than two weeks.
  legal_acceptance_required: async () => {
    const at = new Date(now().getTime());
    const value = { grievance_officer: 'Officer', dpo_email: 'dpo@svc.example', enforced_at: at };
    await writeSetting(world.pool, { name: 'legal', value, at });
    world.pass(15 * DAY);
  },
  rail_unavailable: async () => {},
};

/** What is set otherwise in the process that looks at the balance: real money and nobody who sells, and no rail at all. */
const processes: Readonly<Partial<Record<BlockReason, Context>>> = {
  price_unavailable: withRail({ live: true }),
  rail_unavailable: withRail(null),
};

test.each(blockReasons)(
  'blocked by %s: one event, the reason in the view and in its last attempt, and in the documents',
  async (reason) => {
    const payer = await world.payer(reason.replaceAll('_', '-'));
    const { org } = payer;
    await causes[reason](payer);
    const as = processes[reason] ?? context;
    await world.spend(org, (await world.available(org)) - DOLLAR / 2);
    for (let looks = 0; looks < 3; looks++) {
      expect(await lookAtBalances(as)).toBe(0);
      // Judged again after five minutes; what time ends is not over by then.
      if (looks < 2) world.pass(reason === 'too_soon' ? MINUTE : 5 * MINUTE + 1);
    }
    const blocked = await world.facts(org, 'auto_topup.blocked');
    expect(blocked.map(({ payload }) => payload['reason'])).toEqual([reason]);
    const view = await readAutoTopup(context, org.id);
    expect(view.next).toMatchObject({ step: 'blocked', reason });
    expect(view.last_attempt).toMatchObject({ status: 'blocked', reason, topup_id: null });
    expect(doc).toContain(`\n| \`${reason}\` |`);
  },
);

describe('a debit that fails', () => {
  const fails: Readonly<Record<string, (payer: Payer) => Promise<void>>> = {
    insufficient_funds: async ({ org, mandate }) => {
      sim.store.mandates.turn(mandate.setup_ref as string, 'insufficient_funds');
      await world.carryOut(org);
    },
    // The rail was away for a day after it was asked.
    no_outcome: async ({ org }) => {
      const name = await world.last(org);
      await announceAttempt(context, name);
      sim.turn({ api: [{ match: 'POST /v1/payment_intents', mode: 'error', status: 503, times: 3 }] });
      await chargeAttempt(context, name).catch(() => {});
      world.pass(DAY);
      await chargeAttempt(context, name);
    },
    notice_failed: async ({ org }) => {
      const { org_id, attempt_no } = await world.last(org);
      await announceAttempt(context, { org_id, attempt_no });
      await world.rows(
        `update auto_topup_attempt set notified_at = null, due_at = null, notice_failed = true where org_id = $1`,
        [org_id],
      );
      await chargeAttempt(context, { org_id, attempt_no });
    },
    notice_not_delivered: async ({ org }) => {
      const { org_id, attempt_no } = await world.last(org);
      await announceAttempt(context, { org_id, attempt_no });
      await world.rows('update auto_topup_attempt set notified_at = null, due_at = null where org_id = $1', [
        org_id,
      ]);
      world.pass(73 * HOUR);
      await chargeAttempt(context, { org_id, attempt_no });
    },
  };

  test.each(Object.keys(fails))('by %s leaves one event and its reason in the last attempt', async (code) => {
    const payer = await world.payer(`fails-${code.replaceAll('_', '-')}`);
    const { org } = payer;
    await world.spend(org, (await world.available(org)) - DOLLAR);
    expect(await world.look(org)).toBe(1);
    await fails[code]?.(payer);
    const failed = await world.facts(org, 'topup.failed');
    expect(failed.map(({ payload }) => payload['failure_code'])).toEqual([code]);
    const view = await readAutoTopup(context, org.id);
    expect(view.last_attempt).toMatchObject({ status: 'failed', reason: code });
    expect(view.last_attempt?.message).not.toBe('');
  });
});

describe('automatic top-up that the service switches off', () => {
  const ends: Readonly<Record<string, (payer: Payer) => Promise<void>>> = {
    three_failures: async ({ org, mandate }) => {
      sim.store.mandates.turn(mandate.setup_ref as string, 'insufficient_funds');
      await world.spend(org, (await world.available(org)) - DOLLAR);
      for (let n = 0; n < 3; n++) {
        expect(await world.look(org)).toBe(1);
        await world.carryOut(org);
        world.pass(25 * HOUR);
      }
    },
    mandate_cancelled: async ({ org, mandate }) => {
      await actOnMandate(context, { org_id: org.id, id: mandate.id, act: 'cancel' });
    },
    mandate_expired: async ({ mandate }) => {
      await world.rows('update mandate set ends_at = $2 where id = $1', [mandate.id, now()]);
      world.pass(MINUTE);
      await endMandates(context);
    },
  };

  test.each(Object.keys(ends))('by %s leaves one event, and the reason in its view', async (reason) => {
    const payer = await world.payer(`off-${reason.replaceAll('_', '-')}`);
    const { org } = payer;
    await ends[reason]?.(payer);
    const disabled = await world.facts(org, 'auto_topup.disabled');
    expect(disabled.map(({ payload }) => payload['reason'])).toEqual([reason]);
    const { next, config } = await readAutoTopup(context, org.id);
    expect([next.step, next.reason, config.enabled]).toEqual(['off', reason, false]);
    await expect(setAutoTopup(context, { org_id: org.id, ...config, enabled: true })).rejects.toMatchObject({
      code: 'state_conflict',
    });
  });
});

test('the events are documented', () => {
  for (const topic of ['auto_topup.blocked', 'auto_topup.disabled', 'topup.failed'])
    expect(catalog).toContain(topic);
});
