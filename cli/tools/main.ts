// `make tools`: installs what tests and `make up` need in addition to npm packages, and prints where each program is.
//
//   node cli/tools/main.ts [NAME…]      all of them, or only those named
import { join } from 'node:path';
import { findPostgres } from './postgres.ts';
import { runCommand } from './program.ts';
import { ensurePythonClients } from './python.ts';
import { findTool, resolveTool, type ToolName, toolNames, tools } from './tools.ts';

interface Row {
  readonly version: string;
  readonly where: string;
  readonly path: string;
}

type Say = (message: string) => void;

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    ended.abort();
    process.exitCode = 130;
    // Running installs clean up after themselves; a process that only waits for another has nothing to clean up.
    setTimeout(() => process.exit(130), 3_000).unref();
  });
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const line = (...[name, version, where, seconds, path]: readonly string[]) =>
  print(
    `${name?.padEnd(22)}${version?.padEnd(18)}${where?.padEnd(13)}${seconds?.padStart(7)}  ${path}`.trimEnd(),
  );

async function resolveRow(name: ToolName, say: Say): Promise<Row> {
  const { needed_for } = tools[name];
  if (needed_for !== undefined && (await findTool(name)) === null) {
    const built = await Promise.all(needed_for.map(findTool));
    if (!built.includes(null))
      return { version: '-', where: 'not needed', path: `only for ${needed_for.join(' and ')}` };
  }
  return resolveTool(name, say, ended.signal);
}

/** What a program prints for --version, or `-`. */
async function versionOf(path: string): Promise<string> {
  const { output } = await runCommand(path, { args: ['--version'], limit_ms: 20_000 });
  return /\d+(?:\.\d+)+/.exec(output)?.[0] ?? '-';
}

async function postgresRow(): Promise<Row> {
  const path = findPostgres();
  const where = process.env['SVC_PG_BIN'] ? 'environment' : 'npm';
  return { version: await versionOf(join(path, 'postgres')), where, path };
}

async function pythonRow(say: Say): Promise<Row> {
  const path = await ensurePythonClients(say);
  const where = process.env['SVC_PYTHON_BIN'] ? 'environment' : 'cache';
  return { version: await versionOf(path), where, path };
}

const rows: Readonly<Record<string, (say: Say) => Row | Promise<Row>>> = {
  node: () => ({ version: process.versions.node, where: 'npm', path: process.execPath }),
  postgres: postgresRow,
  python: pythonRow,
  ...Object.fromEntries(toolNames.map((name) => [name, (say: Say) => resolveRow(name, say)])),
};

async function show(name: string): Promise<void> {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  try {
    const resolve = rows[name];
    if (resolve === undefined)
      throw new Error(`there is no such tool; known are ${Object.keys(rows).join(', ')}`);
    const { version, where, path } = await resolve((message) => print(`  ${message}`));
    line(name, version, where, seconds(), path);
  } catch (error) {
    line(name, '-', 'MISSING', seconds(), (error as Error).message);
    process.exitCode ||= 1;
  }
}

line('tool', 'version', 'found in', 'took', 'path');
const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(rows)) {
  if (ended.signal.aborted) break;
  await show(name);
}
