// The one resolver of programs: environment variable, PATH, cache, installed at the pinned version, in this order.
import { type FoundTool, find } from './find.ts';
import { ensure } from './install.ts';
import type { Progress } from './program.ts';
import { type ToolName, tools } from './table.ts';

export { type FoundTool, variableOf } from './find.ts';
export type { Progress } from './program.ts';
export { type Tool, type ToolName, toolNames, tools } from './table.ts';

/**
 * Where the tool is, or null; installs nothing.
 * @throws Error when SVC_<TOOL>_BIN names something that is not the tool.
 */
export function findTool(name: ToolName): Promise<FoundTool | null> {
  return find(tools[name]);
}

/**
 * Where the tool is, installed first when this machine has none; kube-apiserver takes about ten minutes then.
 * `progress` hears of whatever takes over two seconds. @throws Error that says what to do when it cannot be had.
 */
export function resolveTool(
  name: ToolName,
  progress: Progress = () => {},
  signal?: AbortSignal,
): Promise<FoundTool> {
  return ensure(tools[name], { progress, signal });
}
