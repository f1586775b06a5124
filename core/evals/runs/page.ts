// A hundred cases of a run at a time, several calls at once. A page can be begun again at any moment: what has a result is
// left alone, and what was begun goes on.
import type { Context } from '../../kernel/index.ts';
import { readCases } from '../suites/store.ts';
import type { Case } from '../suites/types.ts';
import { readOpen } from './call-store.ts';
import { Reserves } from './reserves.ts';
import { beginRun, insertResult, readDone, readRun } from './store.ts';
import { type Run, totalOf, unitOf } from './types.ts';
import { runUnit, type UnitWork } from './unit.ts';

const PAGE_CASES = 100;

export interface PageReport {
  /** Where the next page begins; null: there is none. */
  readonly next_case_no: number | null;
  /** The run begins no more calls. */
  readonly stopped: boolean;
  /** Answers of this page. */
  readonly answers: number;
}

interface Page {
  readonly run: Run;
  readonly cases: ReadonlyMap<number, Case>;
  readonly units: readonly number[];
}

/** What of a page is still to be done: what was begun first, as its sums are set aside already. */
async function readPage({ db }: Context, run: Run, from: number): Promise<Page> {
  const { suite_id, suite_revision, targets, repeat } = run;
  const rows = await readCases(db, { suite_id, revision: suite_revision, from, limit: PAGE_CASES });
  const per_case = targets.length * repeat;
  const range = {
    id: run.id,
    from: from * per_case,
    to: Math.min(totalOf(run), (from + PAGE_CASES) * per_case),
  };
  const done = new Set(await readDone(db, range));
  const begun = (await readOpen(db, range)).filter((no) => !done.has(no)).sort((a, b) => a - b);
  const others: number[] = [];
  for (let no = range.from; no < range.to; no++) if (!done.has(no) && !begun.includes(no)) others.push(no);
  return { run, cases: new Map(rows.map((row) => [row.case_no, row])), units: [...begun, ...others] };
}

class RunningPage {
  private readonly context: Context;
  private readonly page: Page;
  private readonly reserves = new Reserves();
  private next = 0;
  private fault: unknown = null;
  private ended = false;

  constructor(context: Context, page: Page) {
    this.context = context;
    this.page = page;
  }

  /** Resolves when all that was begun has ended. @throws the first fault that came. */
  async run(beat: () => void): Promise<{ stopped: boolean }> {
    const wide = Array.from({ length: this.page.run.concurrency }, () => this.lane(beat));
    await Promise.all(wide);
    if (this.fault !== null) throw this.fault;
    return { stopped: this.ended };
  }

  private async lane(beat: () => void): Promise<void> {
    while (this.fault === null && !this.ended && this.next < this.page.units.length) {
      const unit_no = this.page.units[this.next++] as number;
      try {
        await this.one(unit_no);
      } catch (error) {
        this.fault ??= error;
      }
      beat();
    }
  }

  private async one(unit_no: number): Promise<void> {
    const { context, page } = this;
    const unit = unitOf(page.run, unit_no);
    const work: UnitWork = { run: page.run, unit, of: page.cases.get(unit.case_no) as Case };
    const outcome = await runUnit(context, work, this.reserves);
    if (outcome !== 'stopped') {
      await insertResult(context.db, { ...outcome, run_id: page.run.id, at: context.now() });
      return;
    }
    const now = await readRun(context.db, page.run.id);
    this.ended ||= now === null || now.stop_reason !== '' || now.status !== 'running';
  }
}

/**
 * Runs the page of a run that begins with a case; `beat` is called after every answer.
 * @throws Error when the gateway or the database does not answer: the page is begun again.
 */
export async function runPage(
  context: Context,
  args: { run_id: string; from: number },
  beat: () => void,
): Promise<PageReport> {
  const { run_id, from } = args;
  await beginRun(context.db, { id: run_id, at: context.now() });
  const run = await readRun(context.db, run_id);
  if (run === null || run.status !== 'running') return { next_case_no: null, stopped: true, answers: 0 };
  const page = await readPage(context, run, from);
  const { stopped } = await new RunningPage(context, page).run(beat);
  const next = from + PAGE_CASES;
  return { next_case_no: next < run.case_count ? next : null, stopped, answers: page.units.length };
}
