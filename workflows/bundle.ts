// The code of all workflows as one script, made once per process and shared by its workers.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type Logger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** Bundles the workflows. @throws Error naming the import chain when a workflow reaches something of Node's. */
export function bundleWorkflows(logger: Logger): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger });
}
