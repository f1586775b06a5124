// How the relay starts and signals workflows of each type.
import type { WorkflowStart } from '@svc/core/workflow-starts/index.ts';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { orgKey, STARTING, stateKey } from './search.ts';

type TaskQueue = 'money' | 'work';
export const taskQueues: readonly TaskQueue[] = ['money', 'work'];

export interface Kind {
  readonly task_queue: TaskQueue;
  /** Shown in Temporal's UI; one line. */
  readonly summary: string;
  /** Signals that run an ended workflow once more: they report facts that came late. */
  readonly revived_by: readonly string[];
}

const kinds: Readonly<Record<string, Kind>> = {
  // A bank transfer can arrive days after the workflow ended; its receipt must still be sent.
  topUp: { task_queue: 'money', summary: 'Top-up from checkout to receipt', revived_by: ['booked'] },
  // A debit that was given up can be booked after all.
  autoTopup: { task_queue: 'money', summary: 'Automatic top-up', revived_by: ['booked'] },
  // It is cancelled long after it was registered, and the rail must forget it then.
  mandate: { task_queue: 'money', summary: 'Mandate', revived_by: ['cancelled'] },
  // A bank may decide after half a year.
  dispute: { task_queue: 'money', summary: 'Dispute until its end', revived_by: ['railDispute'] },
  erasure: { task_queue: 'work', summary: 'Erasure of an end user', revived_by: [] },
  evalRun: { task_queue: 'work', summary: 'Run of an evaluation', revived_by: [] },
  invoiceIssue: { task_queue: 'money', summary: 'Registration of a document', revived_by: [] },
  // A payment may arrive after everything had followed; staff may open an organization again, and it is closed once more.
  orgClose: { task_queue: 'money', summary: 'Closing of an organization', revived_by: ['booked', 'closed'] },
  // It may be taken back and be asked for again.
  orgErasure: { task_queue: 'work', summary: 'Erasure of an organization', revived_by: ['asked'] },
  planPeriod: { task_queue: 'money', summary: 'Fee of a plan for a month', revived_by: [] },
  // A rail may say after weeks what became of it.
  refund: { task_queue: 'money', summary: 'Refund at the rail', revived_by: ['railRefund'] },
};

/** The kind of workflows of `type`; null for a type that only a newer release knows. */
export function kindOf(type: string): Kind | null {
  return kinds[type] ?? null;
}

/** A start; who it is found by may be missing. */
type Start = Omit<WorkflowStart, 'org_id'> & Partial<Pick<WorkflowStart, 'org_id'>>;

/** What a start is found by: its organization where it is known, and that it begins. */
function searchedBy({ org_id = null }: Start): SearchAttributePair[] {
  const state = { key: stateKey, value: STARTING };
  return org_id === null ? [state] : [state, { key: orgKey, value: org_id }];
}

/**
 * Options that start `start` in Temporal at most once, however an earlier run ended; `searchable`: with search attributes.
 */
export function startOptions(kind: Kind, start: Start, searchable = false) {
  return {
    workflowId: start.workflow_id,
    taskQueue: kind.task_queue,
    args: [start.args],
    memo: start.args,
    staticSummary: kind.summary,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    ...(searchable ? { typedSearchAttributes: searchedBy(start) } : {}),
  };
}
