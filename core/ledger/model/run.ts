// Draws sequences of batches, does each to the ledger and to the model, and compares everything that can be seen.
// The tests of the ledger and of its mutations share it.
import { deepStrictEqual, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { createPool, type Pool } from '../../db/index.ts';
import { type MicroUsd, microUsd, nowMs, type RequestId, shiftClock } from '../../kernel/index.ts';
import { uuidToUlid } from '../batch/encode.ts';
import { endGrants } from '../grants-store.ts';
import { OTHER_UNITS } from '../kinds.ts';
import { sweepOnce } from '../lease/store.ts';
import { readBalance, readEntries, readLots, readMeter, sumDebitWriteoffs } from '../read-store.ts';
import { readRun } from '../runs/store.ts';
import { expireLots, setBudget } from '../store.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  type Owner,
  openOwner,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  until,
} from '../testing/testing.ts';
import type { LedgerHandle, OtherUnits, Settle } from '../types.ts';
import { verifyLedger } from '../verify/verify.ts';
import { type Call, Model, type Sent } from './model.ts';
import { Movements } from './movements.ts';
import { first, type Step, step } from './steps.ts';

const DAY_MS = 86_400_000;
let runs = 0;
let drawn = 0;
/** A request id of the given time; ids of one run rise, so that a batch has one order. */
function idAt(ms: number): RequestId {
  drawn++;
  const hex = ms.toString(16).padStart(12, '0') + drawn.toString(16).padStart(20, '0');
  return uuidToUlid(hex) as RequestId;
}

/** None, one or several other units, by the call's number. */
function otherOf(n: number): OtherUnits | undefined {
  if (n % 3 === 0) return undefined;
  const { length } = OTHER_UNITS;
  return {
    [OTHER_UNITS[n % length]!]: n + 10,
    ...(n % 3 === 1 ? {} : { [OTHER_UNITS[(n + 2) % length]!]: n + 11 }),
  };
}

/** What is metered, different for every call, so that numbers of two calls cannot change places unseen. */
function numbersOf(call: Call): Pick<Settle, 'units' | 'model_no' | 'endpoint_no' | 'price_no'> {
  const n = Number.parseInt(call.id.slice(-6), 32) % 1_000_000;
  const other = otherOf(n);
  return {
    model_no: n,
    endpoint_no: n + 1,
    price_no: n + 2,
    units: {
      input_tokens: n + 3,
      output_tokens: n + 4,
      cache_read_tokens: n + 5,
      cache_write_tokens: n + 6,
      cache_write_5m_tokens: n + 7,
      cache_write_1h_tokens: n + 8,
      reasoning_tokens: n + 9,
      ...(other === undefined ? {} : { other }),
    },
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

type DrawnHolds = Extract<Step, { op: 'hold' }>;

class Run {
  private readonly db: Pool;
  private readonly ledger: LedgerHandle;
  private readonly owner: Owner;
  private readonly book: number;
  private readonly model = new Model();
  private readonly sent: Sent[] = [];
  private readonly movements: Movements;
  private clock = 0;

  constructor(on: { db: Pool; ledger: LedgerHandle; owner: Owner; book: number }) {
    this.db = on.db;
    this.ledger = on.ledger;
    this.owner = on.owner;
    this.book = on.book;
    this.movements = new Movements(on, this.model);
  }

  private get calls(): Call[] {
    return this.sent.map(({ call }) => call);
  }

  private subject(call: Call): { book_id: number; key_no: number; project_no: number } {
    return {
      book_id: this.book,
      key_no: this.book * 10 + call.key,
      project_no: this.book * 10 + call.project,
    };
  }

  async take(action: Step): Promise<void> {
    switch (action.op) {
      case 'hold':
        return this.hold(action);
      case 'settle':
        return this.settle(action.calls);
      case 'extend': {
        // Mostly a hold that stands, now and then one that has ended.
        const held = this.calls.filter(({ id }) => this.model.holds.has(id));
        const from = held.length === 0 || action.which % 5 === 0 ? this.calls : held;
        const call = from[action.which % Math.max(1, from.length)];
        if (call === undefined) return;
        const answer = await this.ledger.extend(
          this.subject(call),
          call.id as RequestId,
          microUsd(action.total),
        );
        deepStrictEqual(answer, this.model.extend(call.id, action.total));
        return;
      }
      case 'release': {
        const call = this.calls[action.which % Math.max(1, this.calls.length)];
        if (call === undefined) return;
        this.ledger.release(this.subject(call), call.id as RequestId);
        this.model.release(call.id);
        return until(
          async () => (await readBalance(this.db, this.book)).held_micro_usd === this.model.held,
          2_000,
        );
      }
      case 'credit':
        return this.movements.credit(action);
      case 'debit':
        return this.movements.debit(action);
      case 'restore':
        return this.movements.restore(action.which);
      case 'dispute':
        return this.movements.dispute(action);
      case 'end_dispute':
        return this.movements.endDispute(action);
      case 'budget': {
        const [kind, no] = action.subject.split(' ') as ['key' | 'project', string];
        const number = this.book * 10 + Number(no);
        await setBudget(this.db, {
          book_id: this.book,
          subject: kind === 'key' ? { key_no: number } : { project_no: number },
          cap_micro_usd: action.cap as MicroUsd | null,
          hard: action.hard,
        });
        this.model.setBudget(action.subject, action.cap, action.hard, dayOf(nowMs()));
        return;
      }
      case 'expire':
        await expireLots(this.db);
        this.model.expire(nowMs());
        return;
      case 'end_grants':
        await endGrants(this.db, this.book);
        this.model.endGrants();
        return;
      case 'sweep':
        return this.sweep();
      case 'later':
        this.clock += action.hours * 3_600_000;
        shiftClock(this.clock);
    }
  }

  /** A UUID, different in every book as those of projects are. */
  private runNamed(no: number): string {
    return `00000000-0000-4000-8000-${(this.book * 10 + no).toString(16).padStart(12, '0')}`;
  }

  private async hold({ calls, again }: DrawnHolds): Promise<void> {
    const stand = this.sent.filter(({ call }) => this.model.holds.has(call.id));
    const repeated = again === null || stand.length === 0 ? [] : [stand[again % stand.length]!];
    const fresh = calls.map((item): Sent => {
      const ms = nowMs() - (item.yesterday ? DAY_MS : 0);
      const key = item.key % 3;
      const run = item.budget === null ? null : this.runNamed(item.budget.run);
      const call = { id: idAt(ms), key, project: key % 2, day: dayOf(ms), run };
      const hold = holdOf(this.subject(call), item.amount, call.id);
      const max = item.budget?.max ?? 0;
      return {
        ...{ call, amount: item.amount, max },
        hold: run === null ? hold : { ...hold, budget: { run, max_micro_usd: microUsd(max) } },
      };
    });
    this.sent.push(...fresh);
    const batch = [...repeated, ...fresh];
    const answers = await Promise.all(batch.map(({ hold }) => this.ledger.hold(hold)));
    const shown = answers.map((r) => (r.status === 'budget_exhausted' ? `${r.status} ${r.scope}` : r.status));
    const expected = batch.map(({ call, amount: micro, max }) => this.model.hold(call, micro, max));
    deepStrictEqual(shown, expected);
  }

  private async settle(items: readonly { which: number; cost: number }[]): Promise<void> {
    if (this.calls.length === 0) return;
    const chosen = new Map(items.map(({ which, cost }) => [this.calls[which % this.calls.length]!, cost]));
    // Within a batch the ledger decides in the order of the request ids.
    const batch = [...chosen].sort(([a], [b]) => (a.id < b.id ? -1 : 1));
    const numbers = batch.map(([call]) => numbersOf(call));
    const answers = await Promise.all(
      batch.map(([call, cost], i) =>
        this.ledger.settle({
          ...settleOf(this.subject(call), call.id as RequestId, cost),
          ...numbers[i],
          ...(call.run === null ? {} : { run: call.run }),
        }),
      ),
    );
    const expected = batch.map(([call, cost]) => this.model.settle(call, cost));
    deepStrictEqual(
      answers.map((answer) => ({ status: answer.status, charged: answer.charged_micro_usd })),
      expected,
    );
    for (const [i, [call, cost]] of batch.entries()) {
      if (expected[i]!.status === 'duplicate') continue;
      const metered = await readMeter(this.db, call.id as RequestId);
      const { seq, settled_at, ...rest } = metered!;
      deepStrictEqual(seq === null, cost === 0);
      ok(settled_at.getTime() >= 0);
      deepStrictEqual(rest, {
        ...this.subject(call),
        request_id: call.id,
        cost_micro_usd: cost,
        charged_micro_usd: expected[i]!.charged,
        outcome: 'ok',
        estimated: false,
        ...numbers[i],
      });
    }
  }

  private async sweep(): Promise<void> {
    const text = `update ledger.lease set expires_at = statement_timestamp() - interval '1 second'`;
    // In one transaction: the process renews its lease of a second all the time.
    const all = await this.db.transaction(async (db) => {
      await db.query({ name: 'model.lapse', text });
      return sweepOnce(db, 10_000);
    });
    const swept = all.filter(({ book_id }) => book_id === this.book);
    const found = swept.map(({ request_id }) => request_id as string).sort();
    deepStrictEqual(found, [...this.model.holds.keys()].sort());
    for (const { request_id } of swept) this.model.release(request_id);
  }

  /** Everything that can be seen of the book, from both. */
  async compare(): Promise<void> {
    const { model } = this;
    deepStrictEqual(await readBalance(this.db, this.book), {
      available_micro_usd: model.available,
      held_micro_usd: model.held,
      granted_micro_usd: model.granted,
    });
    const entries = (await readEntries(this.db, { book_id: this.book, limit: 500 })).reverse();
    deepStrictEqual(
      entries.map((entry) => ({
        kind: entry.kind,
        amount: entry.amount_micro_usd as number,
        balance: entry.balance_after_micro_usd as number,
      })),
      // 0 and -0 are one amount.
      model.entries.map((entry) => ({ ...entry, amount: entry.amount + 0 })),
    );
    deepStrictEqual(
      entries.map((entry) => entry.seq),
      entries.map((_, i) => i + 1),
    );
    const lots = (await readLots(this.db, { book_id: this.book })).reverse();
    deepStrictEqual(
      lots.map((lot) => lot.remaining_micro_usd as number),
      model.lots.map((lot) => lot.rest),
    );
    deepStrictEqual(await sumDebitWriteoffs(this.db, this.book), model.written_off);
    await this.compareWindows();
    await this.compareRuns();
  }

  private async compareRuns(): Promise<void> {
    for (const [run, { cap, spent, held }] of this.model.runs) {
      deepStrictEqual(await readRun(this.db, { book_id: this.book, run }), {
        max_micro_usd: cap,
        spent_micro_usd: spent,
        held_micro_usd: held,
      });
    }
  }

  private async compareWindows(): Promise<void> {
    const { rows } = await this.owner.query<{ name: string; spent: number; held: number }>(
      `select case kind when 1 then 'key ' else 'project ' end || subject - $1 * 10 || '/' || start as name,
              spent::int, held::int from ledger.win where book_id = $1 order by 1`,
      [this.book],
    );
    const expected = [...this.model.windows]
      .map(([name, { spent, held }]) => ({ name, spent, held }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    deepStrictEqual(
      rows.sort((a, b) => (a.name < b.name ? -1 : 1)),
      expected,
    );
  }
}

/**
 * Runs `runs` drawn sequences against the database at `url`; each on a book of its own, verified at the end.
 * @throws Error with the shrunken sequence on the first difference, or with what `verify` found.
 */
export async function compareWithModel(url: string, options: { runs: number; seed?: number }): Promise<void> {
  const db = createPool(url, { max: 2 });
  const owner = await openOwner(url);
  const journal = journalDirectory();
  // Leases of one second: a sweep waits for so long after the start of the server, which is long past.
  const ledger = await openTestLedger(url, journal.dir, { lease_seconds: 1, ...PATIENT });
  try {
    await fc.assert(
      fc.asyncProperty(
        first,
        fc.array(step, { minLength: 5, maxLength: 32, size: 'max' }),
        async (credited, steps) => {
          shiftClock(0);
          const org = `org_M${process.pid}_${++runs}`;
          const book = await makeBook(db, { keys: [], projects: [], org });
          for (const no of [0, 1, 2]) {
            await setBudget(db, { book_id: book, subject: { key_no: book * 10 + no }, cap_micro_usd: null });
            await setBudget(db, {
              book_id: book,
              subject: { project_no: book * 10 + no },
              cap_micro_usd: null,
            });
          }
          const run = new Run({ db, ledger, owner, book });
          for (const action of [credited, ...steps]) {
            await run.take(action);
            await run.compare();
          }
          deepStrictEqual((await verifyLedger({ url }, { org_id: org })).findings, []);
        },
      ),
      {
        numRuns: options.runs,
        ...(options.seed === undefined ? {} : { seed: options.seed }),
        endOnFailure: true,
      },
    );
  } finally {
    shiftClock(0);
    await ledger.close();
    await owner.end();
    await db.end();
    journal.remove();
  }
}

/**
 * Two clients hold, settle and release on one book at the same time, more than it has; then nothing may be missing.
 * @throws Error with what differs or what `verify` found.
 */
export async function interleave(url: string): Promise<void> {
  const db = createPool(url, { max: 2 });
  const journal = journalDirectory();
  const clients = await Promise.all([1, 2].map(() => openTestLedger(url, journal.dir, PATIENT)));
  try {
    const book = await makeBook(db, { amount: 20_000 });
    let charged = 0;
    await Promise.all(
      Array.from({ length: 40 }, async (_, worker) => {
        const ledger = clients[worker % 2]!;
        for (let i = 0; i < 15; i++) {
          const hold = holdOf(subjectOf(book), 900);
          if ((await ledger.hold(hold)).status !== 'ok') continue;
          if (i % 5 === 4) ledger.release(hold, hold.request_id);
          else {
            const { charged_micro_usd } = await ledger.settle(settleOf(hold, hold.request_id, 30));
            charged += charged_micro_usd ?? 0;
          }
        }
      }),
    );
    await until(async () => (await readBalance(db, book)).held_micro_usd === 0, 15_000);
    deepStrictEqual((await readBalance(db, book)).available_micro_usd as number, 20_000 - charged);
    deepStrictEqual((await verifyLedger({ url })).findings, []);
  } finally {
    for (const client of clients) await client.close();
    await db.end();
    journal.remove();
  }
}
