// Filters and paths: the part of RFC 7644's grammar that directories use, which is `attribute eq value` joined by `and`.
// Pure. What is not understood is refused, so that no filter finds more than was meant.
import { ScimFault, wrong } from './fault.ts';
import type { Attribute, Schema } from './schemas.ts';
import { attributeOf, type Fields } from './values.ts';

const FILTER_MAX = 2_000;
const WORD = String.raw`[A-Za-z$][\w$-]*`;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const INSIDE = String.raw`\[((?:[^\]"]|${TEXT})*)\]`;
const PATH = new RegExp(`^(${WORD})(?:${INSIDE})?(?:\\.(${WORD}))?$`);
const TERM = new RegExp(
  String.raw`\s*((?:urn:[^\s"[\]]+:)?${WORD}(?:${INSIDE})?(?:\.${WORD})?)\s+eq\s+(${TEXT}|true|false|null)(?:\s+(and)\s|\s*$)`,
  'iy',
);

/** An attribute with the conditions on its elements, and a part of it. */
export interface Path {
  readonly attribute: Attribute;
  readonly where: readonly Comparison[] | null;
  readonly part: Attribute | null;
}

/** That what `path` leads to is `value`. */
export interface Comparison {
  readonly path: Path;
  readonly value: string | boolean | null;
}

/** Every resource has these beside its own. */
const common: readonly Attribute[] = ['id', 'externalId'].map((name) => ({
  ...{ name, type: 'string', multiValued: false, description: '', required: false, caseExact: true },
  ...{ mutability: 'readOnly', returned: 'always', uniqueness: 'server' },
}));

function literal(text: string): string | boolean | null {
  try {
    return JSON.parse(text.startsWith('"') ? text : text.toLowerCase()) as string | boolean | null;
  } catch {
    throw wrong('invalidFilter', 'A text of the filter has no valid form.');
  }
}

/** `text` without the name of our own schema in front. */
export function withoutSchema({ id }: Pick<Schema, 'id'>, text: string): string {
  return text.toLowerCase().startsWith(`${id.toLowerCase()}:`) ? text.slice(id.length + 1) : text;
}

/**
 * The path that `text` names below `attributes`; null when it names no attribute of them.
 * @throws ScimFault invalidPath, invalidFilter for what has no form of a path.
 */
export function parsePath(attributes: readonly Attribute[], text: string): Path | null {
  const [, name, inside, part_name] = PATH.exec(text) ?? [];
  if (name === undefined) throw wrong('invalidPath', 'The path has no form that is understood.');
  const attribute = attributeOf(attributes, name);
  if (attribute === null) return null;
  const parts = attribute.subAttributes ?? [];
  const part = part_name === undefined ? null : attributeOf(parts, part_name);
  if (part_name !== undefined && part === null) return null;
  if (inside === undefined) return { attribute, where: null, part };
  if (!attribute.multiValued) throw wrong('invalidPath', `${attribute.name} has one value alone.`);
  return { attribute, where: parseTerms(parts, inside), part };
}

function parseTerms(attributes: readonly Attribute[], text: string, schema?: Schema): readonly Comparison[] {
  if (text.length > FILTER_MAX)
    throw wrong('invalidFilter', `A filter has at most ${FILTER_MAX} characters.`);
  const terms: Comparison[] = [];
  TERM.lastIndex = 0;
  for (let joined = true; joined; ) {
    const at = TERM.lastIndex;
    const found = TERM.exec(text);
    if (found === null) throw notUnderstood(text.slice(at).trim() === '');
    // The form may hold a filter of its own, which uses the same pattern.
    const next = TERM.lastIndex;
    const [, path_text = '', , value_text = ''] = found;
    const path = parsePath(attributes, schema === undefined ? path_text : withoutSchema(schema, path_text));
    if (path === null) throw wrong('invalidFilter', 'The filter names an attribute that is not known.');
    terms.push({ path, value: literal(value_text) });
    TERM.lastIndex = next;
    joined = found[4] !== undefined;
  }
  return terms;
}

function notUnderstood(is_empty: boolean): ScimFault {
  return wrong(
    'invalidFilter',
    is_empty ? 'The filter ends too early.' : 'Filters are made of `attribute eq value`, joined by `and`.',
  );
}

/** The comparisons of a filter, all of which must hold. @throws ScimFault invalidFilter. */
export function parseFilter(schema: Schema, text: string): readonly Comparison[] {
  try {
    return parseTerms([...common, ...schema.attributes], text, schema);
  } catch (error) {
    if (error instanceof ScimFault && error.scim_type === 'invalidPath')
      throw wrong('invalidFilter', error.message);
    throw error;
  }
}

function equals({ type, caseExact }: Attribute, present: unknown, wanted: Comparison['value']): boolean {
  if (wanted === null) return present === undefined;
  if (type === 'boolean') return String(present) === String(wanted).toLowerCase();
  if (typeof present !== 'string' || typeof wanted !== 'string') return false;
  return caseExact ? present === wanted : present.toLowerCase() === wanted.toLowerCase();
}

/** Whether an element of an attribute, or a resource, is what all of `terms` say. */
export function fits(terms: readonly Comparison[], fields: Fields): boolean {
  return terms.every(({ path, value }) => {
    const { attribute, where, part } = path;
    const present = fields[attribute.name];
    if (attribute.type !== 'complex') return equals(attribute, present, value);
    const wanted = part ?? attributeOf(attribute.subAttributes ?? [], 'value');
    if (wanted === null) return false;
    const all = attribute.multiValued ? ((present ?? []) as Fields[]) : [(present ?? {}) as Fields];
    const inside = where === null ? all : all.filter((element) => fits(where, element));
    return inside.some((element) => equals(wanted, element[wanted.name], value));
  });
}

/** The text that a filter wants of attribute `name` itself; null when it says nothing of it. */
export function wantedText(terms: readonly Comparison[], name: string): string | null {
  const found = terms.find(({ path }) => path.attribute.name === name);
  return typeof found?.value === 'string' ? found.value : null;
}
