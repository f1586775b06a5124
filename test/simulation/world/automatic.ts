// Automatic top-ups, by card or by UPI after a notice: calls bring a balance below its threshold, the leader's job looks at
// balances, perhaps two leaders at once, and the steps of the workflow follow, repeated as Temporal repeats them, some by two
// workers at once.
import type { Context, Id } from '@svc/core/kernel/index.ts';
import { actOnMandate, lookAtBalances, skipAttempt } from '@svc/core/mandates/index.ts';
import {
  type AttemptReport,
  type AutoTopupActivities,
  autoTopupActivities,
} from '@svc/workflows/auto-top-up/activities.ts';
import { nextStep } from '@svc/workflows/auto-top-up/schedule.ts';
import { topUpActivities } from '@svc/workflows/top-up/activities.ts';
import { DATABASE_URL } from '../engine/database.ts';
import type { Loop } from '../engine/loop.ts';
import { insist, type Payments, pause, TRIES, type Within } from './payments.ts';
import type { Planned } from './plan.ts';
import type { Order, RailBooks } from './rails.ts';
import { withClient } from './verdict.ts';

/** Of so many seeds one debits a card, and one UPI; the runs of the others stay what they were without. */
const EACH = 7;
const WHO = [3, 5];
const CALLS_EACH = 3;
const STEPS_MAX = 60;

/** Who has it switched on. */
export interface AutomaticOrg {
  readonly org_id: Id<'org'>;
  readonly mandate_id: Id<'mandate'>;
  /** Secret of a key. */
  readonly key: string;
  /** Its rail gives notice before each debit. */
  readonly is_announced: boolean;
}

export interface AutomaticParts {
  readonly loop: Loop;
  readonly orgs: readonly [AutomaticOrg, AutomaticOrg];
  readonly books: RailBooks;
  readonly payments: Payments;
  readonly inGateway: Within;
  readonly inWorker: Within;
}

type Open = Pick<AttemptRow, 'attempt_no' | 'topup_id'>;

export class Automatic {
  readonly #parts: AutomaticParts;
  /** Who takes part; null where nobody does. */
  readonly #org: AutomaticOrg | null;
  readonly #reports: Promise<unknown>[] = [];
  /** Of the open attempt: when it was last asked for at the rail, and whether it was put before the staff. */
  #done_ms = -1;
  #is_reported = false;
  /** A debit was begun, and its step has not ended: it is repeated until it has. */
  #is_charging = false;

  constructor(parts: AutomaticParts) {
    this.#parts = parts;
    const { orgs, loop, books } = parts;
    this.#org = orgs[WHO.indexOf(loop.seed % EACH)] ?? null;
    books.debits.taken = (order) => void this.#reports.push(this.#report(order));
    books.announced.onEvent = (callback, paid) => {
      const { payments } = parts;
      if (paid === null) this.#reports.push(payments.deliver('rail-a', callback));
      else this.#reports.push(payments.report(paid, paid.payments.at(-1) as string, callback));
    };
  }

  /** What calls the organization makes: some of those that were planned for others. */
  share(calls: readonly Planned[]): readonly Planned[] {
    if (this.#org === null) return calls;
    const { key } = this.#org;
    return calls.map(({ call, at_ms }) => {
      const is_its = call.no % CALLS_EACH === 0 && call.habit !== 'retries' && call.model !== 'sim/expensive';
      return { call: is_its ? { ...call, key } : call, at_ms };
    });
  }

  async all(): Promise<void> {
    const org = this.#org;
    if (org === null) return;
    const { draw } = this.#parts.loop;
    for (let looks = draw.int(2, 6); looks > 0; looks--) {
      await pause(draw.unit() * 1_200);
      await Promise.all([this.#look(1), ...(draw.unit() < 0.3 ? [this.#look(1)] : [])]);
      if (draw.unit() < 0.15) await this.#intervene(org);
      if (draw.unit() < 0.9) await this.#step(org, 1, false);
    }
  }

  #look(tries: number): Promise<unknown> {
    const look = async (context: Context) => ({ begun: await lookAtBalances(context) });
    return insist(this.#parts.inWorker, look, tries);
  }

  /** A person skips the debit, or pauses the mandate and resumes it; or its payer does so at his bank. */
  async #intervene({ org_id, mandate_id: id, is_announced }: AutomaticOrg): Promise<void> {
    const { loop, inGateway, books } = this.#parts;
    if (is_announced && loop.draw.unit() < 0.4) return books.announced.turn();
    const open = await this.#open();
    const tried = (work: (context: Context) => Promise<unknown>) =>
      inGateway((context) => context.transaction(work)).catch(() => null);
    if (open != null && loop.draw.unit() < 0.5)
      await tried((context) => skipAttempt(context, { topup_id: open.topup_id, org_id }));
    else
      for (const act of ['pause', 'resume'] as const)
        await tried((context) => actOnMandate(context, { org_id, id, act }));
  }

  /** An event of the rail; the answer to the debit may be on its way, or lost. */
  #report(order: Order): Promise<void> {
    const payment = order.payments.at(-1) as string;
    return this.#parts.payments.report(order, payment, this.#parts.books.wordsOfDebit(order, payment));
  }

  /** The attempt that is open; null where there is none, undefined where nobody can say. */
  async #open(): Promise<Open | null | undefined> {
    const text = 'select attempt_no, topup_id from auto_topup_attempt where ended_at is null';
    const look = async ({ db }: Context) => ({
      rows: (await db.query<Open>({ name: 'simulation.open', text, values: [] })).rows,
    });
    const found = await insist(this.#parts.inWorker, look, 1);
    return found === null ? undefined : (found.rows[0] ?? null);
  }

  /** The step that is due of the attempt that is open, or will be where time `passes`; false where none is open. */
  async #step({ org_id }: AutomaticOrg, tries: number, passes: boolean): Promise<boolean> {
    const { loop, inWorker } = this.#parts;
    const open = await this.#open();
    if (open === undefined) return true;
    if (open === null) {
      this.#done_ms = -1;
      this.#is_reported = this.#is_charging = false;
      return false;
    }
    const args = { org_id, attempt_no: open.attempt_no };
    const does = async (context: Context): Promise<AttemptReport> => {
      const steps = autoTopupActivities(() => context);
      const report = await steps.readAttempt(args);
      if (this.#is_charging) return this.#charge(steps, args);
      const next = nextStep(report, this.#done_ms, this.#is_reported);
      const wait_ms = next.due_ms - report.age_ms;
      if (wait_ms > 0 && !passes) return report;
      if (wait_ms > 0) loop.now_ms += wait_ms;
      if (next.do === 'announce') return steps.announceAttempt(args);
      if (next.do === 'charge') return this.#charge(steps, args);
      if (next.do === 'report') {
        this.#is_reported = true;
        return steps.reportAttempt(args);
      }
      this.#done_ms = next.due_ms;
      await topUpActivities(() => context).pollTopup({ topup_id: report.topup_id });
      return steps.endAttempt(args);
    };
    const twice = loop.draw.unit() < 0.3;
    await Promise.all([insist(inWorker, does, tries), ...(twice ? [insist(inWorker, does, 1)] : [])]);
    return true;
  }

  async #charge(
    steps: AutoTopupActivities,
    args: Parameters<AutoTopupActivities['chargeAttempt']>[0],
  ): Promise<AttemptReport> {
    this.#is_charging = true;
    const report = await steps.chargeAttempt(args);
    this.#is_charging = false;
    return report;
  }

  /** A last look, and whatever has begun comes to its end. */
  async end(): Promise<void> {
    const org = this.#org;
    if (org === null) return;
    await this.#look(TRIES);
    const { draw } = this.#parts.loop;
    for (let steps = STEPS_MAX; steps > 0 && (await this.#step(org, TRIES, true)); steps--)
      if (org.is_announced && draw.unit() < 0.2) await this.#intervene(org);
    await Promise.all(this.#reports);
  }

  /** Compares attempts with the debits that the rail has. */
  async judge(): Promise<string[]> {
    return this.#org === null ? [] : judgeAttempts(this.#parts.books);
  }
}

interface AttemptRow {
  readonly attempt_no: number;
  readonly topup_id: Id<'topup'>;
  readonly status: string;
  readonly topup_status: string;
  readonly sent_at: Date | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

const ATTEMPTS_SQL = `
  select a.attempt_no, a.topup_id, a.status, t.status as topup_status, a.sent_at, a.created_at, a.ended_at
    from auto_topup_attempt a join topup t on t.id = a.topup_id order by a.attempt_no`;

/** What was bought with the debits is judged like every payment. */
async function judgeAttempts({ orders, announced }: RailBooks): Promise<string[]> {
  const { rows } = await withClient(DATABASE_URL, (client) => client.query<AttemptRow>(ATTEMPTS_SQL));
  // An order alone, which a notice needs, is no debit.
  const asked = [...orders.values()].filter(
    ({ is_debit, payments, failure }) => is_debit && (payments.length > 0 || failure !== null),
  );
  const debits = Map.groupBy(asked, ({ topup_id }) => topup_id);
  const faults = [...announced.broken];
  let before: AttemptRow | null = null;
  for (const row of rows) {
    const { attempt_no: no, status, topup_status, sent_at, created_at, ended_at } = row;
    const taken = (debits.get(row.topup_id) ?? []).reduce((sum, { payments }) => sum + payments.length, 0);
    if (ended_at === null) faults.push(`attempt ${no} is still ${status}`);
    if (taken > 1) faults.push(`attempt ${no} debited ${taken} times`);
    if ((status === 'succeeded') !== taken > 0)
      faults.push(`attempt ${no} is ${status}, and debited ${taken} times`);
    if ((status === 'succeeded') !== (topup_status === 'paid'))
      faults.push(`attempt ${no} is ${status}, and its top-up ${topup_status}`);
    if (debits.has(row.topup_id) && sent_at === null)
      faults.push(`attempt ${no} was sent, and says that it was not`);
    if (before !== null && (before.ended_at === null || before.ended_at > created_at))
      faults.push(`attempt ${no} began before ${before.attempt_no} had ended`);
    before = row;
    debits.delete(row.topup_id);
  }
  return [
    ...faults,
    ...[...debits.keys()].map((topup_id) => `${topup_id} was debited, and nothing asked for it`),
  ];
}
