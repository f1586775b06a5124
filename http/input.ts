// From a request to an operation's input: path members, query members by their declared type, and the body
// (docs/api.md#bodies-and-answers).
import { BodyScan } from '@svc/core/inference/index.ts';
import { type Operation, parseJson, refuseDuplicates, ServiceError } from '@svc/core/kernel/index.ts';
import { type Shape, shapeOf } from '@svc/core/operations/index.ts';
import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Fault, faultsOf } from './faults.ts';

const DEPTH_MAX = 64;
/** A smaller body is read within a few milliseconds, whatever it holds. */
const SMALL = 65_536;
/** Objects, lists and members at most: no operation takes nearly as many. */
const ITEMS_MAX = 20_000;

export interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | string[]>>;
  /** Undefined when the request has none. */
  readonly body: unknown;
}

export type InputReader = (raw: RawInput) => Record<string, unknown>;

function refuse(faults: readonly Fault[]): ServiceError {
  const [first] = faults;
  if (first === undefined)
    return new ServiceError('invalid_request', 'The request does not have the declared form.');
  return new ServiceError('invalid_request', first.message, {
    ...(first.param === '' ? {} : { param: first.param }),
    details: { faults: [...faults] },
  });
}

/**
 * One query value converted to its declared type; a value that cannot be converted stays text, and the check refuses
 * it.
 */
function typed(schema: TSchema, value: string): unknown {
  const { type } = schema as { type?: string };
  if (type === 'integer' || type === 'number')
    return /^-?\d{1,16}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value;
  if (type === 'boolean') {
    if (value === 'true' || value === '1') return true;
    return value === 'false' || value === '0' ? false : value;
  }
  return value;
}

function readQuery(query: Shape['query'], given: RawInput['query']): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(query)) {
    const value = given[name];
    if (value === undefined) continue;
    const { type, items } = schema as { type?: string; items?: TSchema };
    if (type === 'array') values[name] = [value].flat().map((item) => typed(items as TSchema, item));
    else if (Array.isArray(value)) {
      throw refuse([{ param: name, reason: 'type', message: `${name} is given more than once.` }]);
    } else values[name] = typed(schema, value);
  }
  return values;
}

/**
 * The fault of a text that PostgreSQL cannot store, in whichever field it is: U+0000, and halves of surrogate pairs,
 * which are not characters. `param` is the path of `value`.
 */
function badText(value: unknown, param: string): Fault | null {
  if (typeof value === 'string') {
    if (!value.includes('\u0000') && value.isWellFormed()) return null;
    return { param, reason: 'format', message: `${param} holds U+0000 or half of a surrogate pair.` };
  }
  if (value === null || typeof value !== 'object') return null;
  for (const [name, member] of Object.entries(value)) {
    const inside = param === '' ? name : `${param}.${name}`;
    const at = Array.isArray(value) ? `${param}[${name}]` : inside;
    const fault = badText(name, param === '' ? 'The name of a field' : param) ?? badText(member, at);
    if (fault !== null) return fault;
  }
  return null;
}

/**
 * A reader for the input of `operation`; its checks are compiled once. It throws ServiceError invalid_request with
 * all faults.
 */
export function inputReader(operation: Operation): InputReader {
  const shape = shapeOf(operation);
  const query_schema = Type.Object(shape.query);
  const query_check = Compile(query_schema);
  const { body } = shape;
  const body_check = body === null ? null : Compile(body);
  return (raw) => {
    const query = readQuery(shape.query, raw.query);
    if (!query_check.Check(query)) throw refuse(faultsOf(query_schema, query));
    const members = raw.body === undefined ? {} : raw.body;
    if (body !== null && body_check?.Check(members) === false) throw refuse(faultsOf(body, members));
    const bad = badText(query, '') ?? badText(body === null ? null : members, '');
    if (bad !== null) throw refuse([bad]);
    // Path members come last, so that nothing overwrites them. The body allows no unknown members, so names do not
    // clash.
    return { ...query, ...(body === null ? {} : (members as object)), ...raw.params };
  };
}

function depthOf(value: unknown, limit: number): number {
  if (value === null || typeof value !== 'object') return 0;
  if (limit === 0) return 1;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, limit - 1));
  return deepest + 1;
}

/**
 * A JSON body; empty is undefined.
 * @throws ServiceError invalid_json with the offset, for a member given twice, or beyond 64 levels; request_too_large for more than anybody needs.
 */
export function parseBody(bytes: Buffer, items_max = ITEMS_MAX): unknown {
  if (bytes.length === 0) return undefined;
  if (bytes.length > SMALL) new BodyScan(items_max).push(bytes);
  const text = bytes.toString('utf8');
  const value = parseJson(text);
  refuseDuplicates(text, value);
  if (depthOf(value, DEPTH_MAX) > DEPTH_MAX) {
    throw new ServiceError('invalid_json', `The body nests deeper than ${DEPTH_MAX} levels.`);
  }
  return value;
}
