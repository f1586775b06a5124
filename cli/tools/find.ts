// Finds a tool: named by an environment variable, on PATH in a recent enough version, or in the cache. Installs
// nothing.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runCommand } from './program.ts';
import { toolsDirectory } from './python.ts';
import type { Tool } from './table.ts';

export interface FoundTool {
  readonly name: string;
  readonly path: string;
  /** The version that the program prints; `unknown` when it prints none. */
  readonly version: string;
  readonly where: 'environment' | 'PATH' | 'cache';
}

const VERSION_LIMIT_MS = 20_000;

/** The environment variable that names a tool: SVC_KUBE_APISERVER_BIN for kube-apiserver. */
export function variableOf(tool: Pick<Tool, 'name'>): string {
  return `SVC_${tool.name.toUpperCase().replaceAll('-', '_')}_BIN`;
}

/** The folder that a tool is installed into, shared by all checkouts. */
export function folderOf(tool: Pick<Tool, 'name' | 'pinned'>): string {
  return join(toolsDirectory(), `${tool.name}-${tool.pinned}`);
}

/** Whether version `have` is `least` or newer; missing parts count as 0. */
export function isAtLeast(have: string, least: string): boolean {
  const parts = (version: string) => version.split('.').map(Number);
  const wanted = parts(least);
  const got = parts(have);
  for (const [at, part] of wanted.entries()) {
    const difference = (got[at] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The version that the program at `path` prints, or its output when no version is found in it. */
export async function askVersion(tool: Tool, path: string): Promise<{ version: string } | { fault: string }> {
  if (tool.version === null) return { version: 'unknown' };
  const { output } = await runCommand(path, { args: tool.version.args, limit_ms: VERSION_LIMIT_MS });
  // The exit code is ignored: some programs print their version and then exit with 1 because no server is running.
  const version = tool.version.pattern.exec(output)?.[1];
  return version === undefined ? { fault: output || 'no output' } : { version };
}

async function findInEnvironment(tool: Tool): Promise<FoundTool | null> {
  const variable = variableOf(tool);
  const path = process.env[variable];
  if (!path) return null;
  if (!isExecutable(path)) throw new Error(`${variable} names ${path}, which is not a program.`);
  const asked = await askVersion(tool, path);
  // Any version is accepted: whoever sets the variable has chosen it.
  if ('fault' in asked)
    throw new Error(`${variable} names ${path}, which is not ${tool.name}: ${asked.fault.slice(-400)}`);
  return { name: tool.name, path, version: asked.version, where: 'environment' };
}

async function findOnPath(tool: Tool): Promise<FoundTool | null> {
  if (tool.version === null) return null;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const program of tool.programs) {
    for (const folder of folders) {
      const path = join(folder, program);
      if (!isExecutable(path)) continue;
      const asked = await askVersion(tool, path);
      if ('version' in asked && isAtLeast(asked.version, tool.at_least))
        return { name: tool.name, path, version: asked.version, where: 'PATH' };
    }
  }
  return null;
}

/** The tool in the cache. Whatever is there is complete and of the pinned version (install.ts). */
export function findInCache(tool: Tool): FoundTool | null {
  if (tool.pinned === '') return null;
  const path = join(folderOf(tool), tool.program);
  return isExecutable(path) ? { name: tool.name, path, version: tool.pinned, where: 'cache' } : null;
}

/**
 * The program of `tool`; null when this machine has no suitable one.
 * @throws Error when the environment names an unsuitable one: that is a mistake, and no reason to use another.
 */
export async function find(tool: Tool): Promise<FoundTool | null> {
  return (await findInEnvironment(tool)) ?? (await findOnPath(tool)) ?? findInCache(tool);
}
