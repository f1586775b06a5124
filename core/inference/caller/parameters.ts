// Reads parameters by tables: a caller format says for each parameter which members of its body request it. The
// reader, the list of known members, and their schemas in the documents all come from that table.
import type { JsonObject } from '../../kernel/index.ts';
import {
  type Generation,
  type NumberSchema,
  type ParameterName,
  parameterSchema,
  parameters,
  type StringsSchema,
  type WeightsSchema,
} from '../canonical/parameters.ts';
import { optionalNumber, optionalObject, optionalStrings } from './read.ts';

/** JSON Schema of a member, as the documents show it. */
type MemberSchema = Readonly<Record<string, unknown>>;

/** How a caller requests a parameter. */
export interface Reading<V> {
  /**
   * The members that it is read from. Empty when the format does not have the parameter; a member of that name is
   * then unknown.
   */
  readonly members: Readonly<Record<string, MemberSchema>>;
  /** The value in `body`. @throws ServiceError invalid_request naming the member below `path`. */
  read(body: JsonObject, path: string): V | undefined;
}

export type Readings = { readonly [K in ParameterName]-?: Reading<NonNullable<Generation[K]>> };

/** The format does not have the parameter. */
export const UNSAID: Reading<never> = { members: {}, read: () => undefined };

/** Read from `member`, with the parameter's type and bounds unless `bounds` overrides them. */
export function said<K extends ParameterName>(
  name: K,
  member: string = name,
  bounds: Partial<(typeof parameters)[K]['schema']> = {},
): Reading<NonNullable<Generation[K]>> {
  const schema = { ...parameters[name].schema, ...bounds };
  return {
    members: { [member]: { ...parameterSchema(name), ...bounds } },
    read: (body, path) =>
      readValue(body[member], path + member, schema) as NonNullable<Generation[K]> | undefined,
  };
}

function readValue(
  value: unknown,
  param: string,
  schema: NumberSchema | StringsSchema | WeightsSchema,
): number | string[] | Record<string, number> | undefined {
  switch (schema.type) {
    case 'array':
      return readStrings(value, param, schema);
    case 'object':
      return readWeights(value, param, schema.additionalProperties);
    default:
      return readNumber(value, param, schema);
  }
}

/** A number that fits `schema`. @throws ServiceError invalid_request */
export function readNumber(value: unknown, param: string, schema: NumberSchema): number | undefined {
  const { type, minimum: min, maximum: max } = schema;
  return optionalNumber(value, param, {
    integer: type === 'integer',
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  });
}

/** Strings that fit `schema`; an empty list counts as absent. @throws ServiceError invalid_request */
export function readStrings(
  value: unknown,
  param: string,
  { maxItems }: StringsSchema,
): string[] | undefined {
  const list = optionalStrings(value, param, maxItems === undefined ? {} : { max: maxItems });
  return list?.length === 0 ? undefined : list;
}

function readWeights(
  value: unknown,
  param: string,
  weight: NumberSchema,
): Record<string, number> | undefined {
  const object = optionalObject(value, param);
  if (object === undefined) return undefined;
  const weights: Record<string, number> = {};
  for (const [key, given] of Object.entries(object)) {
    const number = readNumber(given, `${param}.${key}`, weight);
    if (number !== undefined) weights[key] = number;
  }
  return weights;
}

/** All parameters in `body`, read in the order of `readings`. @throws ServiceError invalid_request with `param` */
export function readParameters(readings: Readings, body: JsonObject, path = ''): Generation {
  const generation: Record<string, unknown> = {};
  for (const name of Object.keys(readings) as ParameterName[]) {
    const value = readings[name].read(body, path);
    if (value !== undefined) generation[name] = value;
  }
  return generation as Generation;
}

/** Every member that `readings` reads, with its schema. */
export function membersOf(readings: Readings): Readonly<Record<string, MemberSchema>> {
  return Object.assign({}, ...Object.values(readings).map(({ members }) => members)) as Record<
    string,
    MemberSchema
  >;
}
