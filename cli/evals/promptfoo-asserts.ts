// Assertions of promptfoo, as graders.
// @see https://www.promptfoo.dev/docs/configuration/expected-outputs/
import type { Grader } from '@svc/core/evals/index.ts';
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';
import { gradeFrom, judge, literal, sameJson, usable, yesOrNo } from './graders.ts';
import type { Losses } from './losses.ts';
import type { WeighedGrader } from './suite-file.ts';
import { fill, textOf } from './template.ts';

const SCALE = 5;

/** An assertion with its value filled from the variables of its test. */
interface Filled {
  readonly place: string;
  readonly type: string;
  readonly value: unknown;
  readonly threshold: number | null;
  readonly losses: Losses;
}

type Make = (one: Filled) => Grader | null;

function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(textOf);
  // Lists in CSV and in short forms are separated by commas.
  return textOf(value ?? '')
    .split(',')
    .map((text) => text.trim());
}

function contains(members: Partial<Grader>, read: (value: unknown) => string[]): Make {
  return ({ value }) => ({ kind: 'contains', expected: read(value), ...members });
}

const single = (value: unknown) => [textOf(value ?? '')];
const fold = { ignore_case: true } as const;

function equals({ value }: Filled): Grader {
  if (typeof value !== 'string' && typeof value !== 'number') return sameJson(value);
  return { kind: 'exact', expected: String(value), trim: false };
}

function json({ value }: Filled): Grader {
  return { kind: 'json_schema', schema: (isObject(value) ? value : {}) as JsonObject };
}

function rubric({ value, threshold, place, type, losses }: Filled): Grader {
  if (threshold === null) return yesOrNo(textOf(value ?? ''));
  losses.changed(place, `${type} with a threshold: graded 1 to ${SCALE}`);
  return judge(textOf(value ?? ''), { scale: SCALE, threshold: gradeFrom(threshold, SCALE) });
}

function likeness({ value, threshold, place, type, losses }: Filled): Grader {
  losses.changed(place, `${type}: a judge grades likeness in place of the metric`);
  const scale = 10;
  const words = `How much the answer is like the reference: ${scale} is the same, 1 is unlike.`;
  return judge(words, {
    ...{ reference: texts(value).join('\n'), scale },
    threshold: gradeFrom(threshold ?? 0.75, scale),
  });
}

const BY_TYPE: Readonly<Record<string, Make>> = {
  equals,
  'starts-with': ({ value }) => ({ kind: 'regex', pattern: `^${literal(textOf(value ?? ''))}` }),
  regex: ({ value }) => ({ kind: 'regex', pattern: textOf(value ?? '') }),
  contains: contains({}, single),
  icontains: contains(fold, single),
  'contains-all': contains({}, texts),
  'icontains-all': contains(fold, texts),
  'contains-any': contains({ mode: 'any' }, texts),
  'icontains-any': contains({ mode: 'any', ...fold }, texts),
  'not-contains': contains({ mode: 'none' }, single),
  'not-icontains': contains({ mode: 'none', ...fold }, single),
  'not-contains-any': contains({ mode: 'none' }, texts),
  'not-icontains-any': contains({ mode: 'none', ...fold }, texts),
  'is-json': json,
  'contains-json': (one) => {
    one.losses.changed(one.place, 'contains-json: the text, or its only block marked json');
    return json(one);
  },
  'llm-rubric': rubric,
  'g-eval': rubric,
  'model-graded-closedqa': ({ value }) => yesOrNo(textOf(value ?? '')),
  factuality: ({ value }) =>
    yesOrNo('The answer agrees with the facts of the reference.', { reference: textOf(value ?? '') }),
  'is-refusal': () => yesOrNo('The answer declines to do what was asked.'),
  'not-is-refusal': () => yesOrNo('The answer does what was asked and does not decline.'),
  similar: likeness,
  levenshtein: likeness,
  'rouge-n': likeness,
  bleu: likeness,
  gleu: likeness,
  meteor: likeness,
};

/** Values of assertions may hold variables, at any depth. */
function filledValue(value: unknown, vars: JsonObject, missing: string[]): unknown {
  if (typeof value === 'string') {
    const one = fill(value, vars);
    missing.push(...one.missing);
    return one.text;
  }
  if (Array.isArray(value)) return value.map((one) => filledValue(one, vars, missing));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, filledValue(one, vars, missing)]),
  );
}

/** Assertions, those of sets among them. */
export function flatAsserts(list: unknown, place: string, losses: Losses): JsonObject[] {
  return (Array.isArray(list) ? list : []).filter(isObject).flatMap((one) => {
    if (one['type'] !== 'assert-set') return [one];
    if (one['threshold'] !== undefined)
      losses.changed(place, 'assert-set with a threshold: each counts for itself');
    return flatAsserts(one['assert'], place, losses);
  });
}

function graderOf(one: JsonObject, vars: JsonObject, place: string, losses: Losses): Grader | null {
  const type = String(one['type']);
  const make = Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : undefined;
  if (make === undefined) {
    losses.dropped(place, `the assertion ${type}: there is no such grader`);
    return null;
  }
  const missing: string[] = [];
  const value = filledValue(one['value'], vars, missing);
  const what = [
    missing[0],
    one['transform'],
    typeof value === 'string' && /^file:\/\//.test(value) ? value : null,
  ];
  if (what.some((part) => part !== undefined && part !== null)) {
    losses.dropped(place, `the assertion ${type} that needs a variable, a program or a file`);
    return null;
  }
  if (one['provider'] !== undefined)
    losses.changed(place, `${type} with a provider: name the judge in the run`);
  const threshold = typeof one['threshold'] === 'number' ? one['threshold'] : null;
  return usable(make({ place, type, value, threshold, losses }) as Grader, place, losses);
}

/** The graders that the assertions of a test become; what cannot be one is noted. */
export function gradersOf(
  asserts: readonly JsonObject[],
  vars: JsonObject,
  place: string,
  losses: Losses,
): WeighedGrader[] {
  return asserts.flatMap((one) => {
    const grader = graderOf(one, vars, place, losses);
    const weight = typeof one['weight'] === 'number' ? one['weight'] : 1;
    return grader === null ? [] : [{ grader, weight }];
  });
}

/** An expectation of a CSV file: `contains: text`, `similar(0.8): text`, or the text that must be answered. */
export function expectation(text: string): JsonObject {
  const match = /^([a-z-]+)(?:\(([\d.]+)\))?:\s*([\s\S]*)$/.exec(text);
  if (
    match === null ||
    (!Object.hasOwn(BY_TYPE, match[1] as string) &&
      !/^(?:grade|javascript|python|fn|eval)$/.test(match[1] as string))
  ) {
    return { type: 'equals', value: text };
  }
  const [, type, threshold, value = ''] = match;
  return {
    type: type === 'grade' ? 'llm-rubric' : (type as string),
    value,
    ...(threshold === undefined ? {} : { threshold: Number(threshold) }),
  };
}
