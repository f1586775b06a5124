// The builder of the tenant schema: its scalars, its interfaces and the error members of every mutation's result.
import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import { Derivation } from '../derive.ts';
import { type UserError, userErrorNames } from '../errors.ts';
import type { PageInfoShape } from '../page.ts';
import {
  CountScalar,
  DateScalar,
  DateTimeScalar,
  JsonScalar,
  MicroUsdScalar,
  MinorScalar,
} from '../scalars.ts';
import type { TenantContext } from './context.ts';

interface TenantTypes {
  Context: TenantContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    MicroUSD: { Input: number; Output: number };
    Minor: { Input: number; Output: number };
    Count: { Input: number; Output: number };
    Date: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
  };
}

export const builder = new SchemaBuilder<TenantTypes>({
  plugins: [ComplexityPlugin],
  defaultFieldNullability: false,
  // Cost is computed before execution (limits.ts); the plugin only holds the cost that a field declares.
  complexity: { disabled: true, defaultComplexity: 1, defaultListMultiplier: 10 },
});

builder.addScalarType('MicroUSD', MicroUsdScalar);
builder.addScalarType('Minor', MinorScalar);
builder.addScalarType('Count', CountScalar);
builder.addScalarType('Date', DateScalar);
builder.addScalarType('DateTime', DateTimeScalar);
builder.addScalarType('JSON', JsonScalar);

export const derive = new Derivation(builder);

/** An object with an id. `id` is the string that REST shows; its prefix makes it globally unique. */
export const Node = builder.interfaceRef<{ readonly __typename?: string }>('Node').implement({
  fields: (t) => ({
    id: t.field({ type: 'ID', resolve: (node) => (node as { id?: string }).id ?? '' }),
  }),
});

const UserErrorInterface = builder.interfaceRef<UserError>('UserError').implement({
  description: 'A refusal: something the caller can change. The code is that of REST.',
  fields: (t) => ({
    code: t.string({ resolve: (error) => error.code }),
    message: t.string({ resolve: (error) => error.message }),
    path: t.stringList({
      nullable: true,
      description: 'of the argument at fault',
      resolve: (error) => (error.path === null ? null : [...error.path]),
    }),
    requestId: t.string({ resolve: (error) => error.requestId }),
  }),
});

/** The error members of every result union. */
export const userErrors = userErrorNames.map((name) =>
  builder.objectRef<UserError>(name).implement({
    interfaces: [UserErrorInterface],
    fields: (t) =>
      name === 'RateLimitError'
        ? {
            retryAfterMs: t.field({
              type: 'Count',
              nullable: true,
              resolve: (error) => error.retryAfterMs,
            }),
          }
        : {},
  }),
);

export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  fields: (t) => ({
    endCursor: t.exposeString('endCursor', { nullable: true }),
    hasNextPage: t.exposeBoolean('hasNextPage'),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage'),
    startCursor: t.exposeString('startCursor', { nullable: true }),
  }),
});
