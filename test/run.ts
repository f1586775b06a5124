// `make test`: every suite, one line each, and at the end a line of its own that says how many passed.
// Nothing is skipped in silence: a skipped test, a suite that did not report and a missing tool count as failed.
// `make test ONLY=folder` leaves out the test files outside of that folder, and says so.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { findTool, resolveTool, toolNames, tools } from '@svc/cli/tools/tools.ts';
import { ensureChdb } from './sim/clickhouse/install.ts';
import { exceeded, readBudgets } from './suite/budgets.ts';
import type { Counts } from './suite/counts.ts';
import { longestFiles, readDurations } from './suite/durations.ts';
import { filesIn, root, under } from './suite/parts.ts';
import { endPrograms, env } from './suite/program.ts';
import { cleanup, clusterSuite, consoleSuite, lint, type Suite, types, vitestSuite } from './suite/suites.ts';

const SIGN_OF_LIFE_MS = 20_000;
const LISTED = 20;
/** What a whole run may take on two cores with all programs present. */
const BUDGET_MINUTES = 28;
const ended = new AbortController();

async function runSuite(suite: Suite): Promise<Counts> {
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${suite.name.padEnd(8)} running\n`);
  const ticker = setInterval(
    () => process.stdout.write(`${suite.name.padEnd(8)} still running, ${seconds()} s\n`),
    SIGN_OF_LIFE_MS,
  );
  const { counts, output } = await suite.run();
  clearInterval(ticker);
  if (output !== '') process.stdout.write(`${output.trimEnd()}\n`);
  process.stdout.write(
    `${suite.name.padEnd(8)} ${counts.passed} passed, ${counts.failed} failed (${seconds()} s)\n`,
  );
  return counts;
}

const sayTool = (message: string) => process.stdout.write(`tools    ${message}\n`);

/** Makes sure of the tools that take seconds; each that cannot be had counts as one failure. */
async function prepareTools(): Promise<string[]> {
  const started = performance.now();
  const faults: string[] = [];
  const prepare = async (name: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      sayTool(`${name}: ${(error as Error).message}`);
      faults.push(`tools: ${name} is missing`);
    }
  };
  await prepare('python', async () => {
    env['SVC_PYTHON_BIN'] = await ensurePythonClients(sayTool);
    env['SVC_PYTHON_LANGCHAIN_BIN'] = await ensurePythonClients(sayTool, 'langchain');
    env['SVC_PYTHON_FRAMEWORKS_BIN'] = await ensurePythonClients(sayTool, 'frameworks');
    env['SVC_PYTHON_INSTRUCTOR_BIN'] = await ensurePythonClients(sayTool, 'instructor');
    env['SVC_PYTHON_GENERATOR_BIN'] = await ensurePythonClients(sayTool, 'generator');
  });
  await prepare('chdb', async () => void (await ensureChdb(sayTool)));
  // Not what only builds another: that is found when the other is built.
  const quick = toolNames.filter((name) => name !== 'kube-apiserver' && !tools[name].needed_for);
  for (const name of quick) await prepare(name, () => resolveTool(name, sayTool, ended.signal));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  sayTool(`${quick.length + 1 - faults.length} found, ${faults.length} missing (${seconds} s)`);
  return faults;
}

function buildApiServer(): Promise<unknown> {
  const built = resolveTool('kube-apiserver', sayTool, ended.signal);
  built.catch(() => {});
  return built;
}

/** Suites of the whole: in turn, those of one row beside one another. */
async function wholeRun(): Promise<readonly (readonly Suite[])[]> {
  const checks = [types, lint, consoleSuite(true)];
  const present = await findTool('kube-apiserver').catch(() => null);
  if (present !== null) return [checks, [vitestSuite('tests', 'all')], [cleanup]];
  // Built beside everything that can do without it.
  const apiServer = buildApiServer();
  return [checks, [vitestSuite('tests', 'most')], [clusterSuite(apiServer)], [cleanup]];
}

/** Suites of `files` alone. */
function partialRun(files: readonly string[]): readonly (readonly Suite[])[] {
  const kubernetes = new Set(filesIn('kubernetes'));
  const most = files.filter((file) => !kubernetes.has(file));
  const cluster = files.filter((file) => kubernetes.has(file));
  return [
    [types, lint, consoleSuite(false)],
    ...(most.length > 0 ? [[vitestSuite('tests', 'most', most)]] : []),
    ...(cluster.length > 0 ? [[clusterSuite(buildApiServer(), cluster)]] : []),
    [cleanup],
  ];
}

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`);
}

/** Runs the suites and says how it went. True when nothing failed. */
async function run(rows: readonly (readonly Suite[])[], faults: string[]): Promise<Counts> {
  let passed = 0;
  let failed = faults.length;
  const unsteady: string[] = [];
  for (const row of rows) {
    for (const counts of await Promise.all(row.map(runSuite))) {
      passed += counts.passed;
      failed += counts.failed;
      faults.push(...counts.faults);
      unsteady.push(...(counts.unsteady ?? []));
    }
    if (process.exitCode === 130) break;
  }
  return { passed, failed, faults, unsteady };
}

async function main(): Promise<number> {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
  const folders = only?.split(/[\s,]+/).filter((folder) => folder !== '') ?? [];
  const all = filesIn('test');
  const files = only === undefined ? all : under(folders, all);
  if (files.length === 0) {
    process.stderr.write(`no test file lies under ${folders.join(' or ')}\n`);
    return 1;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      ended.abort();
      endPrograms(signal);
      process.exitCode = 130;
    });
  }
  mkdirSync(join(root, '.cache/test'), { recursive: true });
  const missing = await prepareTools();
  const counts = await run(only === undefined ? await wholeRun() : partialRun(files), missing);
  if (process.exitCode === 130) return 130;
  list('unsteady (failed beside others, passed alone)', counts.unsteady ?? []);
  list('failed', counts.faults);
  const durations = readDurations();
  list(`${LISTED} most expensive test files`, longestFiles(durations, files, LISTED));
  list('over budget (test/README.md)', exceeded(readBudgets(), durations, all, files));
  if (only !== undefined)
    process.stdout.write(
      `\nA part only: ${files.length} of ${all.length} test files, those under ${folders.join(' and ')}. ` +
        'The built console and all other tests were left out.\n',
    );
  const minutes = (performance.now() / 60_000).toFixed(1);
  const late = only === undefined && performance.now() > BUDGET_MINUTES * 60_000;
  process.stdout.write(
    `\nIt took ${minutes} minutes${late ? `, more than the ${BUDGET_MINUTES} that it may take on two cores` : ''}.\n`,
  );
  process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed\n`);
  return counts.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
