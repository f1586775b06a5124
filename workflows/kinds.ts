// How workflows of each type are started and told, for the relay.
import type { WorkflowStart } from '@svc/core/workflow-starts/index.ts';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';

type TaskQueue = 'money' | 'work';
export const taskQueues: readonly TaskQueue[] = ['money', 'work'];

export interface Kind {
  readonly task_queue: TaskQueue;
  /** One line of Temporal's UI. */
  readonly summary: string;
  /** Signals that run a workflow once more when it has ended: facts that came after all. */
  readonly revived_by: readonly string[];
}

const kinds: Readonly<Record<string, Kind>> = {
  // A bank transfer can arrive days after the workflow ended; its receipt is still to be mailed.
  topUp: { task_queue: 'money', summary: 'Top-up from checkout to receipt', revived_by: ['booked'] },
};

/** The kind of workflows of `type`; null for one of a release that is newer than this program. */
export function kindOf(type: string): Kind | null {
  return kinds[type] ?? null;
}

/** How Temporal is asked to start `start`: once, whatever has become of an earlier run. */
export function startOptions(kind: Kind, start: WorkflowStart) {
  return {
    workflowId: start.workflow_id,
    taskQueue: kind.task_queue,
    args: [start.args],
    memo: start.args,
    staticSummary: kind.summary,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  };
}
