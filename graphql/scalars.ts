// Scalars of both schemas. Money is an integer sent as a string: JSON numbers are exact only up to 2^53 in most
// languages, and nobody should add dollars as floats.
import { isTime, timeInMs } from '@svc/core/kernel/index.ts';
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';

function integerOf(name: string, value: unknown): number {
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw new GraphQLError(`${name} is an integer up to 2^53-1, as a string.`);
}

function literal(name: string, node: ValueNode): number {
  if (node.kind !== Kind.INT && node.kind !== Kind.STRING) {
    throw new GraphQLError(`${name} is an integer up to 2^53-1, as a string.`, { nodes: node });
  }
  return integerOf(name, node.value);
}

function money(name: string, description: string): GraphQLScalarType<number, string> {
  return new GraphQLScalarType({
    name,
    description,
    serialize: (value) => String(integerOf(name, value)),
    parseValue: (value) => integerOf(name, value),
    parseLiteral: (node) => literal(name, node),
  });
}

export const MicroUsdScalar = money('MicroUSD', 'Integer of micro-USD (1e-6 USD), as a string.');
export const MinorScalar = money('Minor', "Integer of the currency's smallest unit, as a string.");

function countOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new GraphQLError('Count is an integer up to 2^53-1.');
}

export const CountScalar = new GraphQLScalarType<number, number>({
  name: 'Count',
  description: 'Integer up to 2^53-1, as a JSON number. Money has scalars of its own.',
  serialize: countOf,
  parseValue: countOf,
  parseLiteral: (node) => countOf(node.kind === Kind.INT ? Number(node.value) : null),
});

function noTime(): GraphQLError {
  return new GraphQLError('DateTime is RFC 3339 text; a date alone is midnight UTC.');
}

function timeOf(value: unknown): string {
  if (typeof value === 'string' && value.length <= 64 && !Number.isNaN(timeInMs(value))) return value;
  throw noTime();
}

/**
 * Accepts the forms of a time that REST accepts. `Date` would parse far more, some of it in the machine's time zone.
 */
function timeIn(value: unknown): string {
  const text = timeOf(value);
  if (isTime(text)) return text;
  throw noTime();
}

export const DateTimeScalar = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  description: 'UTC, RFC 3339 with milliseconds and Z; any offset is taken.',
  serialize: timeOf,
  parseValue: timeIn,
  parseLiteral: (node) => timeIn(node.kind === Kind.STRING ? node.value : null),
});

function dateOf(value: unknown): string {
  if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && isTime(value)) return value;
  throw new GraphQLError('Date is a day, YYYY-MM-DD.');
}

export const DateScalar = new GraphQLScalarType<string, string>({
  name: 'Date',
  description: 'A day, YYYY-MM-DD.',
  serialize: dateOf,
  parseValue: dateOf,
  parseLiteral: (node) => dateOf(node.kind === Kind.STRING ? node.value : null),
});

export const JsonScalar = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value; its names are those of REST.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});
