// Where in a policy a place of its text stands, and what the schema knows there. Pure, and by columns and brackets
// alone: while a text is being typed, no parser of YAML can read it.

/** The part of JSON schema that the policy language uses. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** Where a place stands: the keys around it, and whether a key or a value is written there. */
export interface Place {
  readonly path: readonly string[];
  readonly in_value: boolean;
  /** What of the word stands before the place. */
  readonly word: string;
}

interface Level {
  readonly column: number;
  readonly key: string;
}
interface Flow {
  readonly bracket: '{' | '[';
  key: string | null;
}

const KEY = /^([A-Za-z_][\w-]*)\s*:(?=\s|$)\s*/;

/** `line` without its comment. A `#` in quotes is rare enough in a policy to end a line here too. */
function withoutComment(line: string): string {
  const at = line.search(/(?:^|\s)#/);
  return at < 0 ? line : line.slice(0, at);
}

class Reader {
  readonly #levels: Level[] = [];
  readonly #flows: Flow[] = [];
  #word = '';
  #in_value = false;

  /** Takes the dashes and the key of a line that no bracket reaches into; returns what follows them. */
  #block(line: string): string {
    let column = line.length - line.trimStart().length;
    let rest = line.slice(column);
    this.#in_value = false;
    while (/^-(?:\s|$)/.test(rest)) {
      // A list may stand in the column of its own key.
      while ((this.#levels.at(-1)?.column ?? -1) > column) this.#levels.pop();
      const after = rest.slice(1);
      const step = after.length - after.trimStart().length + 1;
      column += step;
      rest = rest.slice(step);
      this.#in_value = true;
    }
    while ((this.#levels.at(-1)?.column ?? -1) >= column) this.#levels.pop();
    const key = KEY.exec(rest);
    if (key === null) return rest;
    this.#levels.push({ column, key: key[1] as string });
    this.#in_value = true;
    return rest.slice(key[0].length);
  }

  #flowWord(): void {
    const flow = this.#flows.at(-1);
    if (flow?.bracket === '{' && flow.key === null) flow.key = this.#word.trim();
    this.#word = '';
  }

  #flow(text: string): void {
    for (const letter of text) {
      const flow = this.#flows.at(-1);
      if (letter === '{' || letter === '[') {
        this.#flows.push({ bracket: letter, key: null });
        this.#word = '';
      } else if (letter === '}' || letter === ']') {
        this.#flows.pop();
        this.#word = '';
      } else if (letter === ',') {
        if (flow !== undefined) flow.key = null;
        this.#word = '';
      } else if (letter === ':' && flow?.bracket === '{' && flow.key === null) this.#flowWord();
      else this.#word += letter;
    }
  }

  take(line: string): void {
    this.#word = '';
    this.#flow(this.#flows.length > 0 ? line : this.#block(line));
  }

  place(): Place {
    const flow = this.#flows.at(-1);
    const keys = this.#flows.flatMap(({ key }) => (key === null ? [] : [key]));
    const word = this.#word.trimStart();
    const path = [...this.#levels.map(({ key }) => key), ...keys];
    if (flow === undefined) return { path, in_value: this.#in_value, word };
    return { path, in_value: flow.bracket === '[' || flow.key !== null, word };
  }
}

/** The place at the end of `before`, the text up to it. */
export function placeAt(before: string): Place {
  const reader = new Reader();
  const lines = before.split('\n');
  lines.forEach((line, i) => {
    const text = withoutComment(line);
    // An empty line says nothing of where the next one stands, unless it is the one that is written on.
    if (text.trim() !== '' || i === lines.length - 1) reader.take(text);
  });
  return reader.place();
}

/** The schema of what stands under `path`; undefined where the language has no such key. */
export function schemaAt(schema: Schema, path: readonly string[]): Schema | undefined {
  let at: Schema | undefined = schema;
  for (const key of path) {
    while (at?.items !== undefined) at = at.items;
    const other: Schema | boolean | undefined = at?.additionalProperties;
    at = at?.properties?.[key] ?? (typeof other === 'object' ? other : undefined);
  }
  return at;
}

interface Suggestion {
  readonly label: string;
  readonly kind: 'key' | 'value';
  readonly info: string | undefined;
}

/** What can be written at `place`: the keys of the object there, or the values that the key takes. */
export function suggestionsAt(schema: Schema, place: Place): readonly Suggestion[] {
  let at = schemaAt(schema, place.path);
  while (at?.items !== undefined) at = at.items;
  if (at === undefined) return [];
  if (at.properties !== undefined) {
    return Object.entries(at.properties).map(([label, { description }]) => ({
      label,
      kind: 'key',
      info: description,
    }));
  }
  if (!place.in_value) return [];
  const values = at.type === 'boolean' ? ['true', 'false'] : (at.enum ?? []);
  return values.map((label) => ({ label, kind: 'value', info: undefined }));
}
