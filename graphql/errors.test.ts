// What callers see of an error of the GraphQL executor.
import { newRequestId, ServiceError } from '@svc/core/kernel/index.ts';
import {
  buildSchema,
  execute,
  GraphQLEnumType,
  GraphQLError,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  parse,
  type GraphQLSchema as Schema,
  validate,
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

const given = buildSchema(`
  input KeyInput { id: ID!, secret: String!, count: Int }
  type Query { make(input: KeyInput!): Int }
`);
const make = 'query($input: KeyInput!) { make(input: $input) }';
const wordsOf = (errors: readonly GraphQLError[] = []) =>
  errors.map((error) => {
    const { message, extensions, locations } = shownError(error, newRequestId(), () => {
      throw new Error('no defect');
    });
    return [message, extensions['code'], locations?.length];
  });

test.each([
  [
    'a member that is missing',
    { secret: 'sk-planted' },
    'Variable "$input" got an invalid value; Field "id" of required type "ID!" was not provided.',
  ],
  [
    'a member that there is none of',
    { id: 'a', secret: 'sk-planted', label: 'x at "input.y"; z' },
    'Variable "$input" got an invalid value; Field "label" is not defined by type "KeyInput".',
  ],
  [
    'a list where a text belongs',
    { id: 'a', secret: ['sk-planted'] },
    'Variable "$input" got an invalid value at "input.secret"; String cannot represent a non string value.',
  ],
  [
    'a text where an object belongs',
    'sk-planted',
    'Variable "$input" got an invalid value; Expected type "KeyInput" to be an object.',
  ],
])('what was given for a variable is never repeated: %s', async (_what, input, message) => {
  const { errors } = await execute({ schema: given, document: parse(make), variableValues: { input } });
  expect(wordsOf(errors)).toEqual([[message, 'GRAPHQL_VALIDATION_FAILED', 1]]);
});

test('nor is what stands in a document in the place of something else', () => {
  for (const [text, message] of [
    ['{ make(input: "sk-planted") }', 'Expected value of type "KeyInput!".'],
    ['{ make(input: { id: 1, secret: ["sk-planted"] }) }', 'String cannot represent a non string value.'],
  ] as const)
    expect(wordsOf(validate(given, parse(text)))).toEqual([[message, 'GRAPHQL_VALIDATION_FAILED', 1]]);
  try {
    parse('{ make(input: { secret "sk-planted" }) }');
    expect.unreachable();
  } catch (error) {
    expect(wordsOf([error as GraphQLError])).toEqual([
      ['Syntax Error: Expected ":", found String.', 'GRAPHQL_VALIDATION_FAILED', 1],
    ]);
  }
});
