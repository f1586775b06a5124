// Reports every fault of a value against its schema, at most twenty, in the form of docs/api.md#bodies-and-answers.
import { type JsonSchema, pathText, type SchemaFault, schemaFaults } from '@svc/core/kernel/index.ts';
import type { TSchema } from 'typebox';

export type Reason = 'missing' | 'unknown' | 'type' | 'format' | 'range' | 'length' | 'enum' | 'not_nullable';
export interface Fault {
  readonly param: string;
  readonly reason: Reason;
  readonly message: string;
}

const FAULTS_MAX = 20;
const PARAM_MAX = 200;

const nouns: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  array: 'a list',
  object: 'an object',
  boolean: 'true or false',
};

function lengthText(param: string, { minLength = 0, maxLength }: JsonSchema): string {
  return `${param} must have ${minLength} ${maxLength === undefined ? 'or more' : `to ${maxLength}`} characters.`;
}

function countText(param: string, { minItems = 0, maxItems }: JsonSchema): string {
  return `${param} must have ${minItems} ${maxItems === undefined ? 'or more' : `to ${maxItems}`} items.`;
}

function rangeText(param: string, { minimum, maximum }: JsonSchema): string {
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ];
  return `${param} must be ${bounds.join(' and ')}.`;
}

function faultOf({ steps, rule, schema }: SchemaFault): Fault {
  const param = pathText(steps, '').slice(0, PARAM_MAX);
  const say = (reason: Reason, message: string) => ({ param, reason, message });
  const subject = param === '' ? 'The body' : param;
  switch (rule) {
    case 'missing':
      return say('missing', `${param} is required.`);
    case 'unknown':
      return say('unknown', `Unknown field ${param.slice(0, 64)}.`);
    case 'null':
      return say('not_nullable', `${subject} must not be null.`);
    case 'type':
      return say(
        'type',
        `${schema.type === 'object' ? subject : param} must be ${nouns[schema.type ?? '']}.`,
      );
    case 'const':
      return say('enum', `${param} must be ${JSON.stringify(schema.const)}.`);
    case 'enum':
      return say('enum', `${param} must be one of ${schema.enum?.join(', ')}.`);
    case 'length':
      return say('length', lengthText(param, schema));
    case 'count':
      return say('length', countText(param, schema));
    case 'pattern':
      return say('format', `${param} must match ${schema.pattern}.`);
    case 'format':
      return say('format', `${param} must be a valid ${schema.format}.`);
    case 'range':
      return say('range', rangeText(param, schema));
    case 'unique':
      return say('range', `${param} names an item twice.`);
    case 'forms':
    case 'own':
      return say('enum', `${param} has none of its allowed forms.`);
  }
}

/** The faults of `value`: first in the order of the schema's required members, then in the order of the value. */
export function faultsOf(schema: TSchema, value: unknown): Fault[] {
  return schemaFaults(schema, value, { most: FAULTS_MAX }).map(faultOf);
}
