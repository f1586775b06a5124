// Evals of OpenAI: what the hosted Evals API answers about an eval and its runs, and the samples of the open-source framework.
// @see https://platform.openai.com/docs/api-reference/evals
import type { CaseIn } from '@svc/core/evals/index.ts';
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';
import { oneOfPattern, usable } from './graders.ts';
import type { Losses } from './losses.ts';
import { mapTexts, readMessages } from './messages.ts';
import { gradersOf } from './openai-criteria.ts';
import { type CaseDraft, CaseIds, casesOfDraft, type SuiteFile } from './suite-file.ts';
import { fill, onlyPlaceholder, valueAt } from './template.ts';

interface OpenaiOptions {
  /** Rows of a dataset that stands in a file of its own; null: those of the run. */
  readonly rows: readonly unknown[] | null;
  /** What the model is asked, where no run says so. */
  readonly prompt: string | null;
}

function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) && Array.isArray(value['data']) ? value['data'] : [];
}

/** The eval in a file: itself, the only one of a list, or beside its runs; null: it is of another form. */
function findEval(value: unknown): { definition: JsonObject; runs: unknown[] } | null {
  if (!isObject(value)) return null;
  if (Array.isArray(value['testing_criteria'])) return { definition: value, runs: asList(value['runs']) };
  const inner = value['eval'] ?? asList(value)[0];
  if (!isObject(inner) || !Array.isArray(inner['testing_criteria'])) return null;
  return { definition: inner, runs: [...asList(value['runs']), ...asList(inner['runs'])] };
}

export function isOpenai(value: unknown): boolean {
  return findEval(value) !== null;
}

/** Rows of a run: those in its data source, else those that its output items show. */
function rowsOf(run: JsonObject): unknown[] {
  const content = valueAt(run, 'data_source.source.content');
  if (Array.isArray(content)) return content;
  const items = asList(run['output_items']).map((item) => valueAt(item, 'datasource_item'));
  return items.filter((item) => item !== undefined);
}

const GENERATION: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  seed: 'seed',
  max_completion_tokens: 'max_tokens',
  max_completions_tokens: 'max_tokens',
  max_tokens: 'max_tokens',
};

function generationOf(run: JsonObject, losses: Losses): JsonObject | null {
  const params = valueAt(run, 'data_source.sampling_params');
  if (!isObject(params)) return null;
  const generation: JsonObject = {};
  for (const [name, value] of Object.entries(params)) {
    if (value === null) continue;
    const ours = GENERATION[name];
    if (ours === undefined) losses.dropped('sampling_params', `the parameter ${name}`);
    else generation[ours] = value as never;
  }
  return Object.keys(generation).length === 0 ? null : generation;
}

/** What the model is asked for a row; or why that cannot be said. */
function messagesOf(asked: unknown, item: unknown): JsonObject[] | string {
  if (isObject(asked) && asked['type'] === 'item_reference') {
    return readMessages(valueAt({ item }, String(asked['item_reference'])));
  }
  const template = isObject(asked) ? asked['template'] : asked;
  // A message may be the placeholder of a whole conversation.
  if (typeof template === 'string') {
    const path = onlyPlaceholder(template);
    const whole = path === null ? undefined : valueAt({ item }, path);
    if (Array.isArray(whole)) return readMessages(whole);
  }
  const messages = readMessages(template);
  if (typeof messages === 'string') return messages;
  const missing: string[] = [];
  const filled = mapTexts(messages, (text) => {
    const one = fill(text, { item });
    missing.push(...one.missing);
    return one.text;
  });
  return missing.length === 0 ? filled : `a prompt that reads {{${missing[0]}}}, which its row does not have`;
}

/** A row is `{item, sample?}` in datasets and runs, and the item alone in output items. */
function itemOf(row: unknown): unknown {
  return isObject(row) && isObject(row['item']) ? row['item'] : row;
}

function idOf(item: unknown, n: number): string {
  const id = isObject(item) ? item['id'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : `case_${n + 1}`;
}

function noteDefinition(definition: JsonObject, runs: readonly unknown[], losses: Losses): void {
  const type = valueAt(definition, 'data_source_config.type');
  if (type === 'logs' || type === 'stored_completions') {
    losses.changed('data_source_config', `rows out of ${type}: only those that a run shows`);
  }
  if (runs.length > 1) losses.dropped('runs', 'other runs than the first, and the results of all');
  else if (runs.length === 1) losses.dropped('runs', 'the results of the run');
}

/** The suite of an eval. */
export function readOpenai(value: unknown, options: OpenaiOptions, losses: Losses): SuiteFile {
  const { definition, runs } = findEval(value) as { definition: JsonObject; runs: unknown[] };
  noteDefinition(definition, runs, losses);
  const run = (runs.find((one) => isObject(one) && rowsOf(one).length > 0) ?? runs[0] ?? {}) as JsonObject;
  const model = valueAt(run, 'data_source.model') ?? run['model'];
  if (typeof model === 'string') losses.changed('model', `the model ${model}: name targets in the run`);
  const generation = generationOf(run, losses);
  const asked = options.prompt ?? valueAt(run, 'data_source.input_messages') ?? '';
  const ids = new CaseIds();
  const cases = (options.rows ?? rowsOf(run)).flatMap((row, n): CaseIn[] => {
    const item = itemOf(row);
    const id = ids.take(idOf(item, n), n);
    const messages =
      asked === '' ? 'nothing that says what is asked: give --prompt' : messagesOf(asked, item);
    if (typeof messages === 'string') {
      losses.dropped(id, messages);
      return [];
    }
    const graders = gradersOf(definition['testing_criteria'] as unknown[], { place: id, item }, losses);
    const draft: CaseDraft = {
      ...{ id, graders: graders.map((grader) => ({ grader, weight: 1 })) },
      input: { messages, ...(generation === null ? {} : { generation }) },
    };
    return casesOfDraft(draft, losses);
  });
  return { name: String(definition['name'] ?? ''), cases, run: {} };
}

/** Whether rows are samples of the open-source framework: a conversation, and what is ideally said. */
export function areSamples(rows: readonly unknown[]): boolean {
  const [first] = rows;
  return isObject(first) && Array.isArray(first['input']) && Object.hasOwn(first, 'ideal');
}

/** The suite of samples; graded as the framework's basic eval `Match` does: the answer begins with one of the ideals. */
export function readSamples(rows: readonly unknown[], losses: Losses): SuiteFile {
  const ids = new CaseIds();
  losses.changed(
    'samples',
    'the class of the eval is not in its samples: graded as Match, by how answers begin',
  );
  const cases = rows.flatMap((row, n): CaseIn[] => {
    const sample = isObject(row) ? row : {};
    const id = ids.take(idOf(sample, n), n);
    const messages = readMessages(sample['input']);
    if (typeof messages === 'string') {
      losses.dropped(id, messages);
      return [];
    }
    const ideals = [sample['ideal']].flat().map(String);
    const grader = usable({ kind: 'regex', pattern: `^${oneOfPattern(ideals)}` }, id, losses);
    const graders = grader === null ? [] : [{ grader, weight: 1 }];
    return casesOfDraft({ id, input: { messages }, graders }, losses);
  });
  return { name: '', cases, run: {} };
}
