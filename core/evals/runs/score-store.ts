// SQL over the results of a run: pages of them, and what they sum up to.
import type { Db } from '../../kernel/index.ts';
import type { ResultStatus } from './types.ts';

export interface ResultRow {
  readonly id: number;
  readonly run_id: string;
  readonly case_id: string;
  readonly target_no: number;
  readonly repeat_index: number;
  readonly status: ResultStatus;
  readonly score: number;
  readonly grader_kind: string;
  readonly grader_detail: Readonly<Record<string, unknown>>;
  readonly output: string | null;
  readonly output_hash: string;
  readonly request_id: string;
  readonly judge_request_ids: readonly string[];
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly cost_micro: number;
  readonly ttft_ms: number | null;
  readonly duration_ms: number | null;
  readonly error_code: string;
  readonly created_at: Date;
}

/** Results in the order in which they came, after `after`. */
export async function listResults(
  db: Db,
  args: {
    run_id: string;
    passed: boolean | null;
    target_no: number | null;
    case_id: string | null;
    after: number | null;
    limit: number;
  },
): Promise<ResultRow[]> {
  const { rows } = await db.query<ResultRow>({
    name: 'evals.list_results',
    text: `
      select id, run_id, case_id, target_no, repeat_index, status, score, grader_kind, grader_detail, output, output_hash,
             request_id, judge_request_ids, usage, cost_micro, ttft_ms, duration_ms, error_code, created_at
        from eval_result
       where run_id = $1 and ($2::boolean is null or (status = 'passed') = $2)
         and ($3::int is null or target_no = $3) and ($4::text is null or case_id = $4)
         and ($5::bigint is null or id > $5)
       order by id limit $6`,
    values: [args.run_id, args.passed, args.target_no, args.case_id, args.after, args.limit],
  });
  return rows;
}

/** The answers of one case by one target, together. */
export interface CaseScore {
  readonly case_no: number;
  readonly case_id: string;
  readonly target_no: number;
  readonly weight: number;
  readonly score: number;
  readonly grades: number;
  readonly grades_passed: number;
  readonly answers: number;
  readonly errors: number;
  readonly cost_micro: number;
}

/** Sums of a run by case and target, without what was skipped; `from` to `to` are numbers of cases. */
export async function readCaseScores(
  db: Db,
  args: { run_id: string; from: number; to: number },
): Promise<CaseScore[]> {
  const { rows } = await db.query<CaseScore>({
    name: 'evals.read_case_scores',
    text: `
      select case_no, min(case_id) as case_id, target_no, max(weight) as weight, avg(score) as score,
             sum(grades)::int as grades, sum(grades_passed)::int as grades_passed, count(*)::int as answers,
             count(*) filter (where status = 'error')::int as errors, sum(cost_micro)::bigint as cost_micro
        from eval_result
       where run_id = $1 and case_no >= $2 and case_no < $3 and status <> 'skipped'
       group by case_no, target_no
       order by case_no, target_no`,
    values: [args.run_id, args.from, args.to],
  });
  return rows;
}

/** Ids of the cases that two revisions of suites ask and grade in the same way. */
export async function readSameCases(
  db: Db,
  args: {
    one: { suite_id: string; suite_revision: number };
    other: { suite_id: string; suite_revision: number };
  },
): Promise<Set<string>> {
  const { one, other } = args;
  const { rows } = await db.query<{ case_id: string }>({
    name: 'evals.read_same_cases',
    text: `
      select a.case_id from eval_case a join eval_case b on b.case_id = a.case_id
       where a.suite_id = $1 and a.revision = $2 and b.suite_id = $3 and b.revision = $4
         and a.body -> 'input' = b.body -> 'input' and a.body -> 'grader' = b.body -> 'grader'`,
    values: [one.suite_id, one.suite_revision, other.suite_id, other.suite_revision],
  });
  return new Set(rows.map(({ case_id }) => case_id));
}
