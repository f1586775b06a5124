// The policy language as JSON schema (docs/policies.md), and in the form that a custom resource definition takes.
import { PolicyDocument } from '../types.ts';
import { descriptionOf } from './descriptions.ts';

export type JsonSchema = { readonly [key: string]: unknown };

/** Words whose members are schemas by name. */
const byName = new Set(['properties']);
/** Words whose value is a schema or a list of schemas. */
const nested = new Set(['items', 'additionalProperties', 'not', 'allOf', 'anyOf']);

function structural(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(structural);
  if (schema === null || typeof schema !== 'object') return schema;
  const result: Record<string, unknown> = {};
  for (const [word, value] of Object.entries(schema)) {
    // An API server refuses `additionalProperties: false` beside properties: it prunes what it does not know.
    if (word === 'additionalProperties' && value === false) continue;
    if (byName.has(word)) {
      result[word] = Object.fromEntries(
        Object.entries(value as object).map(([name, member]) => [name, structural(member)]),
      );
    } else result[word] = nested.has(word) ? structural(value) : value;
  }
  return result;
}

/** `schema` with a sentence for every key; `parent` is the key that it stands under. */
function explained(schema: JsonSchema, parent: string): JsonSchema {
  const result: Record<string, unknown> = { ...schema };
  const { properties, items, additionalProperties } = schema as { readonly [word: string]: unknown };
  if (properties !== undefined) {
    result['properties'] = Object.fromEntries(
      Object.entries(properties as { readonly [key: string]: JsonSchema }).map(([key, member]) => {
        const description = descriptionOf(parent, key);
        return [key, explained(description === undefined ? member : { ...member, description }, key)];
      }),
    );
  }
  if (items !== undefined && !Array.isArray(items)) result['items'] = explained(items as JsonSchema, parent);
  if (typeof additionalProperties === 'object') {
    result['additionalProperties'] = explained(additionalProperties as JsonSchema, parent);
  }
  return result;
}

/**
 * The schema of a policy document as plain JSON: `json` for editors and validators (draft 2020-12, closed objects),
 * `kubernetes` as the structural schema of `spec.policy`, without `version` and `policy`, which the operator fills.
 */
export function policySchema(form: 'json' | 'kubernetes' = 'json'): JsonSchema {
  const plain = explained(JSON.parse(JSON.stringify(PolicyDocument)), '') as JsonSchema & {
    properties: object;
  };
  if (form === 'json') {
    return { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'routing-policy.v1', ...plain };
  }
  const { version: _, policy: __, ...properties } = plain.properties as Record<string, unknown>;
  return structural({ ...plain, properties }) as JsonSchema;
}
