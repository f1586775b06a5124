// Runs a suite for CI: the exit code is 0 where every target reaches the threshold, 1 where one does not or is worse than
// before, 2 for a malformed command line, 3 where the run could not be made or did not come to its end.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type Command, Failure, type Input, type Result, UsageError } from '../../command.ts';
import { followRun } from '../../evals/follow.ts';
import type { RunShown, ScoreShown } from '../../evals/gateway.ts';
import { all, ask, type ComparisonShown, type ResultShown } from '../../evals/gateway.ts';
import { junitOf } from '../../evals/junit.ts';
import { storeSuite } from '../../evals/store-suite.ts';
import type { RunSettings } from '../../evals/suite-file.ts';
import { comparisonLine, dollars, progressLine, scoreLine, statusWords } from '../../evals/words.ts';
import { gatewayFlags } from '../../gateway-client.ts';
import { lossLines, readFlags, readWithFlags } from './import.ts';

const FAULT = 3;

function targetsOf(input: Input, settings: RunSettings): object[] {
  const named = input.find('target');
  if (named !== null) {
    return named.split(',').map((one) => {
      const [model = '', endpoint = ''] = one.trim().split('@');
      return { model, endpoint };
    });
  }
  return [...(settings.targets ?? [{}])];
}

/** The threshold, from 0 to 1. @throws UsageError */
function thresholdOf(input: Input, settings: RunSettings): number {
  const text = input.find('threshold');
  const value = text === null ? (settings.threshold ?? 1) : Number(text);
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  throw new UsageError('the threshold is a number from 0 to 1');
}

function bodyOf(input: Input, suite_id: string, settings: RunSettings): object {
  const budget_micro = input.integer('budget-micro') ?? settings.budget_micro;
  if (budget_micro === undefined)
    throw new UsageError('--budget-micro is needed, or `run.budget_micro` in the file');
  const repeat = input.integer('repeat') ?? settings.repeat;
  const concurrency = input.integer('concurrency') ?? settings.concurrency;
  const judge_model = input.find('judge-model') ?? settings.judge_model;
  const judge_samples = input.integer('judge-samples') ?? settings.judge_samples;
  const named = { repeat, concurrency, judge_model, judge_samples };
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  return { suite_id, targets: targetsOf(input, settings), budget_micro, ...given };
}

/** The suite to run, and what its file says of runs; a suite that is stored already has no file. */
async function suiteOf(input: Input, file: string): Promise<{ suite_id: string; settings: RunSettings }> {
  if (/^es_[0-9A-Z]{26}$/.test(file)) return { suite_id: file, settings: {} };
  const read = readWithFlags(input, file);
  for (const line of lossLines(read)) process.stderr.write(`${line}\n`);
  // Before anything is stored: a run that will not begin leaves nothing behind.
  thresholdOf(input, read.suite.run);
  bodyOf(input, '', read.suite.run);
  const { suite } = await storeSuite(input, read.suite, null);
  return { suite_id: suite.id, settings: read.suite.run };
}

async function comparisonsOf(input: Input, run: RunShown): Promise<ComparisonShown[]> {
  const other = input.find('against');
  if (other === null) return [];
  const compare = (n: number) =>
    ask<ComparisonShown>(input, {
      method: 'GET',
      path: `/runs/${run.id}/compare?with=${encodeURIComponent(other)}&from=${n}&to=${n}`,
    });
  return Promise.all(run.targets.map((_, n) => compare(n)));
}

async function writeReport(input: Input, run: RunShown): Promise<void> {
  const file = input.find('junit');
  if (file === null) return;
  const results: ResultShown[] = [];
  for await (const one of all<ResultShown>(input, `/runs/${run.id}/results?limit=500`)) results.push(one);
  writeFileSync(file, junitOf(run, results));
}

async function resultOf(input: Input, run: RunShown, threshold: number): Promise<Result> {
  const path = `/runs/${run.id}/targets`;
  const { data: targets } = await ask<{ data: ScoreShown[] }>(input, { method: 'GET', path });
  await writeReport(input, run);
  const json = { run, threshold, targets };
  const lines = [progressLine(run), ...targets.map(scoreLine)];
  if (run.status !== 'completed') {
    const words = `${run.id} is ${statusWords(run)}: not every case was answered`;
    throw new Failure(FAULT, new Error([words, ...lines].join('\n')));
  }
  const comparisons = await comparisonsOf(input, run);
  const below = targets.filter(({ score }) => score < threshold).length;
  const worse = comparisons.filter(({ decision }) => decision === 'worse').length;
  const verdict = below > 0 ? `below the threshold of ${threshold}` : `reaches the threshold of ${threshold}`;
  const text = [...lines, ...comparisons.map(comparisonLine), `${run.id} ${verdict}`];
  return { json: { ...json, comparisons }, text: text.join('\n'), ok: below === 0 && worse === 0 };
}

async function runFile(input: Input): Promise<Result> {
  const [file = ''] = input.positionals;
  const { suite_id, settings } = await suiteOf(input, file);
  const threshold = thresholdOf(input, settings);
  const body = bodyOf(input, suite_id, settings);
  // One key for all tries: a run whose answer is lost is not started twice.
  const request = { method: 'POST', path: '/runs', body, key: randomUUID() } as const;
  const { run } = await ask<{ run: RunShown }>(input, request);
  process.stderr.write(
    `${run.id} costs at most ${dollars(Math.min(run.estimate_micro, run.budget_micro))}\n`,
  );
  return resultOf(input, await followRun(input, run.id), threshold);
}

export const command: Command = {
  positionals: [
    { name: 'FILE', doc: 'a suite: a file of svcctl or of another tool, or an id (es_…)', required: true },
  ],
  flags: {
    target: {
      type: 'text',
      doc: 'models, separated by commas; one endpoint as MODEL@ENDPOINT',
      value: 'MODELS',
    },
    'budget-micro': {
      type: 'integer',
      doc: 'what the run may cost, in micro-USD',
      min: 1,
      max: 1_000_000_000_000,
    },
    threshold: { type: 'text', doc: 'score that every target must reach, 0 to 1; default 1', value: 'SCORE' },
    against: { type: 'text', doc: 'earlier run that no target may be worse than', value: 'ID' },
    repeat: { type: 'integer', doc: 'answers to each case, 1 to 5', min: 1, max: 5 },
    concurrency: { type: 'integer', doc: 'calls under way at once, 1 to 16', min: 1, max: 16 },
    'judge-model': { type: 'text', doc: 'model of judges that name none', value: 'MODEL' },
    'judge-samples': { type: 'integer', doc: 'grades of each answer by its judge, 1 to 9', min: 1, max: 9 },
    junit: { type: 'text', doc: 'write a JUnit report of the results', value: 'FILE' },
    ...readFlags,
    ...gatewayFlags,
  },
  example: 'svcctl evals run evals.yaml --target openai/gpt-4o-mini --budget-micro 500000 --threshold 0.9',
  async run(input) {
    try {
      return await runFile(input);
    } catch (error) {
      if (error instanceof UsageError || error instanceof Failure) throw error;
      throw new Failure(FAULT, error);
    }
  },
};
