// What callers see of an error of the GraphQL executor.
import { newRequestId, ServiceError } from '@svc/core/kernel/index.ts';
import {
  execute,
  GraphQLEnumType,
  GraphQLError,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  parse,
  type GraphQLSchema as Schema,
} from 'graphql';
import { expect, test } from 'vitest';
import { shownError } from './errors.ts';
import { MicroUsdScalar } from './scalars.ts';

const Color = new GraphQLEnumType({ name: 'Color', values: { RED: { value: 'red' } } });
const schema: Schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      money: { type: MicroUsdScalar, resolve: () => 'secret-7' },
      count: { type: GraphQLInt, resolve: () => 2 ** 40 },
      color: { type: Color, resolve: () => 'secret-blue' },
      must: {
        type: GraphQLInt,
        args: { n: { type: new GraphQLNonNull(GraphQLInt) } },
        resolve: () => 1,
      },
      missing: {
        type: GraphQLInt,
        resolve() {
          throw new ServiceError('not_found', 'Not here.');
        },
      },
    },
  }),
});

async function ask(text: string, variableValues: Record<string, unknown> = {}) {
  const defects: unknown[] = [];
  const { errors = [] } = await execute({ schema, document: parse(text), variableValues });
  const shown = errors.map((error) =>
    shownError(error as GraphQLError, newRequestId(), (thrown) => {
      if (thrown instanceof ServiceError) return thrown;
      defects.push(thrown);
      return new ServiceError('internal', 'Something went wrong on our side.');
    }),
  );
  return {
    defects,
    shown: shown.map(({ message, extensions, path }) => [path?.[0], extensions['code'], message]),
  };
}

test('a value that its type does not allow is a defect of ours: masked and logged', async () => {
  for (const field of ['money', 'count', 'color']) {
    const { shown, defects } = await ask(`{ ${field} }`);
    expect(shown).toEqual([[field, 'internal', 'Something went wrong on our side.']]);
    expect(defects).toHaveLength(1);
    expect(defects[0]).toBeInstanceOf(Error);
    expect(defects[0]).not.toBeInstanceOf(GraphQLError);
  }
});

test('a fault of the document keeps its words, a refusal its code, and neither is a defect', async () => {
  const unset = await ask('query($n: Int) { must(n: $n) }');
  expect(unset.shown).toEqual([['must', 'GRAPHQL_VALIDATION_FAILED', expect.stringContaining('$n')]]);
  const wrong = await ask('query($n: Int!) { must(n: $n) }', { n: 'many' });
  expect(wrong.shown).toEqual([[undefined, 'GRAPHQL_VALIDATION_FAILED', expect.stringContaining('$n')]]);
  const refused = await ask('{ missing }');
  expect(refused.shown).toEqual([['missing', 'not_found', 'Not here.']]);
  expect([...unset.defects, ...wrong.defects, ...refused.defects]).toEqual([]);
});
