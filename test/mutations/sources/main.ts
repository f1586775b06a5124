// node test/mutations/sources/main.ts [--only PATH]: changes the files of `groups.ts` in every way that Stryker knows and requires
// that their tests notice, but for the changes of `survivors.ts` (`make mutants`).
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Group, groups } from './groups.ts';
import { isKnown } from './survivors.ts';

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
  const lock = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (existsSync(join(place, 'node_modules/.package-lock.json')) && lock(place) === lock(here)) return;
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(here, file), join(place, file));
  // Its runner takes the vitest of the project.
  const args = ['ci', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  if (run('npm', args, place) !== 0) throw new Error('npm could not install Stryker');
}

/** Runs Stryker over `sources` and returns what it reported. */
function mutate({ tests, postgres }: Group, sources: readonly string[]): Report {
  const settings = {
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutations/sources/vitest.config.ts', pool: 'forks', related: false },
    plugins: ['@stryker-mutator/vitest-runner', join(here, 'texts.ts')],
    ignorers: ['texts'],
    mutate: sources,
    coverageAnalysis: 'perTest',
    // Types are stripped, not compiled.
    tsconfigFile: 'none.json',
    tempDirName: '.cache/mutants/sandbox',
    ignorePatterns: ['.cache', '.git', 'console/dist', '.svc*'],
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: report_file },
    // Each run has a server of its own, and tests that wait for clocks and leases.
    concurrency: 1,
    timeoutMS: postgres ? 15_000 : 3_000,
    thresholds: { high: 90, low: 90, break: null },
  };
  const settings_file = join(place, 'stryker.json');
  writeFileSync(settings_file, JSON.stringify(settings));
  const stryker = join(place, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  process.env['SVC_MUTANTS'] = JSON.stringify({ tests, postgres });
  if (run(process.execPath, [stryker, 'run', settings_file], root) !== 0)
    throw new Error('Stryker did not end');
  return JSON.parse(readFileSync(report_file, 'utf8')) as Report;
}

/** The text between two places, which count from 1. */
function textOf(source: string, { start, end }: { start: Place; end: Place }): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = (lines[last] as string).slice(0, end.column - 1);
  lines[0] = (lines[0] as string).slice(start.column - 1);
  return lines.join('\n');
}

interface Count {
  noticed: number;
  known: number;
  missed: number;
}

/** Counts what was noticed of each file, and prints what was not. */
function count({ files }: Report, counts: Map<string, Count>): void {
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const of_file: Count = { noticed: 0, known: 0, missed: 0 };
    counts.set(file, of_file);
    for (const { status, location, replacement: to } of mutants) {
      const text = textOf(source, location);
      if (status === 'Ignored') continue;
      // A file whose preparation fails has noticed too.
      if (['Killed', 'Timeout', 'RuntimeError'].includes(status)) of_file.noticed++;
      else if (isKnown({ file, text, to })) of_file.known++;
      else {
        of_file.missed++;
        const words = `${text.slice(0, 160)} → ${to.slice(0, 160)}`;
        process.stdout.write(`SURVIVED ${file}:${location.start.line}: ${words}\n`);
      }
    }
  }
}

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
install();
const counts = new Map<string, Count>();
for (const group of groups) {
  const sources = group.sources.filter((source) => source.includes(values.only));
  if (sources.length > 0) count(mutate(group, sources), counts);
}
const all: Count = { noticed: 0, known: 0, missed: 0 };
for (const [file, { noticed, known, missed }] of counts) {
  process.stdout.write(`${file}: ${noticed} noticed, ${known} known, ${missed} missed\n`);
  all.noticed += noticed;
  all.known += known;
  all.missed += missed;
}
const { noticed, known, missed } = all;
const share = noticed / (noticed + missed);
process.stdout.write(
  `${noticed} of ${noticed + known + missed} changes noticed, ${known} known to change nothing that counts, ${missed} missed (${(100 * share).toFixed(1)} %)\n`,
);
process.exitCode = share >= NOTICED_MIN ? 0 : 1;
