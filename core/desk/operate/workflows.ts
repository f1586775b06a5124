// The workflows that are open, as staff see them: how many of which kind, how old, and which step fails. What a worker saw last
// stands here; nothing of what a workflow is about does, but the id of the row.
import { Type } from 'typebox';
import { writeAudit } from '../../identity/index.ts';
import { lineOf, nullable, oneOf, operation, Time } from '../../kernel/index.ts';
import { countWorkflows, findLook, listWorkflows, type SeenWorkflow } from '../../workflow-starts/index.ts';

export const workflowStates = ['waiting', 'failing', 'open'] as const;
const SHOWN_MAX = 200;

const KindView = Type.Object({
  type: Type.String({ description: 'the kind: `topUp`, `refund`, `evalRun`, …' }),
  waiting: Type.Integer({ description: 'asked for, and not yet sent to Temporal' }),
  open: Type.Integer({ description: 'that run, or wait for a time or a signal' }),
  failing: Type.Integer({ description: 'of which the last try of a step failed' }),
  oldest_at: Time,
});

const WorkflowRow = Type.Object({
  id: Type.String({ description: 'has the id of the row that it is about' }),
  type: Type.String(),
  state: oneOf(workflowStates),
  since: Time,
  step: nullable(Type.String({ description: 'that failed last' })),
  attempt: nullable(Type.Integer({ description: 'its tries so far' })),
  failure: nullable(Type.String({ description: 'kind and code, never what it was about' })),
  failed_at: nullable(Time),
});

export const WorkflowsView = Type.Object({
  looked_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'when a worker last asked Temporal; null: none has yet',
    }),
  ),
  complete: Type.Boolean({ description: 'false: more are open than a look takes' }),
  kinds: Type.Array(KindView),
  workflows: Type.Array(WorkflowRow, {
    description: `at most ${SHOWN_MAX}: those that fail first, then the oldest`,
  }),
});

function viewWorkflow({ workflow_id, since, failed_at, ...seen }: SeenWorkflow) {
  return {
    ...seen,
    id: workflow_id,
    since: since.toISOString(),
    failed_at: failed_at?.toISOString() ?? null,
  };
}

export const listWorkflowsOperation = operation({
  name: 'staff.workflows.list',
  method: 'GET',
  path: '/staff/workflows',
  summary: 'Show the workflows that are open, by kind, with the steps that fail',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({ type: Type.Optional(lineOf(60)) }),
  output: WorkflowsView,
  errors: [],
  example: {
    looked_at: '2026-11-21T10:00:00.000Z',
    complete: true,
    kinds: [{ type: 'topUp', waiting: 0, open: 3, failing: 0, oldest_at: '2026-11-20T18:00:00.000Z' }],
    workflows: [],
  },
  run: (context, { type }) =>
    context.transaction(async (context) => {
      const { db } = context;
      await writeAudit(context, {
        ...{ action: 'staff.workflows.list', org_id: null },
        ...(type === undefined ? {} : { after: { type } }),
      });
      const look = await findLook(db);
      const kinds = await countWorkflows(db);
      const workflows = await listWorkflows(db, { type: type ?? null, limit: SHOWN_MAX });
      return {
        looked_at: look?.looked_at?.toISOString() ?? null,
        complete: look?.complete ?? true,
        kinds: kinds.map((kind) => ({ ...kind, oldest_at: kind.oldest_at.toISOString() })),
        workflows: workflows.map(viewWorkflow),
      };
    }),
});
