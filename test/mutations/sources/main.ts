// node test/mutations/arithmetic/main.ts [--only FILE]: changes the arithmetic of prices in every way that Stryker knows and requires
// that its tests notice, but for the changes of `survivors.ts` (`make mutants`).
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Change, isKnown, survivors } from './survivors.ts';

/** The share of the changes that tests must notice, counted without those that change nothing. */
const NOTICED_MIN = 0.9;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const place = join(root, '.cache/mutants');
const report_file = join(place, 'report.json');

interface Report {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: string;
        readonly mutants: readonly {
          readonly replacement: string;
          readonly status: string;
          readonly location: { readonly start: Place; readonly end: Place };
        }[];
      }
    >
  >;
}
interface Place {
  readonly line: number;
  readonly column: number;
}

function run(command: string, args: readonly string[], cwd: string): number {
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status ?? 1;
}

/** Stryker has packages of its own: nobody else needs them, so they are not among those of every clone. */
function install(): void {
  mkdirSync(place, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(here, file), join(place, file));
  // Its runner takes the vitest of the project.
  const args = ['ci', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  if (run('npm', args, place) !== 0) throw new Error('npm could not install Stryker');
}

function mutate(only: string): void {
  const files = ['bound', 'price', 'recompute', 'reserve', 'size', 'token-ratio'].filter((name) =>
    name.includes(only),
  );
  const settings = {
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutations/arithmetic/vitest.config.ts' },
    plugins: ['@stryker-mutator/vitest-runner'],
    mutate: files.map((name) => `core/pricing/${name}.ts`),
    coverageAnalysis: 'perTest',
    // Types are stripped, not compiled.
    tsconfigFile: 'none.json',
    tempDirName: '.cache/mutants/sandbox',
    ignorePatterns: [
      '*',
      '!core',
      '!core/**',
      '!test',
      '!test/mutations',
      '!test/mutations/arithmetic',
      '!test/mutations/arithmetic/**',
    ],
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: report_file },
    concurrency: 2,
    thresholds: { high: 90, low: 90, break: null },
  };
  const settings_file = join(place, 'stryker.json');
  writeFileSync(settings_file, JSON.stringify(settings));
  const stryker = join(place, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  if (run(process.execPath, [stryker, 'run', settings_file], root) !== 0)
    throw new Error('Stryker did not end');
}

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
install();
mutate(values.only);

/** The text between two places, which count from 1. */
function textOf(source: string, { start, end }: { start: Place; end: Place }): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = (lines[last] as string).slice(0, end.column - 1);
  lines[0] = (lines[0] as string).slice(start.column - 1);
  return lines.join('\n');
}

const { files } = JSON.parse(readFileSync(report_file, 'utf8')) as Report;
let noticed = 0;
const left: (Change & { line: number })[] = [];
for (const [path, { source, mutants }] of Object.entries(files)) {
  for (const { status, location, replacement } of mutants) {
    if (status === 'Killed' || status === 'Timeout') noticed++;
    else {
      const file = path.slice(path.lastIndexOf('/') + 1);
      left.push({ file, line: location.start.line, text: textOf(source, location), to: replacement });
    }
  }
}
const unknown = left.filter((change) => !isKnown(change));
for (const { file, line, text, to } of unknown)
  process.stdout.write(`SURVIVED ${file}:${line}: ${text.slice(0, 160)} → ${to.slice(0, 160)}\n`);
const all = noticed + left.length;
const share = noticed / (noticed + unknown.length);
process.stdout.write(
  `${noticed} of ${all} changes noticed, ${left.length - unknown.length} of ${survivors.length} known to change nothing that counts, ${unknown.length} missed (${(100 * share).toFixed(1)} %)\n`,
);
process.exitCode = share >= NOTICED_MIN ? 0 : 1;
