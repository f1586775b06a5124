// The table of values in svc/README.md, made of values.yaml (defaults) and values.schema.json (sentences):
// `node charts/values-table.ts` writes it, a test compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

const file = (name: string) => new URL(`svc/${name}`, import.meta.url);
const BEGIN = '<!-- values -->';
const END = '<!-- /values -->';

export function readSchema(): Schema {
  return JSON.parse(readFileSync(file('values.schema.json'), 'utf8')) as Schema;
}

export function readValues(): Record<string, unknown> {
  return parse(readFileSync(file('values.yaml'), 'utf8')) as Record<string, unknown>;
}

/** Every value that can be set, by its path; groups are looked into, what Kubernetes defines is not. */
export function listValues(schema: Schema, values: unknown, prefix = ''): [string, Schema, unknown][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, part]): [string, Schema, unknown][] => {
    const path = `${prefix}${name}`;
    const value = (values as Record<string, unknown> | undefined)?.[name];
    return part.properties === undefined ? [[path, part, value]] : listValues(part, value, `${path}.`);
  });
}

/** The rows of the table: path, default, sentence. */
function valuesTable(): string {
  const rows = listValues(readSchema(), readValues()).map(
    ([path, { description }, value]) => `| \`${path}\` | \`${JSON.stringify(value)}\` | ${description} |`,
  );
  return ['| Value | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

/** README.md with the table between its marks. */
export function withTable(readme: string): string {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`README.md lacks ${BEGIN} or ${END}`);
  return `${before}${BEGIN}\n${valuesTable()}\n${END}${after}`;
}

if (import.meta.main) writeFileSync(file('README.md'), withTable(readFileSync(file('README.md'), 'utf8')));
