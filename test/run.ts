// `make test`: every suite in turn, one line each, and at the end a line of its own that says how many passed.
// Nothing is skipped in silence: a skipped test, a suite that did not report and a missing tool count as failed.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { type Counts, countVitest, crashed, oneCheck } from './counts.ts';
import { leftovers, mark } from './leftovers.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const cache = join(root, '.cache/test');
const SIGN_OF_LIFE_MS = 20_000;

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

/** Runs a program to its end; `live` shows its output as it comes, else it is kept for the report of a failure. */
function runProgram(args: readonly string[], live: boolean): Promise<Outcome> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      if (live) process.stdout.write(chunk);
      else output += chunk;
    });
  }
  return new Promise((done) => {
    child.once('error', (error) => done({ code: 1, output: error.message }));
    child.once('close', (code) => {
      children.delete(child);
      done({ code: code ?? 1, output });
    });
  });
}

function check(name: string, args: readonly string[]): Suite {
  return {
    name,
    async run() {
      const { code, output } = await runProgram(args, false);
      return { counts: oneCheck(name, code), output: code === 0 ? '' : output };
    },
  };
}

const vitest: Suite = {
  name: 'tests',
  async run() {
    const report = join(cache, 'vitest.json');
    rmSync(report, { force: true });
    const { code } = await runProgram(
      [
        ...['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', '--reporter=json'],
        `--outputFile.json=${report}`,
      ],
      true,
    );
    try {
      return { counts: countVitest(readFileSync(report, 'utf8'), code), output: '' };
    } catch (error) {
      return { counts: crashed('tests'), output: `vitest left no report: ${(error as Error).message}` };
    }
  },
};

const suites: readonly Suite[] = [
  check('types', ['node_modules/typescript/bin/tsc', '-p', '.']),
  check('lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.']),
  vitest,
  {
    name: 'cleanup',
    async run() {
      const left = await leftovers();
      return {
        counts: oneCheck('cleanup: a test left processes behind', left.length),
        output: left.join('\n'),
      };
    },
  },
];

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

/** Makes the tools that tests find through the environment; a tool that cannot be had counts as one failure. */
async function prepareTools(): Promise<string[]> {
  try {
    env['SVC_PYTHON_BIN'] = await ensurePythonClients((message) =>
      process.stdout.write(`tools    ${message}\n`),
    );
    return [];
  } catch (error) {
    process.stdout.write(`tools    ${(error as Error).message}\n`);
    return ['tools: the official Python clients'];
  }
}

async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      for (const child of children) child.kill(signal);
      process.exitCode = 130;
    });
  }
  mkdirSync(cache, { recursive: true });
  const faults = await prepareTools();
  let passed = 0;
  let failed = faults.length;
  for (const suite of suites) {
    const counts = await runSuite(suite);
    passed += counts.passed;
    failed += counts.failed;
    faults.push(...counts.faults);
    if (process.exitCode === 130) return 130;
  }
  if (faults.length > 0) process.stdout.write(`\nfailed:\n${faults.map((fault) => `  ${fault}\n`).join('')}`);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
