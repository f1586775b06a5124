// Start, follow and cancel runs.
import { type Static, Type } from 'typebox';
import { writeAudit } from '../../identity/index.ts';
import {
  type Context,
  idOf,
  isId,
  named,
  notFound,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  ServiceError,
  walkPage,
} from '../../kernel/index.ts';
import { signalWorkflow } from '../../workflow-starts/index.ts';
import { evalReaders, evalWriters } from '../suites/operations.ts';
import { estimateRun, startRun } from './start.ts';
import { findRun, listRuns, stopRun } from './store.ts';
import { type Run, RunView, viewRun } from './types.ts';

const DEFAULT_LIMIT = 50;
const TARGETS_MAX = 20;

export const runExample: RunView = {
  id: 'er_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  project_id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  environment: 'live',
  suite_id: 'es_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  suite_name: 'Capitals',
  suite_revision: 1,
  targets: [{ model: 'openai/gpt-4o-mini', endpoint: '' }],
  ...{ repeat: 1, concurrency: 4, judge_model: '', judge_samples: 1 },
  ...{ budget_micro: 500_000, estimate_micro: 98_500, cost_micro: 0, written_off_micro: 0 },
  ...{ status: 'pending', stop_reason: '' },
  counts: { total: 1, done: 0, passed: 0, failed: 0, errors: 0, skipped: 0 },
  ...{ score: null, score_low: null, score_high: null },
  created_at: '2026-11-21T10:00:00.000Z',
  ...{ started_at: null, finished_at: null },
};

const asked = {
  suite_id: idOf('eval_suite'),
  targets: Type.Array(
    named(
      'EvalTargetIn',
      Type.Object({
        model: Type.Optional(Type.String({ maxLength: 200 })),
        endpoint: Type.Optional(Type.String({ maxLength: 64 })),
      }),
    ),
    { minItems: 1, maxItems: TARGETS_MAX },
  ),
  repeat: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: 'default 1' })),
  judge_model: Type.Optional(Type.String({ maxLength: 200 })),
  judge_samples: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 9, description: 'grades of each answer by its judge; default 1' }),
  ),
};
const StartInput = Type.Object({
  ...asked,
  concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 16, description: 'default 4' })),
  budget_micro: Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 }),
  project_id: Type.Optional(idOf('project')),
});

const EstimateView = named(
  'EvalEstimate',
  Type.Object({
    suite_revision: Type.Integer(),
    answers: Type.Integer({ description: 'cases by targets by repeats' }),
    estimate_micro: Type.Integer({ description: 'the most that all of it can cost' }),
    available_micro: Type.Integer({ description: 'of the balance' }),
  }),
);

/** A run that the caller may see. @throws ServiceError not_found. */
export async function getRun(context: Context, id: string): Promise<Run> {
  const { org_id } = orgCaller(context);
  const run = isId('eval_run', id) ? await findRun(context.db, { org_id, id }) : null;
  if (run === null) throw notFound();
  return run;
}

export const listRunsOperation = operation({
  name: 'evals.runs.list',
  method: 'GET',
  path: '/v1/evals/runs',
  summary: 'List runs, newest first',
  audience: evalReaders,
  input: Type.Object({ suite_id: Type.Optional(idOf('eval_suite')), ...pageInput(200) }),
  output: pageOf(RunView),
  errors: [],
  example: { object: 'list', data: [runExample], next_cursor: '' },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const suite_id = input.suite_id ?? null;
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `evals.runs.list ${org_id} ${suite_id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listRuns(context.db, { org_id, suite_id, after, limit }),
      placeOf: (run) => ({ at: run.created_at.getTime(), id: run.id }),
    });
    return page(rows.map(viewRun), next_cursor, cursorAt);
  },
});

export const getRunOperation = operation({
  name: 'evals.runs.get',
  method: 'GET',
  path: '/v1/evals/runs/:id',
  summary: 'Read a run: how far it is, what it has cost, its score',
  audience: evalReaders,
  input: Type.Object({ id: idOf('eval_run') }),
  output: RunView,
  errors: [],
  example: runExample,
  run: async (context, { id }) => viewRun(await getRun(context, id)),
});

export const estimateRunOperation = operation({
  name: 'evals.runs.estimate',
  method: 'POST',
  path: '/v1/evals/runs/estimate',
  summary: 'Say the most that a run can cost, without starting it',
  audience: evalReaders,
  input: Type.Object(asked),
  output: EstimateView,
  errors: [],
  request: { suite_id: runExample.suite_id, targets: [{ model: 'openai/gpt-4o-mini' }] },
  example: { suite_revision: 1, answers: 1, estimate_micro: 98_500, available_micro: 12_000_000 },
  run: (context, input) => estimateRun(context, input),
});

const StartedRun = named('EvalRunStarted', Type.Object({ run: RunView, estimate_micro: Type.Integer() }));

export const createRunOperation = operation({
  name: 'evals.runs.create',
  method: 'POST',
  path: '/v1/evals/runs',
  summary: 'Run a suite over targets, within a budget',
  audience: evalWriters,
  input: StartInput,
  output: StartedRun,
  errors: ['insufficient_credits'],
  status: 201,
  idempotent: true,
  request: {
    suite_id: runExample.suite_id,
    targets: [{ model: 'openai/gpt-4o-mini' }],
    budget_micro: 500_000,
  },
  example: { run: runExample, estimate_micro: runExample.estimate_micro },
  async run(context, input): Promise<Static<typeof StartedRun>> {
    return context.transaction(async (context) => {
      const run = await startRun(context, input);
      const target = { type: 'eval_run', id: run.id, display: run.suite_name };
      const after = { budget_micro: run.budget_micro, suite_id: run.suite_id };
      await writeAudit(context, { action: 'evals.runs.create', org_id: run.org_id, target, after });
      return { run: viewRun(run), estimate_micro: run.estimate_micro };
    });
  },
});

export const cancelRunOperation = operation({
  name: 'evals.runs.cancel',
  method: 'POST',
  path: '/v1/evals/runs/:id/cancel',
  summary: 'Begin no more calls; those under way end and are kept',
  audience: evalWriters,
  input: Type.Object({ id: idOf('eval_run') }),
  output: RunView,
  errors: ['state_conflict'],
  example: { ...runExample, status: 'running', stop_reason: 'cancelled' },
  async run(context, { id }) {
    return context.transaction(async (context) => {
      const found = await getRun(context, id);
      const run = await stopRun(context.db, { id: found.id, reason: 'cancelled' });
      if (run === null) throw new ServiceError('state_conflict', 'The run has ended.', { param: 'id' });
      const workflow_id = `eval-${run.id}`;
      await signalWorkflow(context.db, { workflow_id, name: 'cancel', args: {}, at: context.now() });
      const target = { type: 'eval_run', id: run.id, display: run.suite_name };
      await writeAudit(context, { action: 'evals.runs.cancel', org_id: run.org_id, target });
      return viewRun(run);
    });
  },
});

export const runOperations = [
  listRunsOperation,
  getRunOperation,
  estimateRunOperation,
  createRunOperation,
  cancelRunOperation,
] as const;
