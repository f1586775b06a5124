// All faults of a structure against the language, in document order, each with its path and the words that help.
import { type JsonSchema, type SchemaFault, type Step, schemaFaults } from '../kernel/index.ts';
import { PolicyDocument, reservedKeys } from './types.ts';

export interface Finding {
  readonly steps: readonly Step[];
  readonly message: string;
  /** A part of the language that this release knows and does not execute. */
  readonly unsupported?: boolean;
}

/** More faults than this are not listed: a person mends these first and asks again. */
export const FINDINGS_MAX = 50;
const SHOWN_MAX = 64;
const NAME_MAX = 64;

/** `value` as it is named in a message, at most 64 characters. */
export function shown(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value !== null && typeof value === 'object') return 'a mapping';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text;
}

/** `a, b or c`. */
function either(words: readonly unknown[]): string {
  const texts = words.map(String);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

function expected({ type, enum: choices, description, minimum, maximum }: JsonSchema): string {
  if (choices !== undefined) return either(choices);
  const words: Readonly<Record<string, string>> = {
    object: 'a mapping',
    array: 'a list',
    boolean: 'true or false',
    integer: `an integer from ${minimum} to ${maximum}`,
    number: `a number from ${minimum} to ${maximum}`,
  };
  return words[type ?? ''] ?? description ?? 'text';
}

function countText({ schema, value }: SchemaFault): string {
  if (!Array.isArray(value))
    return `${Object.keys(value as object).length} keys; expected at most ${schema.maxProperties}`;
  const { minItems = 0, maxItems } = schema;
  if (value.length >= minItems) return `${value.length} items; expected at most ${maxItems}`;
  return `${shown(value)}; expected at least ${minItems} item${minItems === 1 ? '' : 's'}`;
}

function lengthText({ schema, value }: SchemaFault): string {
  const length = [...(value as string)].length;
  if (length < (schema.minLength ?? 0)) return `empty text; expected ${expected(schema)}`;
  return `${length} characters; expected at most ${schema.maxLength}`;
}

function words(fault: SchemaFault): string {
  const { steps, rule, schema, value, message } = fault;
  const name = steps.at(-1);
  if (rule === 'own') return message as string;
  if (rule === 'missing') return `${name} is missing; expected ${expected(schema)}`;
  if (rule === 'unknown')
    return `unknown key ${shown(name)}; expected ${either(Object.keys(schema.properties ?? {}))}`;
  if (rule === 'count') return countText(fault);
  if (rule === 'length') return lengthText(fault);
  return `${shown(value)}; expected ${expected(schema)}`;
}

/** A member that the language keeps for later, or the name of one that a person chose. */
function ofMember(name: string, declared: boolean): string | null {
  if (declared)
    return reservedKeys.has(name)
      ? `${name} is reserved for a later release; expected a policy without it`
      : null;
  const fits = name !== '' && name.length <= NAME_MAX;
  return fits ? null : `key ${shown(name)}; expected 1 to ${NAME_MAX} characters`;
}

const BESIDE_DENY: ReadonlySet<string> = new Set(['name', 'match', 'continue', 'deny']);

/** A rule that refuses says nothing of how a call is routed. */
function ofObject(value: Readonly<Record<string, unknown>>, schema: JsonSchema) {
  if (schema.properties?.['deny'] === undefined || !Object.hasOwn(value, 'deny')) return null;
  const action = Object.keys(value).find((name) => !BESIDE_DENY.has(name));
  if (action === undefined) return null;
  return { at: 'deny', message: `deny beside ${shown(action)}; expected deny or actions, not both` };
}

/** What is wrong with the shape of `value`, at most fifty findings in its own order; none where it is a policy. */
export function shapeFindings(value: unknown): readonly Finding[] {
  const faults = schemaFaults(PolicyDocument, value, {
    most: FINDINGS_MAX,
    member: ofMember,
    object: ofObject,
  });
  return faults.map((fault) => ({
    steps: fault.steps,
    message: words(fault),
    unsupported: fault.rule === 'own' && reservedKeys.has(String(fault.steps.at(-1))),
  }));
}
