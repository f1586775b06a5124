// `make test`: every suite in turn, one line each, and at the end a line of its own that says how many passed.
// Nothing is skipped in silence: a skipped test, a suite that did not report and a missing tool count as failed.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { type FoundTool, resolveTool, toolNames, tools } from '@svc/cli/tools/tools.ts';
import {
  type Counts,
  countVitest,
  crashed,
  failedFiles,
  mergedReport,
  oneCheck,
  unsteadyTests,
} from './counts.ts';
import { leftovers, mark } from './leftovers.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const cache = join(root, '.cache/test');
const SIGN_OF_LIFE_MS = 20_000;
/** Emergency brakes, far above what a suite takes: a run that hangs must end and say where. */
const LIMIT_MINUTES = { check: 5, most: 45, kubernetes: 20 } as const;
/** Most files that run a second time: more that fail are no accident. */
const AGAIN_MAX = 4;

interface Outcome {
  readonly code: number;
  readonly output: string;
}

interface Suite {
  readonly name: string;
  run(): Promise<{ counts: Counts; output: string }>;
}

const env: NodeJS.ProcessEnv = {
  ...process.env,
  ...mark,
  PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
};
// Colours are for people: a log file, and whoever reads it, does without.
if (!process.stdout.isTTY) {
  env['NO_COLOR'] = '1';
  delete env['FORCE_COLOR'];
}
const children = new Set<{ kill(signal: NodeJS.Signals): boolean }>();
const ended = new AbortController();

/** Runs a program to its end; `live` shows its output as it comes, else it is kept for the report of a failure. */
function runProgram(args: readonly string[], live: boolean, limit_minutes: number): Promise<Outcome> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      if (live) process.stdout.write(chunk);
      else output += chunk;
    });
  }
  const limit = setTimeout(() => {
    process.stdout.write(`${args[0]}: ended after ${limit_minutes} minutes\n`);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
  }, limit_minutes * 60_000);
  return new Promise((done) => {
    child.once('error', (error) => done({ code: 1, output: error.message }));
    child.once('close', (code) => {
      clearTimeout(limit);
      children.delete(child);
      done({ code: code ?? 1, output });
    });
  });
}

function check(name: string, args: readonly string[]): Suite {
  return {
    name,
    async run() {
      const { code, output } = await runProgram(args, false, LIMIT_MINUTES.check);
      return { counts: oneCheck(name, code), output: code === 0 ? '' : output };
    },
  };
}

/** The console is compiled for browsers: its documents are typed from the schema, and the browser tests open what it builds. */
const consoleSuite: Suite = {
  name: 'console',
  async run() {
    const built = await runProgram(['console/build.ts', '--quiet'], false, LIMIT_MINUTES.check);
    if (built.code !== 0) return { counts: oneCheck('console', built.code), output: built.output };
    return check('console', ['node_modules/typescript/bin/tsc', '-p', 'console']).run();
  },
};

/** Runs vitest over a part, or over `files` of it alone; its exit code and JSON report. */
async function vitest(
  part: 'most' | 'kubernetes',
  files: readonly string[] = [],
): Promise<{ code: number; report: string }> {
  const report = join(cache, `vitest-${part}${files.length > 0 ? '-again' : ''}.json`);
  rmSync(report, { force: true });
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--mode', part, '--reporter=default'];
  if (files.length > 0) args.push('--maxWorkers=1', ...files);
  const { code } = await runProgram(
    [...args, '--reporter=json', `--outputFile.json=${report}`],
    true,
    LIMIT_MINUTES[part],
  );
  return { code, report: readFileSync(report, 'utf8') };
}

/**
 * The test files of one part, see parts.ts. Where few of thousands failed, their files run once more with nothing beside
 * them: what passes then was the machine's doing or the test's, and is named as unsteady at the end, to be mended.
 */
async function runVitest(part: 'most' | 'kubernetes'): Promise<{ counts: Counts; output: string }> {
  try {
    const first = await vitest(part);
    const failed = failedFiles(first.report);
    if (failed.length === 0 || failed.length > AGAIN_MAX)
      return { counts: countVitest(first.report, first.code), output: '' };
    process.stdout.write(`tests    again, alone: ${failed.length} of ${part} that failed\n`);
    const second = await vitest(part, failed);
    const merged = countVitest(mergedReport(first.report, second.report), second.code);
    return { counts: { ...merged, unsteady: unsteadyTests(first.report, second.report) }, output: '' };
  } catch (error) {
    return {
      counts: crashed(`tests (${part})`),
      output: `vitest left no report: ${(error as Error).message}`,
    };
  }
}

/** The part that needs the API server, once that is built. Without it, this part counts as one failure. */
function clusterSuite(apiServer: Promise<FoundTool>): Suite {
  return {
    name: 'cluster',
    async run() {
      try {
        await apiServer;
      } catch (error) {
        return {
          counts: oneCheck('cluster: no test was run, kube-apiserver is missing', 1),
          output: (error as Error).message,
        };
      }
      return runVitest('kubernetes');
    },
  };
}

const cleanup: Suite = {
  name: 'cleanup',
  async run() {
    const left = await leftovers();
    return {
      counts: oneCheck('cleanup: a test left processes behind', left.length),
      output: left.join('\n'),
    };
  },
};

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
  });
  // Not what only builds another: that is found when the other is built.
  const quick = toolNames.filter((name) => tools[name].source.kind !== 'go' && !tools[name].needed_for);
  for (const name of quick) await prepare(name, () => resolveTool(name, sayTool, ended.signal));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  sayTool(`${quick.length + 1 - faults.length} found, ${faults.length} missing (${seconds} s)`);
  return faults;
}

async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      ended.abort();
      for (const child of children) child.kill(signal);
      process.exitCode = 130;
    });
  }
  mkdirSync(cache, { recursive: true });
  const faults = await prepareTools();
  // Found at once, or built beside everything that can do without it.
  const apiServer = resolveTool('kube-apiserver', sayTool, ended.signal);
  apiServer.catch(() => {});
  const suites: readonly Suite[] = [
    check('types', ['node_modules/typescript/bin/tsc', '-p', '.']),
    consoleSuite,
    check('lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.']),
    { name: 'tests', run: () => runVitest('most') },
    clusterSuite(apiServer),
    cleanup,
  ];
  let passed = 0;
  let failed = faults.length;
  const unsteady: string[] = [];
  for (const suite of suites) {
    const counts = await runSuite(suite);
    passed += counts.passed;
    failed += counts.failed;
    faults.push(...counts.faults);
    unsteady.push(...(counts.unsteady ?? []));
    if (process.exitCode === 130) return 130;
  }
  const list = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) process.stdout.write(`\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  };
  list('unsteady (failed beside others, passed alone)', unsteady);
  list('failed', faults);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
