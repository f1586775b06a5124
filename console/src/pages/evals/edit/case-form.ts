// A case as the fields of its form, and back. Pure. What has no field of its own is kept as it was.
import type { EvalGraderKind, EvalSuiteCaseQuery } from '../../../api/gen/tools/graphql.ts';

export type CaseShown = NonNullable<EvalSuiteCaseQuery['evalSuiteCase']>;

/** Text of the fields, by name; a box that is ticked is "on". */
export type Typed = Readonly<Record<string, string>>;

/** A case as mutations take it, without its id. */
export interface CaseFields {
  readonly input: {
    readonly messages: unknown[];
    readonly system?: string;
    readonly model?: string;
    readonly generation?: unknown;
    readonly tools?: unknown[];
  };
  readonly grader: { readonly kind: EvalGraderKind } & Readonly<Record<string, unknown>>;
  readonly weight: number;
  readonly tags: string[];
}

export type Faults = Readonly<Record<string, string>>;

/** The text of a case that asks one question and nothing else; null: its messages are written as JSON. */
export function questionOf(messages: readonly unknown[]): string | null {
  const [only, more] = messages;
  if (more !== undefined || typeof only !== 'object' || only === null) return null;
  const { role, content, ...rest } = only as Record<string, unknown>;
  const plain = role === 'user' && typeof content === 'string' && Object.keys(rest).length === 0;
  return plain ? content : null;
}

/** Answers, one a line; as JSON where a line break is part of one. */
function linesOf(expected: unknown): string {
  const list = [expected].flat().map(String);
  return list.some((text) => /\n|^\s*\[/.test(text)) ? JSON.stringify(list) : list.join('\n');
}

const json = (value: unknown) => (value == null ? '' : JSON.stringify(value, null, 2));
const text = (value: unknown) => (value == null ? '' : String(value));

/** What the form of `shown` begins with; null: a new case. */
export function typedOf(shown: CaseShown | null): Typed {
  const grader = shown?.grader;
  const listed = grader?.kind === 'NUMERIC' ? text(grader.expected) : linesOf(grader?.expected ?? []);
  return {
    id: shown?.id ?? '',
    question: shown === null ? '' : (questionOf(shown.input.messages) ?? ''),
    messages: json(shown?.input.messages),
    ...{ system: text(shown?.input.system), model: text(shown?.input.model) },
    ...{ generation: json(shown?.input.generation), tools: json(shown?.input.tools) },
    kind: grader?.kind ?? 'EXACT',
    expected: listed,
    ...{ trim: grader?.trim === false ? '' : 'on', ignoreCase: grader?.ignoreCase === true ? 'on' : '' },
    ...{ mode: grader?.mode ?? 'all', pattern: text(grader?.pattern), flags: text(grader?.flags) },
    ...{ fullMatch: grader?.fullMatch === true ? 'on' : '', schema: json(grader?.schema) },
    ...{ abs: text(grader?.abs), rel: text(grader?.rel), pick: grader?.pick ?? 'last' },
    ...{ judge: text(grader?.model), rubric: text(grader?.rubric), reference: text(grader?.reference) },
    ...{ scale: text(grader?.scale), threshold: text(grader?.threshold) },
    ...{ weight: shown === null ? '1' : String(shown.weight), tags: shown?.tags.join(', ') ?? '' },
  };
}

/**
 * What is typed, with the messages written the other way: as JSON, or as a question. Null: they are more than a question, and
 * stay JSON.
 */
export function withMessages(typed: Typed, as_json: boolean): Typed | null {
  if (as_json) {
    const message = { role: 'user', content: typed['question'] ?? '' };
    return { ...typed, messages: JSON.stringify([message], null, 2) };
  }
  try {
    const messages: unknown = JSON.parse(typed['messages'] ?? '');
    const question = Array.isArray(messages) ? questionOf(messages) : null;
    return question === null ? null : { ...typed, question };
  } catch {
    return null;
  }
}

class Reader {
  readonly faults: Record<string, string> = {};
  readonly typed: Typed;

  constructor(typed: Typed) {
    this.typed = typed;
  }

  text(name: string): string {
    return this.typed[name] ?? '';
  }

  /** A member that is left out where nothing is typed. */
  optional(name: string, as: string = name): Record<string, string> {
    const value = this.text(name).trim();
    return value === '' ? {} : { [as]: value };
  }

  /** JSON of `type`; left out where nothing is typed. */
  json(name: string, type: 'array' | 'object'): Record<string, unknown> {
    const value = this.text(name).trim();
    if (value === '') return {};
    try {
      const parsed: unknown = JSON.parse(value);
      const is_list = Array.isArray(parsed);
      if (type === 'array' ? is_list : !is_list && typeof parsed === 'object' && parsed !== null)
        return { [name]: parsed };
      this.faults[name] = type === 'array' ? 'A list in square brackets.' : 'An object in braces.';
    } catch (error) {
      this.faults[name] = `Not JSON: ${(error as Error).message}`;
    }
    return {};
  }

  whole(name: string): Record<string, number> {
    const value = this.text(name).trim();
    if (value === '') return {};
    if (/^\d{1,4}$/.test(value)) return { [name]: Number(value) };
    this.faults[name] = 'A whole number, or nothing.';
    return {};
  }

  flag(name: string, standard: boolean): Record<string, boolean> {
    const on = this.text(name) === 'on';
    return on === standard ? {} : { [name]: on };
  }
}

/** Answers of the field: one a line, or a list in JSON; a single one stands alone. */
function answersIn(typed: string): string | string[] {
  const value = typed.trim();
  if (value.startsWith('[')) {
    try {
      const list: unknown = JSON.parse(value);
      if (Array.isArray(list) && list.every((one) => typeof one === 'string')) {
        return list.length === 1 ? (list[0] as string) : list;
      }
    } catch {
      // It is an answer that begins with a bracket.
    }
  }
  const lines = typed.split('\n').filter((line) => line.trim() !== '');
  return lines.length === 1 ? (lines[0] as string) : lines;
}

function graderIn(read: Reader): CaseFields['grader'] {
  const kind = read.text('kind') as EvalGraderKind;
  const needed = (name: string, said: string) => {
    if (read.text(name).trim() === '') read.faults[name] = said;
  };
  switch (kind) {
    case 'EXACT':
    case 'CONTAINS': {
      needed('expected', 'At least one answer.');
      const common = { kind, expected: answersIn(read.text('expected')), ...read.flag('ignoreCase', false) };
      if (kind === 'EXACT') return { ...common, ...read.flag('trim', true) };
      const mode = read.text('mode');
      return mode === 'all' ? common : { ...common, mode };
    }
    case 'REGEX':
      needed('pattern', 'A pattern in RE2 syntax.');
      return {
        ...{ kind, pattern: read.text('pattern') },
        ...{ ...read.optional('flags'), ...read.flag('fullMatch', false) },
      };
    case 'JSON_SCHEMA':
      needed('schema', 'A JSON schema.');
      return { kind, ...read.json('schema', 'object') };
    case 'NUMERIC': {
      needed('expected', 'A number.');
      const pick = read.text('pick') === 'first' ? { pick: 'first' } : {};
      return {
        kind,
        ...read.optional('expected'),
        ...read.optional('abs'),
        ...read.optional('rel'),
        ...pick,
      };
    }
    case 'JUDGE':
      needed('rubric', 'What the judge is to look at.');
      return {
        ...{ kind, rubric: read.text('rubric'), ...read.optional('judge', 'model') },
        ...{ ...read.optional('reference'), ...read.whole('scale'), ...read.whole('threshold') },
      };
  }
}

/** The case that was typed, or what is wrong with which field. `as_json`: its messages are written as JSON. */
export function readCase(
  typed: Typed,
  as_json: boolean,
):
  | { readonly fields: CaseFields; readonly faults: null }
  | { readonly fields: null; readonly faults: Faults } {
  const read = new Reader(typed);
  const question = read.text('question');
  const messages = as_json
    ? ((read.json('messages', 'array')['messages'] ?? []) as unknown[])
    : [{ role: 'user', content: question }];
  if (as_json && read.text('messages').trim() === '') read.faults['messages'] = 'At least one message.';
  if (!as_json && question.trim() === '') read.faults['question'] = 'What is to be answered.';
  const grader = graderIn(read);
  const weight = Number(read.text('weight').trim() || '1');
  if (!(weight >= 0 && weight <= 1_000)) read.faults['weight'] = 'A number from 0 to 1,000.';
  const fields = {
    input: {
      messages,
      ...{ ...read.optional('system'), ...read.optional('model') },
      ...{ ...read.json('generation', 'object'), ...read.json('tools', 'array') },
    },
    ...{ grader, weight },
    tags: read
      .text('tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  };
  return Object.keys(read.faults).length > 0
    ? { fields: null, faults: read.faults }
    : { fields: fields as CaseFields, faults: null };
}

/** The field that a path of the API is about: `input.cases.0.grader.pattern` is `pattern`; null: none of the form. */
export function fieldOf(path: string | null, as_json: boolean): string | null {
  if (path === null) return null;
  const place = path.replace(/^input\.(?:cases\.0\.)?/, '');
  if (place === 'newId' || place === 'id' || place === 'caseId') return 'id';
  if (place.startsWith('grader.')) {
    const member = place.split('.')[1] as string;
    return member === 'model' ? 'judge' : member;
  }
  if (place.startsWith('input.')) {
    const member = place.split('.')[1] as string;
    if (member === 'messages') return as_json ? 'messages' : 'question';
    return member;
  }
  return ['weight', 'tags', 'name'].find((name) => place === name || place.startsWith(`${name}.`)) ?? null;
}
