// Evaluations: suites of cases, and runs of them over models.
import {
  CaseRow,
  ComparisonView,
  cancelRunOperation,
  compareTargetsOperation,
  createRunOperation,
  createSuiteOperation,
  decisions,
  deleteSuiteOperation,
  getRunOperation,
  getSuiteOperation,
  graderKinds,
  listResultsOperation,
  listRunCasesOperation,
  listRunsOperation,
  listSuitesOperation,
  listTargetScoresOperation,
  patchSuiteOperation,
  ResultView,
  RunView,
  resultStatuses,
  runStatuses,
  SuiteSummary,
  SuiteView,
  TargetScore,
} from '@svc/core/evals/index.ts';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';

derive.enum('EvalGraderKind', graderKinds);
derive.enum('EvalRunStatus', runStatuses);
derive.enum('EvalResultStatus', resultStatuses);
derive.enum('EvalDecision', decisions);

const Summary = derive.output('EvalSuiteSummary', SuiteSummary);
const SummaryConnection = connectionType('EvalSuiteSummary', Summary);
const Suite = derive.output('EvalSuite', SuiteView, { names: { cases: 'EvalCase' } });
export const EvalRun = derive.output('EvalRun', RunView);
const RunConnection = connectionType('EvalRun', EvalRun);
const Result = derive.output('EvalResult', ResultView);
const ResultConnection = connectionType('EvalResult', Result);
const Cases = derive.output('EvalCaseRow', CaseRow);
const CasesConnection = connectionType('EvalCaseRow', Cases);
const Score = derive.output('EvalTargetScore', TargetScore);
const Comparison = derive.output('EvalComparison', ComparisonView);

builder.queryFields((t) => ({
  evalSuites: pageField(t, 'EvalSuites', {
    operation: listSuitesOperation,
    type: SummaryConnection,
    description: 'Suites without their cases, newest first.',
    options: () => ({}),
  }),
  evalSuite: t.field({
    type: Suite,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getSuiteOperation.name },
    resolve: (_root, { id }, { runner }) => nullWhenMissing(runner.run(getSuiteOperation, { id })),
  }),
  evalRuns: pageField(t, 'EvalRuns', {
    operation: listRunsOperation,
    type: RunConnection,
    description: 'Runs, newest first.',
    options: () => ({}),
  }),
  evalRun: t.field({
    type: EvalRun,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getRunOperation.name },
    resolve: (_root, { id }, { runner }) => nullWhenMissing(runner.run(getRunOperation, { id })),
  }),
  evalResults: pageField(t, 'EvalResults', {
    operation: listResultsOperation,
    type: ResultConnection,
    description: 'Graded answers of a run, in the order in which they came.',
    options: () => ({}),
  }),
  evalCases: pageField(t, 'EvalCases', {
    operation: listRunCasesOperation,
    type: CasesConnection,
    description: 'Cases of a run with a cell for each target.',
    options: () => ({}),
  }),
  evalTargets: t.field({
    type: [Score],
    nullable: true,
    description: 'The score of each target of a run so far; null where there is no such run.',
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: listTargetScoresOperation.name },
    resolve: async (_root, { id }, { runner }) =>
      (await nullWhenMissing(runner.run(listTargetScoresOperation, { id })))?.data ?? null,
  }),
  evalComparison: t.field({
    type: Comparison,
    nullable: true,
    description: 'Whether one target of a run is better than another; null where there is no such run.',
    args: { id: t.arg.id({ required: true }), from: t.arg.int(), to: t.arg.int() },
    extensions: { operation: compareTargetsOperation.name },
    resolve: (_root, { id, from, to }, { runner }) =>
      nullWhenMissing(runner.run(compareTargetsOperation, { id, from: from ?? 0, to: to ?? 1 })),
  }),
}));

interface Answer<T> {
  readonly answer: T;
}

for (const [name, operation, description] of [
  ['createEvalSuite', createSuiteOperation, 'Makes a suite of cases.'],
  ['updateEvalSuite', patchSuiteOperation, 'Renames a suite, or gives it other cases in a new revision.'],
] as const) {
  mutation({
    ...{ name, operation, input: operation.input, description },
    payload: (t) => ({
      suite: t.field({ type: Suite, resolve: ({ answer }: Answer<unknown>) => answer }),
    }),
  });
}

mutation({
  name: 'deleteEvalSuite',
  operation: deleteSuiteOperation,
  input: deleteSuiteOperation.input,
  description: 'Deletes a suite; its runs and their results stay.',
  payload: (t) => ({ deleted: t.boolean({ resolve: () => true }) }),
});

mutation({
  name: 'createEvalRun',
  operation: createRunOperation,
  input: createRunOperation.input,
  description: 'Runs a suite over targets, within a budget.',
  payload: (t) => ({
    run: t.field({ type: EvalRun, resolve: ({ answer }: Answer<{ run: unknown }>) => answer.run }),
    estimateMicro: t.field({
      type: 'MicroUSD',
      resolve: ({ answer }: Answer<{ estimate_micro: number }>) => answer.estimate_micro,
    }),
  }),
});

mutation({
  name: 'cancelEvalRun',
  operation: cancelRunOperation,
  input: cancelRunOperation.input,
  description: 'Begins no more calls of a run; those under way end and are kept.',
  payload: (t) => ({
    run: t.field({ type: EvalRun, resolve: ({ answer }: Answer<unknown>) => answer }),
  }),
});
