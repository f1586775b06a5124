// The smallest instance of a JSON Schema: what `sandbox/json` answers and `sandbox/tools` calls with.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';

// A schema may refer to itself; past this depth an instance ends with null whatever the schema says.
const DEPTH_MAX = 32;
// `minItems` and `minLength` come from the caller, and nested arrays multiply: the whole instance is bounded too.
const LENGTH_MAX = 1_000;
const NODES_MAX = 10_000;

interface Walk {
  readonly root: unknown;
  nodes: number;
}

const formats: Record<string, string> = {
  'date-time': '2000-01-01T00:00:00Z',
  date: '2000-01-01',
  time: '00:00:00Z',
  duration: 'PT0S',
  email: 'a@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * A small instance of `schema`: required members only, in the order the schema lists them, first branch of a
 * union, least numbers, shortest strings and arrays. Strings with a `pattern` are not solved for it.
 */
export function smallestInstance(schema: unknown): unknown {
  return instance(schema, { root: schema, nodes: 0 }, 0);
}

function instance(schema: unknown, walk: Walk, depth: number): unknown {
  if (!isObject(schema) || depth > DEPTH_MAX || ++walk.nodes > NODES_MAX) return null;
  if (typeof schema['$ref'] === 'string') return instance(refer(schema['$ref'], walk.root), walk, depth + 1);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  const union = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(union)) {
    // null is the smallest of all where it is allowed (optional members of strict schemas).
    const branch = union.find((option) => isObject(option) && option['type'] === 'null') ?? union[0];
    return instance({ ...without(schema, ['anyOf', 'oneOf']), ...object(branch) }, walk, depth + 1);
  }
  if (Array.isArray(schema['allOf'])) return instance(merged(schema, walk, depth), walk, depth + 1);
  return ofType(schema, walk, depth);
}

/** The type that an instance gets where several are allowed: null is the shortest. */
function typeOf(listed: unknown): unknown {
  if (!Array.isArray(listed)) return listed;
  return listed.includes('null') ? 'null' : listed[0];
}

function ofType(schema: JsonObject, walk: Walk, depth: number): unknown {
  const type = typeOf(schema['type']);
  if (type === 'object' || (type === undefined && isObject(schema['properties']))) {
    return objectOf(schema, walk, depth);
  }
  if (type === 'array' || (type === undefined && 'items' in schema)) return arrayOf(schema, walk, depth);
  if (type === 'string') return stringOf(schema);
  if (type === 'integer' || type === 'number') return numberOf(schema, type === 'integer');
  if (type === 'boolean') return false;
  if (type === 'null') return null;
  return {};
}

function objectOf(schema: JsonObject, walk: Walk, depth: number): JsonObject {
  const properties = object(schema['properties']);
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
  const result: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    if (required.delete(name)) result[name] = instance(property, walk, depth + 1);
  }
  for (const name of required) {
    if (typeof name === 'string') result[name] = null;
  }
  return result;
}

function arrayOf(schema: JsonObject, walk: Walk, depth: number): unknown[] {
  const length = Math.max(0, Math.min(bound(schema['minItems']) ?? 0, LENGTH_MAX, NODES_MAX - walk.nodes));
  // Counted before the items are made: an array costs its length even when the items come out empty.
  walk.nodes += length;
  const prefix = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
  return Array.from({ length }, (_, i) => instance(prefix[i] ?? schema['items'], walk, depth + 1));
}

function stringOf(schema: JsonObject): string {
  const format = schema['format'];
  if (typeof format === 'string' && Object.hasOwn(formats, format)) return formats[format] as string;
  return 'a'.repeat(Math.max(0, Math.min(bound(schema['minLength']) ?? 0, LENGTH_MAX)));
}

function numberOf(schema: JsonObject, whole: boolean): number {
  const step = bound(schema['multipleOf']) || (whole ? 1 : 0);
  const least = bound(schema['minimum']);
  const above = bound(schema['exclusiveMinimum']);
  const most = bound(schema['maximum']);
  const below = bound(schema['exclusiveMaximum']);
  let value = 0;
  if (least !== null && value < least) value = least;
  if (above !== null && value <= above) value = above + (step || 1);
  if (most !== null && value > most) value = most;
  if (below !== null && value >= below) value = below - (step || 1);
  if (step === 0) return value;
  return value < 0 && (least === null || Math.floor(value / step) * step >= least)
    ? Math.floor(value / step) * step
    : Math.ceil(value / step) * step;
}

/** A local reference: `#`, `#/$defs/name`. */
function refer(ref: string, root: unknown): unknown {
  if (!ref.startsWith('#')) return null;
  let at: unknown = root;
  for (const token of ref.slice(1).split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = at[Number(name)];
    else at = isObject(at) ? at[name] : null;
  }
  return at;
}

function merged(schema: JsonObject, walk: Walk, depth: number): JsonObject {
  let all: JsonObject = without(schema, ['allOf']);
  for (const part of schema['allOf'] as unknown[]) {
    let piece = object(part);
    for (let hops = depth; typeof piece['$ref'] === 'string' && hops <= DEPTH_MAX; hops++) {
      piece = object(refer(piece['$ref'], walk.root));
    }
    const required = [...new Set([...list(all['required']), ...list(piece['required'])])];
    const properties = { ...object(all['properties']), ...object(piece['properties']) };
    all = { ...all, ...piece };
    if (required.length > 0) all['required'] = required;
    if (Object.keys(properties).length > 0) all['properties'] = properties;
  }
  return all;
}

function object(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function bound(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function without(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
