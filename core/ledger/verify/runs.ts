// The budgets of runs of one book: what each has spent since its first block, and what holds keep for it.
import type { Row } from './store.ts';

interface Run {
  /** The last block before it. */
  readonly after: bigint;
  readonly row: { readonly spent: bigint; readonly held: bigint };
  spent: bigint;
  held: bigint;
}

export class RunCheck {
  private readonly runs = new Map<string, Run>();
  private readonly report: (check: string, message: string) => void;

  constructor(report: (check: string, message: string) => void) {
    this.report = report;
  }

  /** A row of the table of runs. */
  add(row: Row): void {
    const [, run, spent, held, after] = row as string[];
    const stored = { spent: BigInt(spent!), held: BigInt(held!) };
    this.runs.set(run!, { after: BigInt(after!), row: stored, spent: 0n, held: 0n });
  }

  /** A call of `run` was charged in the block `no`; null is of none. A run that was forgotten is no longer counted. */
  spend(run: string | null, no: bigint, charged: bigint): void {
    const known = run === null ? undefined : this.runs.get(run);
    if (known !== undefined && no > known.after) known.spent += charged;
  }

  /** `amount` is held for a call of `run`; null is of none. */
  hold(run: string | null, amount: bigint): void {
    if (run === null) return;
    const known = this.runs.get(run);
    if (known !== undefined) known.held += amount;
    else if (amount !== 0n) this.report('run', `run ${run} is missing: ${amount} held`);
  }

  compare(): void {
    for (const [run, { row, spent, held }] of this.runs) {
      if (row.spent !== spent) this.report('run', `run ${run} says spent ${row.spent}, it is ${spent}`);
      if (row.held !== held) this.report('run', `run ${run} says held ${row.held}, it is ${held}`);
    }
  }
}
