// Evaluations: suites of cases, and runs of them over models.
import {
  addCasesOperation,
  CaseRow,
  CaseView,
  ComparisonView,
  cancelRunOperation,
  compareTargetsOperation,
  createRunOperation,
  createSuiteOperation,
  decisions,
  deleteSuiteOperation,
  estimateRunOperation,
  getCaseOperation,
  getRunOperation,
  getSuiteOperation,
  graderKinds,
  listCasesOperation,
  listResultsOperation,
  listRunCasesOperation,
  listRunsOperation,
  listSuitesOperation,
  listTargetScoresOperation,
  patchSuiteOperation,
  ResultView,
  RunView,
  removeCaseOperation,
  resultStatuses,
  runStatuses,
  SuiteSummary,
  SuiteView,
  suiteHistoryOperation,
  TargetScore,
  updateCaseOperation,
} from '@svc/core/evals/index.ts';
import type { Environment } from '@svc/core/kernel/index.ts';
import { toWire } from '../../derive.ts';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';
import { EnvironmentEnum } from './common.ts';

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
const SuiteCase = derive.output('EvalSuiteCaseRow', CaseView);
const SuiteCaseConnection = connectionType('EvalSuiteCaseRow', SuiteCase);
const History = derive.output('EvalSuiteHistory', suiteHistoryOperation.output);
const Estimate = derive.output('EvalEstimate', estimateRunOperation.output);
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
  evalSuiteCases: pageField(t, 'EvalSuiteCases', {
    operation: listCasesOperation,
    type: SuiteCaseConnection,
    description: 'Cases of a suite in their order, of the present revision or another.',
    options: () => ({}),
  }),
  evalSuiteCase: t.field({
    type: SuiteCase,
    nullable: true,
    description: 'A case of the present revision; null where there is none.',
    args: { id: t.arg.id({ required: true }), caseId: t.arg.string({ required: true }) },
    extensions: { operation: getCaseOperation.name },
    resolve: (_root, { id, caseId }, { runner }) =>
      nullWhenMissing(runner.run(getCaseOperation, { id, case_id: caseId })),
  }),
  evalSuiteHistory: t.field({
    type: History,
    nullable: true,
    description: 'A suite without its cases, with the revisions that are kept, newest first.',
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: suiteHistoryOperation.name },
    resolve: (_root, { id }, { runner }) => nullWhenMissing(runner.run(suiteHistoryOperation, { id })),
  }),
}));

builder.queryFields((t) => ({
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
  evalEstimate: t.field({
    type: Estimate,
    nullable: true,
    description: 'The most that a run can cost, and what there is; null where there is no such suite.',
    args: {
      ...(derive.args(t.arg, 'EvalEstimate', estimateRunOperation.input) as Record<string, never>),
      environment: t.arg({ type: EnvironmentEnum }),
    },
    // Five thousand cases are counted.
    complexity: { field: 500 },
    extensions: { operation: estimateRunOperation.name },
    resolve: (_root, { environment, ...args }, { runner }) =>
      nullWhenMissing(
        runner.run(estimateRunOperation, toWire(estimateRunOperation.input, args), { environment }),
      ),
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
    description:
      'Whether a target is better than another, of this run or of `with`; null where there is no such run.',
    args: { id: t.arg.id({ required: true }), with: t.arg.id(), from: t.arg.int(), to: t.arg.int() },
    extensions: { operation: compareTargetsOperation.name },
    resolve: (_root, { id, with: other, from, to }, { runner }) =>
      nullWhenMissing(
        runner.run(compareTargetsOperation, {
          id,
          ...(other == null ? {} : { with: other }),
          ...(from == null ? {} : { from }),
          ...(to == null ? {} : { to }),
        }),
      ),
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

for (const [name, operation, description] of [
  ['addEvalCases', addCasesOperation, 'Adds up to 200 cases at the end of a suite, in a new revision.'],
  ['updateEvalCase', updateCaseOperation, 'Changes a case, in a new revision; it keeps its place.'],
  ['removeEvalCase', removeCaseOperation, 'Removes a case, in a new revision.'],
] as const) {
  mutation({
    ...{ name, operation, input: operation.input, description },
    payload: (t) => ({
      suite: t.field({ type: Summary, resolve: ({ answer }: Answer<unknown>) => answer }),
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
  extra: (t) => ({ environment: t.field({ type: EnvironmentEnum }) }),
  options: ({ environment }) => ({ environment: (environment ?? null) as Environment | null }),
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
