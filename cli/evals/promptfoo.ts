// Configurations of promptfoo: every prompt with the variables of every test is a case.
// @see https://www.promptfoo.dev/docs/configuration/reference/
import type { CaseIn } from '@svc/core/evals/index.ts';
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';
import { parse } from 'yaml';
import type { Losses } from './losses.ts';
import { mapTexts, readMessages } from './messages.ts';
import { flatAsserts, gradersOf } from './promptfoo-asserts.ts';
import { Beside, type Prompt, readPrompts } from './promptfoo-files.ts';
import { CaseIds, casesOfDraft, type RunSettings, type SuiteFile } from './suite-file.ts';
import { fill } from './template.ts';

/** Combinations of variables beyond these would fill a suite by themselves. */
const COMBINATIONS_MAX = 5_000;

export function isPromptfoo(value: unknown): boolean {
  return (
    isObject(value) &&
    'prompts' in value &&
    ('tests' in value || 'scenarios' in value || 'providers' in value)
  );
}

interface Test {
  readonly description: string | null;
  readonly vars: JsonObject;
  readonly asserts: readonly JsonObject[];
  readonly raw: JsonObject;
}

function object(value: unknown): JsonObject {
  return isObject(value) ? (value as JsonObject) : {};
}

function listOf(value: unknown, beside: Beside): unknown[] {
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((one) => (typeof one === 'string' ? beside.tests(one) : [one]));
}

/** Values that stand in files, in place of their names. */
function loaded(vars: JsonObject, beside: Beside): JsonObject {
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [
      name,
      typeof value === 'string' && value.startsWith('file://') ? beside.value(value) : value,
    ]),
  ) as JsonObject;
}

/** Every choice of one value for each variable that has a list of plain values. */
function combinations(vars: JsonObject): JsonObject[] {
  let all: JsonObject[] = [{}];
  for (const [name, value] of Object.entries(vars)) {
    const many = Array.isArray(value) && value.every((one) => !isObject(one));
    const values = many ? (value as unknown[]) : [value];
    all = all.flatMap((one) => values.map((choice) => ({ ...one, [name]: choice }) as JsonObject));
    if (all.length > COMBINATIONS_MAX)
      throw new Error(`the variables of a test make more than ${COMBINATIONS_MAX}`);
  }
  return all;
}

function testOf(raw: JsonObject, base: JsonObject, more: JsonObject, beside: Beside, losses: Losses): Test {
  const description = typeof raw['description'] === 'string' ? raw['description'] : null;
  const place = description ?? 'a test';
  const own = flatAsserts(raw['assert'], place, losses);
  const alone = object(raw['options'])['disableDefaultAsserts'] === true;
  const shared = alone ? [] : flatAsserts(base['assert'], 'defaultTest', losses);
  const vars = loaded({ ...object(base['vars']), ...more, ...object(raw['vars']) }, beside);
  return { description, vars, asserts: [...shared, ...own], raw };
}

function testsOf(config: JsonObject, beside: Beside, losses: Losses): Test[] {
  const given = config['defaultTest'];
  const base = object(typeof given === 'string' ? beside.value(given) : given);
  const make = (raw: unknown, more: JsonObject) => testOf(object(raw), base, more, beside, losses);
  const plain = 'tests' in config ? listOf(config['tests'], beside).map((raw) => make(raw, {})) : [];
  const scenarios = listOf(config['scenarios'] ?? [], beside).flatMap((scenario) => {
    const configs = listOf(object(scenario)['config'] ?? [{}], beside);
    const tests = listOf(object(scenario)['tests'] ?? [{}], beside);
    return configs.flatMap((one) => tests.map((raw) => make(raw, object(object(one)['vars']))));
  });
  return [...plain, ...scenarios];
}

/** Why a test cannot be a case; null: it can. */
function unfit({ raw }: Test): string | null {
  const options = object(raw['options']);
  if ('transform' in options || 'postprocess' in options)
    return 'a test that transforms answers by a program';
  if ('transformVars' in options) return 'a test that transforms variables by a program';
  return null;
}

/** The messages of a prompt: a list of messages in JSON or YAML, else one message of the user. */
function messagesOf(text: string, vars: JsonObject): JsonObject[] | string {
  const looksLikeList = /^\s*(?:\[|- )/.test(text);
  const parsed: unknown = looksLikeList ? parse(text) : null;
  const messages =
    Array.isArray(parsed) && parsed.every(isObject) ? readMessages(parsed) : readMessages(text);
  if (typeof messages === 'string') return messages;
  const missing: string[] = [];
  const filled = mapTexts(messages, (one) => {
    const { text, missing: more } = fill(one, vars);
    missing.push(...more);
    return text;
  });
  if (/\{%|\{#/.test(text)) return 'a prompt with statements of a template';
  return missing.length === 0
    ? filled
    : `a prompt that reads {{${missing[0]}}}, which its test does not have`;
}

const KINDS = /^(?:chat|responses|messages|completion|completions)$/;

/** `openai:chat:gpt-4o` as a model here; null for a provider that is a program, an address or something else. */
function modelOf(provider: unknown): string | null {
  const id = isObject(provider) ? provider['id'] : provider;
  if (typeof id !== 'string' || /^(?:file|https?|exec|python|webhook|package)\b/.test(id)) return null;
  const [vendor, ...rest] = id.split(':');
  const model = rest.filter((part, n) => n > 0 || !KINDS.test(part)).join(':');
  if (vendor === 'openrouter') return model || null;
  return vendor && model ? `${vendor}/${model}` : null;
}

const GENERATION = ['temperature', 'top_p', 'max_tokens', 'seed'] as const;

function generationOf(providers: readonly unknown[]): JsonObject | null {
  const [only, second] = providers;
  const config = object(isObject(only) && second === undefined ? only['config'] : null);
  const entries = GENERATION.filter((name) => typeof config[name] === 'number').map((name) => [
    name,
    config[name],
  ]);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function settingsOf(config: JsonObject, providers: readonly unknown[], losses: Losses): RunSettings {
  const targets = providers.flatMap((one) => {
    const model = modelOf(one);
    if (model === null) losses.dropped('providers', 'a provider that is no model of a vendor');
    else losses.changed('providers', `the provider is the target ${model}: check that it is a model here`);
    return model === null ? [] : [{ model }];
  });
  const { repeat, maxConcurrency } = object(config['evaluateOptions']);
  return {
    ...(targets.length === 0 ? {} : { targets }),
    ...(typeof repeat === 'number' && repeat >= 1 ? { repeat: Math.min(5, repeat) } : {}),
    ...(typeof maxConcurrency === 'number' ? { concurrency: Math.min(16, Math.max(1, maxConcurrency)) } : {}),
  };
}

interface Shared {
  readonly prompts: readonly Prompt[];
  readonly generation: JsonObject | null;
  readonly ids: CaseIds;
  readonly losses: Losses;
}

function casesOfTest(test: Test, n: number, { prompts, generation, ids, losses }: Shared): CaseIn[] {
  const name = test.description ?? `test_${n + 1}`;
  const fault = unfit(test);
  if (fault !== null) {
    losses.dropped(name, fault);
    return [];
  }
  if (test.raw['threshold'] !== undefined)
    losses.changed(name, 'a threshold over assertions: each counts for itself');
  return combinations(test.vars).flatMap((vars) =>
    prompts.flatMap((prompt): CaseIn[] => {
      const id = ids.take(name, n);
      const messages = messagesOf(prompt.text, vars);
      if (typeof messages === 'string') {
        losses.dropped(id, messages);
        return [];
      }
      const input = { messages, ...(generation === null ? {} : { generation }) };
      const graders = gradersOf(test.asserts, vars, id, losses);
      const tags = prompts.length > 1 ? { tags: [`prompt: ${prompt.label}`] } : {};
      return casesOfDraft({ id, input, graders, ...tags }, losses);
    }),
  );
}

const UNUSED = ['extensions', 'nunjucksFilters', 'redteam', 'derivedMetrics', 'env'] as const;

/** The suite of a configuration; `file` is where its other files stand beside. */
export function readPromptfoo(value: unknown, file: string, losses: Losses): SuiteFile {
  const config = object(value);
  const beside = new Beside(file, losses);
  for (const name of UNUSED) if (name in config) losses.dropped(name, `what ${name} adds`);
  const providers = [config['providers'] ?? config['targets'] ?? []].flat();
  const shared = {
    ...{ prompts: readPrompts(config['prompts'], beside), generation: generationOf(providers) },
    ...{ ids: new CaseIds(), losses },
  };
  const tests = testsOf(config, beside, losses);
  const cases = tests.flatMap((test, n) => casesOfTest(test, n, shared));
  const name = typeof config['description'] === 'string' ? config['description'] : '';
  return { name, cases, run: settingsOf(config, providers, losses) };
}
