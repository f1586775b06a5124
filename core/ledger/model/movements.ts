// The steps of a sequence that move credit beside calls, done to the ledger and to the model.
import { deepStrictEqual } from 'node:assert/strict';
import { type Db, type Id, microUsd, nowMs } from '../../kernel/index.ts';
import { readLots } from '../read-store.ts';
import { chargeBack, credit, debit, restore } from '../store.ts';
import type { Model, Reach } from './model.ts';

const DAY_MS = 86_400_000;

export class Movements {
  private readonly db: Db;
  private readonly book: number;
  private readonly model: Model;
  private lots: Id<'lot'>[] = [];
  private readonly debits: string[] = [];
  private readonly disputes: { ref_id: string; amount: number; lot: number }[] = [];
  private references = 0;

  constructor(on: { db: Db; book: number }, model: Model) {
    this.db = on.db;
    this.book = on.book;
    this.model = model;
  }

  async credit(of: { amount: number; grant: boolean; days: number | null }): Promise<void> {
    const expires = of.days === null ? null : nowMs() + of.days * DAY_MS + 1_000;
    const kind = of.grant ? ('grant' as const) : ('topup' as const);
    const ref_id = `${this.book}-${++this.references}`;
    const made = {
      book_id: this.book,
      kind,
      amount_micro_usd: microUsd(of.amount),
      granted: of.grant,
      expires_at: expires === null ? null : new Date(expires),
      ref_type: 'staff' as const,
      ref_id,
    };
    const first = await credit(this.db, made);
    deepStrictEqual(await credit(this.db, made), { ...first, replay: true });
    this.lots.push(first.lot_id);
    this.model.credit(kind, { grant: of.grant, expires, amount: of.amount });
  }

  async debit(
    of: { amount: number; lot: number | null } & Pick<Required<Reach>, 'paid_only' | 'short'>,
  ): Promise<void> {
    const lot = of.lot === null || this.lots.length === 0 ? undefined : of.lot % this.lots.length;
    const { paid_only, short } = of;
    const made = {
      book_id: this.book,
      kind: 'refund',
      amount_micro_usd: microUsd(of.amount),
      ref_type: 'refund',
      ref_id: `${this.book}-${++this.references}`,
      paid_only,
      short,
      ...(lot === undefined ? {} : { lot_id: this.lots[lot]! }),
    } as const;
    const debited = await debit(this.db, made);
    const taken = debited.status === 'taken' ? (debited.taken_micro_usd as number) : null;
    const reach = { paid_only, short, ...(lot === undefined ? {} : { lot }) };
    deepStrictEqual(taken, this.model.debit(made.ref_id, of.amount, reach));
    if (taken !== null) deepStrictEqual(await debit(this.db, made), { ...debited, replay: true });
    this.debits.push(made.ref_id);
  }

  async restore(which: number): Promise<void> {
    const ref_id = this.debits[which % Math.max(1, this.debits.length)];
    if (ref_id === undefined) return;
    const what = { book_id: this.book, debit_kind: 'refund', ref_type: 'refund', ref_id } as const;
    const restored = await restore(this.db, what);
    const expected = this.model.restore(ref_id);
    const isNew = restored.status === 'restored' && !restored.replay;
    deepStrictEqual(isNew ? (restored.amount_micro_usd as number) : null, expected);
    if (isNew) await this.learnLots();
  }

  /** Lots of what came back can be named by later debits. */
  private async learnLots(): Promise<void> {
    this.lots = (await readLots(this.db, { book_id: this.book })).map(({ id }) => id).reverse();
  }

  /** Holds what is there of a lot for a payment that is disputed. */
  async dispute(of: { amount: number; lot: number }): Promise<void> {
    if (this.lots.length === 0) return;
    const { amount } = of;
    const lot = of.lot % this.lots.length;
    const ref_id = `${this.book}-${++this.references}`;
    const held = {
      book_id: this.book,
      kind: 'dispute_hold',
      amount_micro_usd: microUsd(amount),
      ref_type: 'dispute',
      ref_id,
      lot_id: this.lots[lot]!,
      short: 'take_less',
    } as const;
    const debited = await debit(this.db, held);
    const taken = debited.status === 'taken' ? (debited.taken_micro_usd as number) : null;
    const expected = this.model.debit(ref_id, amount, { lot, short: 'take_less' }, 'dispute_hold');
    deepStrictEqual(taken, expected);
    deepStrictEqual(await debit(this.db, held), { ...debited, replay: true });
    this.disputes.push({ ref_id, amount, lot });
  }

  /** A dispute is won, and what was held goes back; or it is lost, and the whole of it is taken as far as it is there. */
  async endDispute({ which, lost }: { which: number; lost: boolean }): Promise<void> {
    const dispute = this.disputes[which % Math.max(1, this.disputes.length)];
    if (dispute === undefined) return;
    const { ref_id, amount, lot } = dispute;
    const reference = { book_id: this.book, ref_type: 'dispute', ref_id } as const;
    if (!lost) {
      const restored = await restore(this.db, { ...reference, debit_kind: 'dispute_hold' });
      const isNew = restored.status === 'restored' && !restored.replay;
      const expected = this.model.restore(ref_id, 'dispute_hold');
      deepStrictEqual(isNew ? (restored.amount_micro_usd as number) : null, expected);
    } else {
      const loss = { ...reference, amount_micro_usd: microUsd(amount), lot_id: this.lots[lot]! };
      const taken = await chargeBack(this.db, loss);
      const expected = this.model.chargeBack(ref_id, amount, lot);
      deepStrictEqual(taken.replay ? null : (taken.taken_micro_usd as number), expected);
      deepStrictEqual(await chargeBack(this.db, loss), { ...taken, replay: true });
    }
    await this.learnLots();
  }
}
