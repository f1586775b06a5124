// Read the results of a run: each answer, each case, each target, and two targets beside each other.
import { Type } from 'typebox';
import {
  idOf,
  listOf,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  walkPage,
} from '../../kernel/index.ts';
import type { GraderKind } from '../grade/types.ts';
import { evalReaders } from '../suites/operations.ts';
import { getRun, runExample } from './operations.ts';
import { CaseRow, ComparisonView, ResultView, TargetScore } from './schema.ts';
import { listResults, type ResultRow } from './score-store.ts';
import { caseRows, compareTargets, targetScores } from './summary.ts';
import type { Run, Target } from './types.ts';

const RESULTS_DEFAULT = 100;
const RESULTS_MAX = 500;
const CASES_DEFAULT = 100;

const target = runExample.targets[0] as Target;
const exampleResult: ResultView = {
  id: 1,
  run_id: runExample.id,
  case_id: 'capital-of-france',
  target,
  ...{
    repeat_index: 0,
    status: 'passed',
    score: 1,
    grader_kind: 'exact',
    grader_detail: {},
    output: 'Paris',
  },
  request_id: '01KACZ3V8S6T5R4Q3P2N1M0K9J',
  ...{ judge_request_id: '', judge_request_ids: [] },
  usage: { input_tokens: 19, output_tokens: 1 },
  ...{ cost_micro: 4, ttft_ms: 212, duration_ms: 640, error_code: '' },
  created_at: '2026-11-21T10:00:02.000Z',
};
const exampleCell = {
  ...{ target, answers: 1, errors: 0, score: 1, passed: 1, of: 1 },
  ...{ pass_rate: 1, pass_low: 0.2065, pass_high: 1, cost_micro: 4 },
};
const exampleScore: TargetScore = { ...exampleCell, score_low: 1, score_high: 1 };

function viewResult(run: Run, row: ResultRow): ResultView {
  const { target_no, created_at, judge_request_ids, output_hash: _, ...facts } = row;
  return {
    ...facts,
    run_id: run.id,
    grader_kind: row.grader_kind as GraderKind,
    grader_detail: { ...row.grader_detail },
    usage: row.usage === null ? null : { ...row.usage },
    target: run.targets[target_no] as Target,
    judge_request_id: judge_request_ids[0] ?? '',
    judge_request_ids: [...judge_request_ids],
    created_at: created_at.toISOString(),
  };
}

export const listResultsOperation = operation({
  name: 'evals.runs.results',
  method: 'GET',
  path: '/v1/evals/runs/:id/results',
  summary: 'List graded answers, in the order in which they came',
  audience: evalReaders,
  input: Type.Object({
    id: idOf('eval_run'),
    passed: Type.Optional(Type.Boolean()),
    target: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 19, description: 'place in the list of targets' }),
    ),
    case_id: Type.Optional(Type.String()),
    ...pageInput(RESULTS_MAX),
  }),
  output: pageOf(ResultView),
  errors: [],
  example: { object: 'list', data: [exampleResult], next_cursor: '' },
  async run(context, input) {
    const run = await getRun(context, input.id);
    const filter = {
      passed: input.passed ?? null,
      target_no: input.target ?? null,
      case_id: input.case_id ?? null,
    };
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `evals.runs.results ${run.id} ${JSON.stringify(filter)}`,
      cursor: input.cursor,
      limit: input.limit ?? RESULTS_DEFAULT,
      read: (after, limit) =>
        listResults(context.db, { run_id: run.id, ...filter, after: after?.at ?? null, limit }),
      placeOf: (row) => ({ at: row.id, id: '' }),
    });
    return page(
      rows.map((row) => viewResult(run, row)),
      next_cursor,
      cursorAt,
    );
  },
});

export const listRunCasesOperation = operation({
  name: 'evals.runs.cases',
  method: 'GET',
  path: '/v1/evals/runs/:id/cases',
  summary: 'List cases with a cell for each target: score, pass rate and its bounds',
  audience: evalReaders,
  input: Type.Object({ id: idOf('eval_run'), ...pageInput(200) }),
  output: pageOf(CaseRow),
  errors: [],
  example: {
    object: 'list',
    data: [{ case_id: 'capital-of-france', cells: [exampleCell] }],
    next_cursor: '',
  },
  async run(context, input) {
    const run = await getRun(context, input.id);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `evals.runs.cases ${run.id}`,
      cursor: input.cursor,
      limit: input.limit ?? CASES_DEFAULT,
      read: (after, limit) => {
        const from = after === null ? 0 : after.at + 1;
        return caseRows(context, run, { from, to: from + limit });
      },
      placeOf: ({ case_no }) => ({ at: case_no, id: '' }),
    });
    return page(
      rows.map(({ row }) => row),
      next_cursor,
      cursorAt,
    );
  },
});

export const listTargetScoresOperation = operation({
  name: 'evals.runs.targets',
  method: 'GET',
  path: '/v1/evals/runs/:id/targets',
  summary: 'Show the score of each target so far',
  audience: evalReaders,
  input: Type.Object({ id: idOf('eval_run') }),
  output: listOf(TargetScore),
  errors: [],
  example: { object: 'list', data: [exampleScore] },
  async run(context, { id }) {
    return { object: 'list' as const, data: await targetScores(context, await getRun(context, id)) };
  },
});

const other = { model: 'openai/gpt-4o', endpoint: '' };

export const compareTargetsOperation = operation({
  name: 'evals.runs.compare',
  method: 'GET',
  path: '/v1/evals/runs/:id/compare',
  summary: 'Say whether a target is better than another, of this run or an earlier one',
  audience: evalReaders,
  input: Type.Object({
    id: idOf('eval_run'),
    // The run of `from`; default: this one.
    with: Type.Optional(idOf('eval_run')),
    from: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 19, description: 'place of a target; default 0' }),
    ),
    to: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: 19 },
        description: 'place of the other; default 1, with another run 0',
      }),
    ),
  }),
  output: ComparisonView,
  errors: [],
  example: {
    ...{ run_id: runExample.id, from_run_id: runExample.id },
    from: exampleScore,
    to: { ...exampleScore, target: other },
    ...{ cases: 1, changed: 0, difference: 0, low: 0, high: 0, p: 1, decision: 'cannot_tell' },
  },
  async run(context, { id, with: with_id = id, from = 0, to = with_id === id ? 1 : 0 }) {
    const run = await getRun(context, id);
    const from_run = with_id === id ? run : await getRun(context, with_id);
    const places = {
      from: { run: from_run, target_no: from },
      to: { run, target_no: to },
    };
    for (const param of ['from', 'to'] as const) {
      const { run, target_no } = places[param];
      if (target_no < run.targets.length) continue;
      throw new ServiceError('invalid_request', `The run has ${run.targets.length} targets.`, { param });
    }
    return compareTargets(context, places);
  },
});

export const resultOperations = [
  listResultsOperation,
  listRunCasesOperation,
  listTargetScoresOperation,
  compareTargetsOperation,
] as const;
