// Bundles the code of all workflows into one script, once per process; all workers share it.
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, type Logger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/**
 * Bundles the workflows, with what converts their failures where that is not Temporal's own way. @throws Error naming the import
 * chain when a workflow imports a module of Node.
 */
export function bundleWorkflows(
  logger: Logger,
  { failureConverterPath }: Pick<DataConverter, 'failureConverterPath'> = {},
): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));
  const failures = failureConverterPath === undefined ? {} : { failureConverterPath };
  return bundleWorkflowCode({ workflowsPath, logger, ...failures });
}
