// What the results of a run say by target and by case, and which of two targets is better.
import type { Context } from '../../kernel/index.ts';
import { bootstrap, decide, meanOf, type Weighed, wilson } from '../stats/stats.ts';
import { seedOf } from './finish.ts';
import type { CaseRow, ComparisonView, TargetScore } from './schema.ts';
import { type CaseScore, readCaseScores, readSameCases } from './score-store.ts';
import type { Run, Target } from './types.ts';

function totals(rows: readonly CaseScore[]) {
  const sum = (name: 'answers' | 'errors' | 'grades' | 'grades_passed' | 'cost_micro') =>
    rows.reduce((all, row) => all + row[name], 0);
  const [passed, of] = [sum('grades_passed'), sum('grades')];
  const { low, high } = wilson(passed, of);
  return {
    ...{ answers: sum('answers'), errors: sum('errors'), passed, of },
    ...{ pass_rate: of === 0 ? null : passed / of, pass_low: low, pass_high: high },
    cost_micro: sum('cost_micro'),
  };
}

function weighed(rows: readonly CaseScore[]): Weighed[] {
  return rows.map(({ score, weight }) => ({ value: Number(score), weight }));
}

/** One row per case from `from` on, with a cell for each target that has answered it. */
export async function caseRows(
  { db }: Context,
  run: Run,
  range: { from: number; to: number },
): Promise<{ case_no: number; row: CaseRow }[]> {
  const rows = await readCaseScores(db, { run_id: run.id, ...range });
  const by_case = Map.groupBy(rows, ({ case_no }) => case_no);
  return [...by_case].map(([case_no, cells]) => ({
    case_no,
    row: {
      case_id: (cells[0] as CaseScore).case_id,
      cells: cells.map((one) => ({
        target: run.targets[one.target_no] as Target,
        score: Number(one.score),
        ...totals([one]),
      })),
    },
  }));
}

function targetScore(run: Run, target_no: number, all: readonly CaseScore[]): TargetScore {
  const rows = all.filter((row) => row.target_no === target_no);
  const cases = weighed(rows);
  const { low, high } = bootstrap(cases, seedOf(run.id) + target_no);
  const score = meanOf(cases);
  return {
    ...{ target: run.targets[target_no] as Target, score, ...totals(rows) },
    ...{ score_low: low, score_high: high },
  };
}

/** The score of each target so far. */
export async function targetScores({ db }: Context, run: Run): Promise<TargetScore[]> {
  const rows = await readCaseScores(db, { run_id: run.id, from: 0, to: run.case_count });
  return run.targets.map((_, target_no) => targetScore(run, target_no, rows));
}

/** A target of a run. */
export interface Place {
  readonly run: Run;
  readonly target_no: number;
}

async function rowsOf({ db }: Context, { run }: Place): Promise<CaseScore[]> {
  return readCaseScores(db, { run_id: run.id, from: 0, to: run.case_count });
}

/** Whether `case_id` was asked and graded in the same way in both runs. */
async function sameIn({ db }: Context, one: Run, other: Run): Promise<(case_id: string) => boolean> {
  if (one.suite_id === other.suite_id && one.suite_revision === other.suite_revision) return () => true;
  const same = await readSameCases(db, { one, other });
  return (case_id) => same.has(case_id);
}

/** Whether target `to` is better than target `from`, of the same run or another, by the cases that both have answered. */
export async function compareTargets(
  context: Context,
  { from, to }: { from: Place; to: Place },
): Promise<ComparisonView> {
  const rows = await rowsOf(context, to);
  const from_rows = from.run.id === to.run.id ? rows : await rowsOf(context, from);
  const isSame = await sameIn(context, from.run, to.run);
  const first = new Map(
    from_rows.filter((row) => row.target_no === from.target_no).map((row) => [row.case_id, row]),
  );
  const both = rows.filter((row) => row.target_no === to.target_no && first.has(row.case_id));
  const differences = both
    .filter(({ case_id }) => isSame(case_id))
    .map((row) => ({
      value: Number(row.score) - Number(first.get(row.case_id)?.score),
      weight: row.weight,
    }));
  return {
    ...{ run_id: to.run.id, from_run_id: from.run.id },
    from: targetScore(from.run, from.target_no, from_rows),
    to: targetScore(to.run, to.target_no, rows),
    ...{ cases: differences.length, changed: both.length - differences.length },
    ...decide(differences, seedOf(to.run.id)),
  };
}
