// The ledger in memory, for tests: written from the rules in README.md, without looking at the SQL. Slow and plain
// on purpose. One book; windows and lots are the book's own.
import type { Hold } from '../types.ts';

interface ModelLot {
  readonly grant: boolean;
  /** Milliseconds; null: never. */
  readonly expires: number | null;
  readonly amount: number;
  /** The lot whose credit it is: itself, or for one that was put back the lot that it was taken from. */
  readonly origin: number;
  rest: number;
}

/** What a debit may reach, and what it does when that is not enough. */
export interface Reach {
  readonly lot?: number;
  readonly paid_only?: boolean;
  readonly short?: 'refuse' | 'take_less' | 'write_off';
}

type DebitKind = 'refund' | 'dispute_hold' | 'chargeback';
/** What the entry is called by which a debit goes back. */
const BACK = { refund: 'refund_reversal', dispute_hold: 'dispute_release' } as const;

interface ModelWindow {
  cap: number | null;
  hard: boolean;
  spent: number;
  held: number;
}

interface ModelRun {
  cap: number;
  spent: number;
  held: number;
}

interface ModelHold {
  amount: number;
  readonly run: string | null;
  readonly key: number;
  readonly project: number;
  readonly day: string;
}

export interface Call {
  readonly id: string;
  readonly key: number;
  readonly project: number;
  /** UTC day of the id. */
  readonly day: string;
  /** The run whose budget it counts in. */
  readonly run: string | null;
}

/** A hold as it was sent, and as the model is told of it. */
export interface Sent {
  readonly call: Call;
  readonly amount: number;
  readonly max: number;
  readonly hold: Hold;
}

export class Model {
  available = 0;
  readonly lots: ModelLot[] = [];
  readonly holds = new Map<string, ModelHold>();
  readonly entries: { kind: string; amount: number; balance: number }[] = [];
  readonly metered = new Map<string, { cost: number; charged: number }>();
  readonly windows = new Map<string, ModelWindow>();
  readonly runs = new Map<string, ModelRun>();
  /** By debit, what it took of each origin; gone once it was put back. */
  private readonly taken = new Map<string, Map<number, number>>();
  /** Disputes that are lost. */
  private readonly lost = new Set<string>();
  written_off = 0;
  private readonly budgets = new Map<string, { cap: number | null; hard: boolean }>();

  get held(): number {
    let sum = 0;
    for (const { amount } of this.holds.values()) sum += amount;
    return sum;
  }

  /** The unburned part of the granted lots. */
  get granted(): number {
    return this.lots.reduce((sum, lot) => sum + (lot.grant ? lot.rest : 0), 0);
  }

  private book(kind: string, amount: number): void {
    this.entries.push({ kind, amount, balance: this.available + this.held });
  }

  /** Earliest expiry first, at equal expiry grants before paid, no expiry last, then oldest. Returns what of each origin. */
  private burn(amount: number, from: readonly ModelLot[] = this.lots): Map<number, number> {
    const order = [...from].sort(
      (a, b) =>
        (a.expires ?? Number.POSITIVE_INFINITY) - (b.expires ?? Number.POSITIVE_INFINITY) ||
        Number(b.grant) - Number(a.grant) ||
        a.origin - b.origin ||
        this.lots.indexOf(a) - this.lots.indexOf(b),
    );
    const taken = new Map<number, number>();
    let left = amount;
    for (const lot of order) {
      const part = Math.min(left, lot.rest);
      if (part === 0) continue;
      lot.rest -= part;
      left -= part;
      taken.set(lot.origin, (taken.get(lot.origin) ?? 0) + part);
    }
    if (left > 0) throw new Error('the model has lost credit');
    return taken;
  }

  credit(kind: string, lot: Pick<ModelLot, 'grant' | 'expires' | 'amount'>): void {
    this.lots.push({ ...lot, origin: this.lots.length, rest: lot.amount });
    this.available += lot.amount;
    this.book(kind, lot.amount);
  }

  /** What is in reach of a debit. */
  private inReach(reach: Reach): ModelLot[] {
    const origin = reach.lot === undefined ? null : this.lots[reach.lot]!.origin;
    return this.lots.filter(
      (lot) => (origin === null || lot.origin === origin) && !(reach.paid_only === true && lot.grant),
    );
  }

  /** A refund of `ref`, or the hold or the loss of a dispute; returns what was taken, null when it is refused. */
  debit(ref: string, amount: number, reach: Reach, kind: DebitKind = 'refund'): number | null {
    const from = this.inReach(reach);
    const there = Math.min(
      from.reduce((sum, lot) => sum + lot.rest, 0),
      this.available,
    );
    if (there < amount && (reach.short ?? 'refuse') === 'refuse') return null;
    const taken = Math.min(there, amount);
    this.taken.set(`${kind} ${ref}`, this.burn(taken, from));
    this.available -= taken;
    if (reach.short === 'write_off') this.written_off += amount - taken;
    this.book(kind, -taken);
    return taken;
  }

  /** What a refund or a hold of `ref` took goes back: null when it took nothing or was put back before. */
  restore(ref: string, kind: keyof typeof BACK = 'refund'): number | null {
    const taken = this.taken.get(`${kind} ${ref}`);
    this.taken.delete(`${kind} ${ref}`);
    if (taken === undefined || taken.size === 0) return null;
    let sum = 0;
    for (const [origin, amount] of [...taken].sort(([a], [b]) => a - b)) {
      const { grant, expires } = this.lots[origin]!;
      this.lots.push({ grant, expires, amount, origin, rest: amount });
      sum += amount;
    }
    this.available += sum;
    this.book(BACK[kind], sum);
    return sum;
  }

  /** The dispute `ref` is lost: what was held for it goes back, and at once the whole of it is taken or written off. */
  chargeBack(ref: string, amount: number, lot: number): number | null {
    if (this.lost.has(ref)) return null;
    this.lost.add(ref);
    this.restore(ref, 'dispute_hold');
    return this.debit(ref, amount, { lot, short: 'write_off' }, 'chargeback');
  }

  /** Every lot that has ended gives up what is left of it, but never what holds need. */
  expire(now: number): void {
    for (const lot of this.lots) {
      if (lot.expires === null || lot.expires > now) continue;
      const amount = Math.min(lot.rest, this.available);
      if (amount === 0) continue;
      lot.rest -= amount;
      this.available -= amount;
      this.book('expire', -amount);
    }
  }

  /** Credit that was given ends at once, but never what holds need. */
  endGrants(): void {
    for (const lot of this.lots) {
      const amount = lot.grant ? Math.min(lot.rest, this.available) : 0;
      if (amount === 0) continue;
      lot.rest -= amount;
      this.available -= amount;
      this.book('expire', -amount);
    }
  }

  setBudget(subject: string, cap: number | null, hard: boolean, today: string): void {
    this.budgets.set(subject, { cap, hard });
    const current = this.windows.get(this.nameOf(subject, today));
    if (current === undefined) return;
    current.cap = cap;
    current.hard = hard;
  }

  private nameOf(subject: string, day: string): string {
    return `${subject}/${subject.startsWith('key') ? day : `${day.slice(0, 7)}-01`}`;
  }

  private windowsOf(call: { key: number; project: number; day: string }): [ModelWindow, ModelWindow] {
    const find = (subject: string) => {
      const name = this.nameOf(subject, call.day);
      let window = this.windows.get(name);
      if (window === undefined) {
        window = { ...(this.budgets.get(subject) ?? { cap: null, hard: true }), spent: 0, held: 0 };
        this.windows.set(name, window);
      }
      return window;
    };
    return [find(`key ${call.key}`), find(`project ${call.project}`)];
  }

  private runOf({ run }: { run: string | null }): ModelRun | null {
    if (run === null) return null;
    let known = this.runs.get(run);
    if (known === undefined) {
      known = { cap: 0, spent: 0, held: 0 };
      this.runs.set(run, known);
    }
    return known;
  }

  /** `run_max` is the budget of the whole run, as this call gives it. */
  hold(call: Call, amount: number, run_max = 0): string {
    if (this.holds.has(call.id)) return 'ok';
    const windows = this.windowsOf(call);
    if (amount > this.available) return 'insufficient_credits';
    const full = windows.findIndex((w) => w.hard && w.cap !== null && w.spent + w.held + amount > w.cap);
    if (full >= 0) return full === 0 ? 'budget_exhausted key' : 'budget_exhausted project';
    const used = call.run === null ? undefined : this.runs.get(call.run);
    if (call.run !== null && (used?.spent ?? 0) + (used?.held ?? 0) + amount > run_max)
      return 'budget_exhausted run';
    const run = this.runOf(call);
    if (run !== null) {
      run.cap = run_max;
      run.held += amount;
    }
    this.available -= amount;
    for (const window of windows) window.held += amount;
    const { key, project, day } = call;
    this.holds.set(call.id, { amount, key, project, day, run: call.run });
    return 'ok';
  }

  extend(id: string, total: number): string {
    const hold = this.holds.get(id);
    if (hold === undefined) return 'missing';
    const more = total - hold.amount;
    if (more <= 0) return 'ok';
    const windows = this.windowsOf(hold);
    if (windows.some((w) => w.hard && w.cap !== null && w.spent + w.held + more > w.cap))
      return 'budget_exhausted';
    const run = this.runOf(hold);
    if (run !== null && run.spent + run.held + more > run.cap) return 'budget_exhausted';
    if (more > this.available) return 'insufficient_credits';
    this.available -= more;
    for (const window of windows) window.held += more;
    if (run !== null) run.held += more;
    hold.amount = total;
    return 'ok';
  }

  release(id: string): void {
    const hold = this.holds.get(id);
    if (hold === undefined) return;
    this.holds.delete(id);
    this.available += hold.amount;
    for (const window of this.windowsOf(hold)) window.held -= hold.amount;
    const run = this.runOf(hold);
    if (run !== null) run.held -= hold.amount;
  }

  settle(call: Call, cost: number): { status: string; charged: number | null } {
    if (this.metered.has(call.id)) return { status: 'duplicate', charged: null };
    const isHeld = this.holds.has(call.id);
    this.release(call.id);
    const charged = Math.min(cost, this.available);
    this.available -= charged;
    this.burn(charged);
    for (const window of this.windowsOf(call)) window.spent += charged;
    const run = this.runOf(call);
    if (run !== null) run.spent += charged;
    this.metered.set(call.id, { cost, charged });
    if (cost > 0) this.book('settle', -charged);
    return { status: isHeld ? 'settled' : 'late', charged };
  }
}
