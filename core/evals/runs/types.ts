// A run of a suite: what was asked, how far it is, and its graded answers.
import { type Static, Type } from 'typebox';
import { type Environment, type Id, idOf, named, nullable, oneOf, Time } from '../../kernel/index.ts';

export const runStatuses = ['pending', 'running', 'completed', 'stopped', 'cancelled', 'failed'] as const;
export type RunStatus = (typeof runStatuses)[number];
const stopReasons = ['', 'budget', 'cancelled', 'credits', 'error'] as const;
export type StopReason = (typeof stopReasons)[number];
export const resultStatuses = ['passed', 'failed', 'error', 'skipped'] as const;
export type ResultStatus = (typeof resultStatuses)[number];

export const Target = named(
  'EvalTarget',
  Type.Object({
    model: Type.String({ description: 'empty only where each case names its own' }),
    endpoint: Type.String({ description: 'the only endpoint that is tried; empty: by the usual route' }),
  }),
);
export type Target = Static<typeof Target>;

export interface Run {
  readonly id: Id<'eval_run'>;
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  readonly environment: Environment;
  readonly key_id: Id<'key'> | null;
  readonly key_no: number;
  readonly suite_id: Id<'eval_suite'>;
  readonly suite_name: string;
  readonly suite_revision: number;
  readonly case_count: number;
  readonly targets: readonly Target[];
  readonly repeat: number;
  readonly concurrency: number;
  readonly judge_model: string;
  readonly judge_samples: number;
  readonly budget_micro: number;
  readonly estimate_micro: number;
  readonly status: RunStatus;
  readonly stop_reason: StopReason;
  readonly spent_micro: number;
  readonly reserved_micro: number;
  readonly written_off_micro: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly skipped: number;
  readonly score: number | null;
  readonly score_low: number | null;
  readonly score_high: number | null;
  readonly outputs_until: Date | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

const Counts = named(
  'EvalCounts',
  Type.Object({
    total: Type.Integer(),
    done: Type.Integer(),
    passed: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Integer(),
    skipped: Type.Integer(),
  }),
);

export const RunView = named(
  'EvalRun',
  Type.Object({
    id: idOf('eval_run'),
    org_id: idOf('org'),
    project_id: idOf('project'),
    environment: oneOf(['live', 'test'], 'Environment'),
    suite_id: idOf('eval_suite'),
    suite_name: Type.String(),
    suite_revision: Type.Integer(),
    targets: Type.Array(Target),
    repeat: Type.Integer(),
    concurrency: Type.Integer(),
    judge_model: Type.String({ description: 'empty: each grader names its own' }),
    judge_samples: Type.Integer(),
    budget_micro: Type.Integer({ description: 'a run never costs more' }),
    estimate_micro: Type.Integer({ description: 'the most that all of it can cost; binds nobody' }),
    cost_micro: Type.Integer(),
    written_off_micro: Type.Integer({
      description: 'reported by providers above what was set aside; not charged',
    }),
    status: oneOf(runStatuses, 'EvalRunStatus'),
    stop_reason: oneOf(stopReasons, 'EvalStopReason'),
    counts: Counts,
    score: nullable(
      Type.Number({ description: '0 to 1; an error counts 0, what was skipped does not count' }),
    ),
    score_low: nullable(Type.Number({ description: 'bounds of 95 %, over cases drawn again' })),
    score_high: nullable(Type.Number()),
    created_at: Time,
    started_at: nullable(Time),
    finished_at: nullable(Time),
  }),
);
export type RunView = Static<typeof RunView>;

/** The number of answers that a run asks for. */
export function totalOf(run: Pick<Run, 'case_count' | 'targets' | 'repeat'>): number {
  return run.case_count * run.targets.length * run.repeat;
}

/** A run as the API shows it. */
export function viewRun(run: Run): RunView {
  const { passed, failed, errors, skipped } = run;
  const done = passed + failed + errors + skipped;
  const { id, org_id, project_id, environment, suite_id, suite_name, suite_revision } = run;
  const { repeat, concurrency, judge_model, judge_samples, budget_micro, estimate_micro } = run;
  const { written_off_micro, status, stop_reason, score, score_low, score_high } = run;
  return {
    ...{ id, org_id, project_id, environment, suite_id, suite_name, suite_revision },
    targets: [...run.targets],
    ...{ repeat, concurrency, judge_model, judge_samples, budget_micro, estimate_micro },
    cost_micro: run.spent_micro,
    ...{ written_off_micro, status, stop_reason },
    counts: { total: totalOf(run), done, passed, failed, errors, skipped },
    ...{ score, score_low, score_high },
    created_at: run.created_at.toISOString(),
    started_at: run.started_at?.toISOString() ?? null,
    finished_at: run.finished_at?.toISOString() ?? null,
  };
}

/** Which answer of a run: a case, a target and a repeat, as one number. */
export interface Unit {
  readonly unit_no: number;
  readonly case_no: number;
  readonly target_no: number;
  readonly repeat_index: number;
}

/** The unit of a number; all answers of a case come together. */
export function unitOf(run: Pick<Run, 'targets' | 'repeat'>, unit_no: number): Unit {
  const per_case = run.targets.length * run.repeat;
  const within = unit_no % per_case;
  return {
    unit_no,
    case_no: Math.floor(unit_no / per_case),
    target_no: Math.floor(within / run.repeat),
    repeat_index: within % run.repeat,
  };
}

/** A graded answer, as it is stored. */
export interface Result extends Unit {
  readonly case_id: string;
  readonly weight: number;
  readonly status: ResultStatus;
  readonly score: number;
  readonly grades: number;
  readonly grades_passed: number;
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
}
