// Datasets and logs of Inspect (inspect_ai).
// @see https://inspect.aisi.org.uk/datasets.html and https://inspect.aisi.org.uk/eval-logs.html
import type { CaseIn } from '@svc/core/evals/index.ts';
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';
import { graderFor, type Scorer } from './inspect-scorers.ts';
import type { Losses } from './losses.ts';
import { readMessages } from './messages.ts';
import { CaseIds, casesOfDraft, type RunSettings, type SuiteFile } from './suite-file.ts';
import { fill, valueAt } from './template.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Members of a sample that need a machine for the model to act on. */
const MACHINE = ['sandbox', 'files', 'setup'] as const;

export function isInspectLog(value: unknown): boolean {
  return isObject(value) && isObject(value['eval']) && typeof value['eval']['task'] === 'string';
}

/** Whether rows are records of a dataset. */
export function areRecords(rows: readonly unknown[]): boolean {
  const [first] = rows;
  return (
    isObject(first) && Object.hasOwn(first, 'input') && (Object.hasOwn(first, 'target') || 'choices' in first)
  );
}

interface Sample {
  readonly id: string;
  readonly input: unknown;
  readonly targets: readonly string[];
  readonly choices: readonly string[] | null;
  readonly row: JsonObject;
}

function choicesOf(value: unknown): string[] | null {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string' || value.trim() === '') return null;
  const parts = value.split(',');
  return (parts.length > 1 ? parts : value.split(/\s+/)).map((one) => one.trim());
}

function sampleOf(row: JsonObject, id: string): Sample {
  const target = row['target'] ?? '';
  const targets = Array.isArray(target) ? target.map(String) : [String(target)];
  return { id, input: row['input'], targets, choices: choicesOf(row['choices']), row };
}

/** The question with its choices by letter, and how to answer. */
function withChoices(question: string, choices: readonly string[]): string {
  const listed = choices.map((choice, n) => `${LETTERS[n]}) ${choice}`);
  return [
    'Choose the letter of the right answer. End with a line "ANSWER: " and the letter, and nothing behind it.',
    ...['', question, '', ...listed],
  ].join('\n');
}

/** What solvers put around the messages of a sample. */
interface Prompts {
  readonly system: readonly string[];
  readonly user: readonly string[];
}

function promptsOf(log: JsonObject, losses: Losses): Prompts {
  const steps = valueAt(log, 'plan.steps');
  const [system, user]: [string[], string[]] = [[], []];
  for (const step of Array.isArray(steps) ? steps : []) {
    const solver = String(valueAt(step, 'solver')).replace(/^inspect_ai\//, '');
    const template = valueAt(step, 'params.template');
    if (solver === 'generate' || solver === 'multiple_choice') continue;
    if (solver === 'system_message' && typeof template === 'string') system.push(template);
    else if (solver === 'prompt_template' && typeof template === 'string') user.push(template);
    else losses.dropped('plan', `the solver ${solver}`);
  }
  return { system, user };
}

/** The templates of Inspect have single braces. */
function putInto(template: string, values: JsonObject): string {
  return fill(template.replace(/\{(\w+)\}/g, '{{$1}}'), values).text;
}

function messagesOf({ input, choices, row }: Sample, prompts: Prompts): JsonObject[] | string {
  const messages = readMessages(input);
  if (typeof messages === 'string') return messages;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[last];
  if (asked === undefined) return 'no message of a user';
  let content = String(asked['content']);
  const metadata = isObject(row['metadata']) ? row['metadata'] : {};
  for (const template of prompts.user) content = putInto(template, { ...metadata, prompt: content });
  if (choices !== null) content = withChoices(content, choices);
  const system = prompts.system.map((template) => ({ role: 'system', content: putInto(template, metadata) }));
  return [...system, ...messages.map((one, n) => (n === last ? { ...one, content } : one))];
}

const GENERATION = ['temperature', 'top_p', 'top_k', 'max_tokens', 'seed'] as const;

function generationOf(log: JsonObject): JsonObject | null {
  const configs = [valueAt(log, 'eval.model_generate_config'), valueAt(log, 'plan.config')];
  const generation: JsonObject = {};
  for (const config of configs) {
    for (const name of GENERATION) {
      const value = valueAt(config, name);
      if (typeof value === 'number') generation[name] = value;
    }
  }
  return Object.keys(generation).length === 0 ? null : generation;
}

interface Shared {
  readonly prompts: Prompts;
  readonly generation: JsonObject | null;
  readonly scorers: readonly Scorer[];
}

function caseOf(sample: Sample, shared: Shared, losses: Losses): CaseIn[] {
  const { id, row } = sample;
  const machine = MACHINE.find((name) => row[name] !== undefined && row[name] !== null && row[name] !== '');
  if (machine !== undefined) {
    losses.dropped(id, `a case with ${machine}: models act on no machine here`);
    return [];
  }
  const messages = messagesOf(sample, shared.prompts);
  if (typeof messages === 'string') {
    losses.dropped(id, messages);
    return [];
  }
  const graders = shared.scorers.flatMap((scorer) => {
    const grader = graderFor(scorer, sample, losses);
    return grader === null ? [] : [{ grader, weight: 1 }];
  });
  const { generation } = shared;
  const input = { messages, ...(generation === null ? {} : { generation }) };
  return casesOfDraft({ id, input, graders }, losses);
}

/** A dataset: its rows say nothing of how they are scored, so the caller does. */
export function readRecords(rows: readonly unknown[], scorer: string | null, losses: Losses): SuiteFile {
  const ids = new CaseIds();
  const chosen = rows.some((row) => isObject(row) && choicesOf(row['choices']) !== null);
  const name = scorer ?? (chosen ? 'choice' : 'match');
  if (scorer === null)
    losses.changed('dataset', `a dataset names no scorer: graded as ${name}() does (--scorer)`);
  const shared = { prompts: { system: [], user: [] }, generation: null, scorers: [{ name, params: {} }] };
  const cases = rows.flatMap((row, n) => {
    const record = isObject(row) ? row : {};
    return caseOf(sampleOf(record, ids.take(String(record['id'] ?? ''), n)), shared, losses);
  });
  return { name: '', cases, run: {} };
}

function scorersOf(log: JsonObject): Scorer[] {
  const scores = valueAt(log, 'results.scores');
  const named = Array.isArray(scores) && scores.length > 0 ? scores : valueAt(log, 'eval.scorers');
  const list = (Array.isArray(named) ? named : []).map((one) => {
    const params = valueAt(one, 'params') ?? valueAt(one, 'options');
    const name = String(valueAt(one, 'scorer') ?? valueAt(one, 'name'));
    return { name: name.replace(/^inspect_ai\//, ''), params: isObject(params) ? params : {} };
  });
  // A scorer stands in the list once for each of its metrics' reducers.
  return [...new Map(list.map((one) => [JSON.stringify(one), one])).values()];
}

/** A log: its samples once each, with the prompts, parameters and scorers of its task. */
export function readInspectLog(value: unknown, scorer: string | null, losses: Losses): SuiteFile {
  const log = value as JsonObject;
  const model = valueAt(log, 'eval.model');
  if (typeof model === 'string') losses.changed('model', `the model ${model}: name targets in the run`);
  losses.dropped('samples', 'the answers and scores of the log');
  const scorers = scorer === null ? scorersOf(log) : [{ name: scorer, params: {} }];
  const shared = { prompts: promptsOf(log, losses), generation: generationOf(log), scorers };
  const samples = Array.isArray(log['samples']) ? log['samples'].filter(isObject) : [];
  const first = new Map(samples.toReversed().map((row) => [String(row['id']), row]));
  const once = samples.filter((row) => first.get(String(row['id'])) === row);
  const ids = new CaseIds();
  const cases = once.flatMap((row, n) =>
    caseOf(sampleOf(row, ids.take(String(row['id'] ?? ''), n)), shared, losses),
  );
  const epochs = Number(valueAt(log, 'eval.config.epochs') ?? 1);
  const run: RunSettings = epochs > 1 ? { repeat: Math.min(5, epochs) } : {};
  if (epochs > 5) losses.changed('config', `${epochs} epochs: a run repeats a case at most 5 times`);
  return { name: String(valueAt(log, 'eval.task')), cases, run };
}
