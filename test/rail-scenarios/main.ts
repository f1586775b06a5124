// `make rail-scenarios`: plays the scenarios of the catalogue, and prints the id and the verdict of each.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../suite/parts.ts';
import { scenarios } from './catalogue.ts';
import { words } from './words.ts';

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
    for (const { title, status } of assertionResults) {
      // A test over both rails has one title: what failed over one of them has failed.
      const key = `${name.slice(root.length)} ${title}`;
      if ((results.get(key) ?? 'passed') === 'passed') results.set(key, status);
    }
  return results;
}

/** Whether a test passed; one of a table passed when all its rows did. */
function passed(results: ReadonlyMap<string, string>, file: string, name: string): boolean {
  const pattern = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/%[sid]|\\\$\w+/g, '.*');
  const title = new RegExp(`^${pattern}$`);
  const found = [...results].filter(
    ([key]) => key.startsWith(`${file} `) && title.test(key.slice(file.length + 1)),
  );
  return found.length > 0 && found.every(([, status]) => status === 'passed');
}

function show(id: string, verdict: string, text: string): void {
  process.stdout.write(`${id.padEnd(15)} ${verdict.padEnd(7)} ${text}\n`);
}

const played = scenarios.flatMap((scenario) => ('tests' in scenario ? [scenario] : []));
const over_rails = words.flatMap((word) => [word['rail-a'], word['rail-b']]);
const named = [...played.flatMap(({ tests }) => tests), ...over_rails];
const results = await run([...new Set(named.map(([file]) => file))]);
let failed = 0;
const verdictOf = (tests: readonly (readonly [string, string])[]): string => {
  if (tests.every(([file, name]) => passed(results, file, name))) return 'passed';
  failed++;
  return 'FAILED';
};
for (const scenario of scenarios) {
  if ('reason' in scenario) show(scenario.id, 'left', `${scenario.what}: ${scenario.reason}`);
  else {
    const read = scenario.read === undefined ? '' : ` (read: ${scenario.read})`;
    show(scenario.id, verdictOf(scenario.tests), `${scenario.what}${read}`);
  }
}
for (const word of words)
  for (const rail of ['rail-a', 'rail-b'] as const) show(rail, verdictOf([word[rail]]), word.word);
const all = played.length + over_rails.length;
const left = scenarios.length - played.length;
process.stdout.write(
  `${all - failed} of ${all} passed; ${left} of ${scenarios.length} scenarios are left, each with its reason\n`,
);
process.exitCode = failed === 0 ? 0 : 1;
