// Bundles the code of all workflows into one script, once per process; all workers share it.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type Logger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** Bundles the workflows. @throws Error naming the import chain when a workflow imports a module of Node. */
export function bundleWorkflows(logger: Logger): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger });
}
