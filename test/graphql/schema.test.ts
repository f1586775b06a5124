// The schemas that are committed are those that run.
import { readFile } from 'node:fs/promises';
import { operations, staffOperations } from '@svc/core/operations/index.ts';
import { printStaffSchema, staffSchema } from '@svc/graphql/staff/schema.ts';
import { printTenantSchema, tenantSchema } from '@svc/graphql/tenant/schema.ts';
import { type GraphQLSchema, isObjectType, validateSchema } from 'graphql';
import { describe, expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../../graphql/${path}`, import.meta.url), 'utf8');

test('the committed schemas are the printed ones (node graphql/print.ts writes them)', async () => {
  expect(await read('tenant/schema.graphql')).toBe(printTenantSchema());
  expect(await read('staff/schema.graphql')).toBe(printStaffSchema());
});

/** Fields that are answered without reading rows. */
const plain = ['Query.viewer', 'Query.node', 'Query.nodes', 'Query.credits', 'Query.legal'];

describe.each([
  ['tenant', tenantSchema, operations],
  ['staff', staffSchema, staffOperations],
] as const)('%s schema', (_name, schema: GraphQLSchema, known) => {
  test('is valid', () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  test('each root field runs an operation of the registry', () => {
    const names = new Set(known.map(({ name }) => name));
    for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
      for (const field of Object.values(root?.getFields() ?? {})) {
        const path = `${root?.name}.${field.name}`;
        const { operation } = field.extensions as { operation?: string | null };
        expect([path, operation === null ? plain.includes(path) : names.has(String(operation))]).toEqual([
          path,
          true,
        ]);
      }
    }
  });

  test('no name is snake_case and each enum value is upper case', () => {
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.name.startsWith('__') || !isObjectType(type)) continue;
      for (const name of Object.keys(type.getFields())) expect(name).toMatch(/^[a-z][A-Za-z0-9]*$/);
    }
  });
});
