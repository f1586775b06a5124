// `make rail-scenarios`: plays the scenarios of the catalogue, and prints the id and the verdict of each.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../suite/parts.ts';
import { scenarios } from './catalogue.ts';

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Runs test files; what became of each test, by file and name. */
async function run(files: readonly string[]): Promise<Map<string, string>> {
  const dir = mkdtempSync(join(tmpdir(), 'rail-scenarios-'));
  const report = join(dir, 'report.json');
  const options = ['--maxWorkers=2', '--reporter=json', `--outputFile=${report}`];
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...files, ...options];
  const child = spawn(process.execPath, vitest, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  await new Promise((done) => child.once('close', done));
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  rmSync(dir, { recursive: true });
  const results = new Map<string, string>();
  for (const { name, assertionResults } of testResults)
    for (const { title, status } of assertionResults)
      results.set(`${name.slice(root.length)} ${title}`, status);
  return results;
}

const results = await run([...new Set(scenarios.flatMap(({ tests }) => tests.map(([file]) => file)))]);
let failed = 0;
for (const { id, what, tests } of scenarios) {
  const passed = tests.every(([file, name]) => results.get(`${file} ${name}`) === 'passed');
  if (!passed) failed++;
  process.stdout.write(`${id.padEnd(8)} ${passed ? 'passed' : 'FAILED'}  ${what}\n`);
}
process.stdout.write(`${scenarios.length - failed} of ${scenarios.length} scenarios passed\n`);
process.exitCode = failed === 0 ? 0 : 1;
