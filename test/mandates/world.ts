// The world of money in, with a ledger to spend in, cards that are kept, and the steps of attempts done by hand.
import type { Id } from '@svc/core/kernel/index.ts';
import { microUsd, newRequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { readBalance, setBudget } from '@svc/core/ledger/index.ts';
import {
  holdOf,
  journalDirectory,
  openTestLedger,
  PATIENT,
  settleOf,
} from '@svc/core/ledger/testing/testing.ts';
import {
  type Attempt,
  announceAttempt,
  chargeAttempt,
  createMandate,
  findMandate,
  lastAttempt,
  lookAtBalances,
  type Mandate,
  pollMandate,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import type { CardFate } from '../sim/rails/mandates.ts';
import { atFileEnd } from '../support/ends.ts';
import { events, type World as MoneyWorld, startWorld as startMoneyIn } from '../topups/world.ts';

export interface Payer {
  readonly org: Org;
  readonly mandate: Mandate;
}

export interface World extends MoneyWorld {
  /** A mandate whose registration was finished at the rail. */
  register(org: Org, fate?: CardFate): Promise<Mandate>;
  /**
   * An organization with credit for `amount_minor`, and automatic top-up of 25 dollars below 10; the bank will say `fate`.
   */
  payer(slug: string, fate?: CardFate, amount_minor?: number): Promise<Payer>;
  /** A call that costs `micro_usd`; false where the balance does not cover it. */
  spend(org: Org, micro_usd: number): Promise<boolean>;
  available(org: Org): Promise<number>;
  /** Looks at all balances; how many attempts of `org` began. */
  look(org: Org): Promise<number>;
  /** Does what the workflow does with the last attempt: notice, debit. */
  carryOut(org: Org): Promise<Attempt>;
  last(org: Org): Promise<Attempt>;
  mandate(id: Id<'mandate'>): Promise<Mandate>;
  /** Events of an organization that were written, oldest first. */
  facts(org: Org, topic?: string): Promise<{ topic: string; payload: Record<string, unknown> }[]>;
  /** Names of mails that were asked for about an organization. */
  mails(org: Org): Promise<string[]>;
  /** Moves the clock of everything here. */
  pass(ms: number): void;
}

/** Starts everything; it ends after the file. */
export async function startWorld(): Promise<World> {
  const money = await startMoneyIn();
  const { context, sim, pool } = money;
  const { dir, remove } = journalDirectory();
  const ledger = await openTestLedger(money.url, dir, PATIENT);
  let shift_ms = 0;
  atFileEnd(async () => {
    shiftClock(0);
    await ledger.close();
    remove();
  });
  const shard = () => pool.shards.at('main');
  const subjects = new Set<number>();
  const mandate = async (id: Id<'mandate'>) => (await findMandate(pool, { id, org_id: null })) as Mandate;
  const last = async (org: Org) => (await lastAttempt(pool, org.id)) as Attempt;
  const register: World['register'] = async (org, fate = 'ok') => {
    const { mandate: begun } = await createMandate(context, { org_id: org.id, method: 'card' });
    sim.store.mandates.save(begun.setup_ref as string, fate);
    await pollMandate(context, { mandate_id: begun.id });
    return mandate(begun.id);
  };
  return {
    ...money,
    register,
    mandate,
    last,
    async payer(slug, fate = 'ok', amount_minor = 2_500) {
      const org = await money.org(slug);
      const topup = await money.topup(org, amount_minor);
      const { payment_intent } = sim.act(topup.gateway_ref as string, 'pay');
      await money.deliver(events.completed(topup, { payment: payment_intent as string }));
      const kept = await register(org, fate);
      const config = { enabled: true, threshold_micro: 10_000_000, amount_minor: 2_500 };
      await setAutoTopup(context, { org_id: org.id, ...config });
      return { org, mandate: kept };
    },
    async spend(org, micro_usd) {
      const book_id = org.live_book_id;
      const subject = { book_id, key_no: book_id * 1_000, project_no: book_id * 1_000 };
      const { key_no, project_no } = subject;
      if (!subjects.has(book_id)) {
        subjects.add(book_id);
        for (const of of [{ key_no }, { project_no }])
          await setBudget(shard(), { book_id, subject: of, cap_micro_usd: null });
      }
      const hold = holdOf(subject, micro_usd, newRequestId());
      if ((await ledger.hold(hold)).status !== 'ok') return false;
      await ledger.settle(settleOf(subject, hold.request_id, microUsd(micro_usd)));
      return true;
    },
    available: async (org) => (await readBalance(shard(), org.live_book_id)).available_micro_usd,
    async look(org) {
      const before = (await lastAttempt(pool, org.id))?.attempt_no ?? 0;
      await lookAtBalances(context);
      return ((await lastAttempt(pool, org.id))?.attempt_no ?? 0) - before;
    },
    async carryOut(org) {
      const { org_id, attempt_no } = await last(org);
      await announceAttempt(context, { org_id, attempt_no });
      await chargeAttempt(context, { org_id, attempt_no });
      return last(org);
    },
    facts: (org, topic) =>
      money.rows(
        `select topic, payload from (
           select topic, payload, created_at, org_id from ledger.outbox union all
           select topic, payload, created_at, org_id from outbox) o
          where org_id = $1 and ($2::text is null or topic = $2) order by created_at`,
        [org.id, topic ?? null],
      ),
    mails: async (org) =>
      (
        await money.rows<{ template: string }>(
          'select template from mail where org_id = $1 order by created_at, id',
          [org.id],
        )
      ).map(({ template }) => template),
    pass(ms) {
      shift_ms += ms;
      shiftClock(shift_ms);
    },
  };
}
