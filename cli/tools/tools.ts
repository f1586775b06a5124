// The one resolver of programs. It tries, in this order: environment variable, PATH, cache, installing the pinned
// version.
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
 * Where the tool is; it is installed first when this machine has none, which takes about ten minutes for
 * kube-apiserver. `progress` is called for whatever takes over two seconds. @throws Error that says what to do when
 * it cannot be installed.
 */
export function resolveTool(
  name: ToolName,
  progress: Progress = () => {},
  signal?: AbortSignal,
): Promise<FoundTool> {
  return ensure(tools[name], { progress, signal });
}
