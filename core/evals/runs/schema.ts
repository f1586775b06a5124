// What the API shows of results, cases and comparisons.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, requestId, Time } from '../../kernel/index.ts';
import { graderKinds } from '../grade/types.ts';
import { resultStatuses, Target } from './types.ts';

const anyObject = Type.Record(Type.String(), Type.Unknown());

export const ResultView = named(
  'EvalResult',
  Type.Object({
    id: Type.Integer(),
    run_id: idOf('eval_run'),
    case_id: Type.String(),
    target: Target,
    repeat_index: Type.Integer(),
    status: oneOf(resultStatuses, 'EvalResultStatus'),
    score: Type.Number(),
    grader_kind: oneOf(graderKinds, 'EvalGraderKind'),
    grader_detail: anyObject,
    output: nullable(Type.String({ description: 'null when it is not kept' })),
    request_id: requestId(),
    judge_request_id: Type.String({ description: 'of the first sample; empty where no judge was asked' }),
    judge_request_ids: Type.Array(Type.String()),
    usage: nullable(anyObject),
    cost_micro: Type.Integer({ description: 'with that of the judge' }),
    ttft_ms: nullable(Type.Number()),
    duration_ms: nullable(Type.Number()),
    error_code: Type.String(),
    created_at: Time,
  }),
);
export type ResultView = Static<typeof ResultView>;

const cell = {
  answers: Type.Integer({ description: 'without what was skipped' }),
  errors: Type.Integer(),
  score: Type.Number(),
  passed: Type.Integer({ description: 'grades that pass: one per answer, or per sample of its judge' }),
  of: Type.Integer(),
  pass_rate: nullable(Type.Number({ description: 'null where nothing was graded' })),
  pass_low: Type.Number({ description: 'bounds of Wilson, 95 %' }),
  pass_high: Type.Number(),
  cost_micro: Type.Integer(),
};

export const CaseRow = named(
  'EvalCaseRow',
  Type.Object({
    case_id: Type.String(),
    cells: Type.Array(named('EvalCell', Type.Object({ target: Target, ...cell }))),
  }),
);
export type CaseRow = Static<typeof CaseRow>;

export const TargetScore = named(
  'EvalTargetScore',
  Type.Object({
    target: Target,
    ...cell,
    score_low: Type.Number({ description: 'bounds of 95 %, over cases drawn again' }),
    score_high: Type.Number(),
  }),
);
export type TargetScore = Static<typeof TargetScore>;

export const decisions = ['better', 'worse', 'cannot_tell'] as const;

export const ComparisonView = named(
  'EvalComparison',
  Type.Object({
    run_id: idOf('eval_run'),
    from_run_id: idOf('eval_run'),
    from: TargetScore,
    to: TargetScore,
    cases: Type.Integer({ description: 'that both answered' }),
    changed: Type.Integer({
      description: 'that both answered, but were asked or graded in another way; left out',
    }),
    difference: Type.Number({ description: 'of the scores case by case; above 0: the second is better' }),
    low: Type.Number({ description: 'bounds of 95 % of the difference' }),
    high: Type.Number(),
    p: Type.Number({ description: 'how often chance makes at least this difference' }),
    decision: oneOf(decisions, 'EvalDecision'),
  }),
);
export type ComparisonView = Static<typeof ComparisonView>;
