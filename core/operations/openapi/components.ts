// Schemas as the document has them: each that has a name stands once, among the components, and is referred to.
import type { TSchema } from 'typebox';
import { textFormats } from '../../kernel/index.ts';

export type Json = Record<string, unknown>;

/** Members whose values are data, not schemas. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples', 'required']);

/** How TypeBox says that any name may stand there; generators know the other way. */
const ANY_NAME = '^.*$';

/** Where one document keeps what is referred to. */
export class Components {
  readonly schemas: Record<string, Json> = {};

  /**
   * `schema` as it stands where it is used: a reference if it has a name.
   * @throws Error (a defect) when another content has the name already.
   */
  refer(schema: TSchema): Json {
    // Through text: TypeBox's own marks are hidden members, which do not survive it.
    return this.#lift(JSON.parse(JSON.stringify(schema)) as Json);
  }

  /** `schema` under `name`, whatever name it has itself. */
  add(name: string, schema: Json): Json {
    const known = this.schemas[name];
    if (known === undefined) this.schemas[name] = schema;
    else if (JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas have the name ${name}`);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The components in the order of their names. */
  sorted(): Record<string, Json> {
    const names = Object.keys(this.schemas).sort();
    return Object.fromEntries(names.map((name) => [name, this.schemas[name] as Json]));
  }

  #lift({ $id, documented, ...schema }: Json): Json {
    const lifted: Json = {};
    for (const [member, value] of Object.entries(schema)) Object.assign(lifted, this.#member(member, value));
    Object.assign(lifted, documented);
    return typeof $id === 'string' ? this.add($id, lifted) : lifted;
  }

  #member(name: string, value: unknown): Json {
    if (name === 'format' && Object.hasOwn(textFormats, value as string)) {
      return { pattern: textFormats[value as keyof typeof textFormats] };
    }
    if (name === 'patternProperties' && Object.keys(value as object).join() === ANY_NAME) {
      return { additionalProperties: this.#lift((value as Record<string, Json>)[ANY_NAME] as Json) };
    }
    if (name === 'properties' || name === 'patternProperties') {
      const properties = Object.entries(value as Record<string, Json>);
      return { [name]: Object.fromEntries(properties.map(([key, one]) => [key, this.#lift(one)])) };
    }
    if (DATA.has(name) || typeof value !== 'object' || value === null) return { [name]: value };
    if (Array.isArray(value)) return { [name]: value.map((one) => this.#lift(one as Json)) };
    return { [name]: this.#lift(value as Json) };
  }
}
