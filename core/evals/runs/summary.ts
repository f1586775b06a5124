// What the results of a run say by target and by case, and which of two targets is better.
import type { Context } from '../../kernel/index.ts';
import { bootstrap, decide, meanOf, type Weighed, wilson } from '../stats/stats.ts';
import { seedOf } from './finish.ts';
import type { CaseRow, ComparisonView, TargetScore } from './schema.ts';
import { type CaseScore, readCaseScores } from './score-store.ts';
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

/** Whether target `to` is better than target `from`, by the cases that both have answered. */
export async function compareTargets(
  { db }: Context,
  run: Run,
  { from, to }: { from: number; to: number },
): Promise<ComparisonView> {
  const rows = await readCaseScores(db, { run_id: run.id, from: 0, to: run.case_count });
  const first = new Map(rows.filter((row) => row.target_no === from).map((row) => [row.case_no, row]));
  const differences = rows.flatMap((row) => {
    const other = row.target_no === to ? first.get(row.case_no) : undefined;
    return other === undefined
      ? []
      : [{ value: Number(row.score) - Number(other.score), weight: row.weight }];
  });
  return {
    run_id: run.id,
    from: targetScore(run, from, rows),
    to: targetScore(run, to, rows),
    cases: differences.length,
    ...decide(differences, seedOf(run.id)),
  };
}
