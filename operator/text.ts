// Policies and manifests as YAML: block style, one spelling for each value, so that equal policies have equal text.

/** Words and shapes that YAML would not read as this text. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]*$/;
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (PLAIN.test(value) && !WORDS.test(value)) return value;
  // What JSON leaves as it is and YAML does not take: DEL, C1 controls, line separators, lone byte order marks.
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isEmpty(value: object): boolean {
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

function write(value: unknown, indent: string, lines: string[], head: string): void {
  if (value === null || typeof value !== 'object') lines.push(`${head} ${scalar(value)}`);
  else if (isEmpty(value)) lines.push(`${head} ${Array.isArray(value) ? '[]' : '{}'}`);
  else if (Array.isArray(value)) {
    if (head !== '') lines.push(head);
    for (const item of value) writeItem(item, indent, lines);
  } else {
    if (head !== '') lines.push(head);
    writeMembers(value, indent, lines);
  }
}

function writeMembers(value: object, indent: string, lines: string[]): void {
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const head = `${indent}${scalar(key)}:`;
    write(member, Array.isArray(member) ? indent : `${indent}  `, lines, head);
  }
}

/** An item of a list: its first line stands behind the dash. */
function writeItem(item: unknown, indent: string, lines: string[]): void {
  const at = lines.length;
  if (item === null || typeof item !== 'object' || isEmpty(item)) write(item, indent, lines, `${indent}-`);
  else {
    write(item, `${indent}  `, lines, '');
    lines[at] = `${indent}- ${(lines[at] as string).slice(indent.length + 2)}`;
  }
}

/** `value`, plain data, as YAML 1.2 that reads back as the same; keys in their own order. */
export function yamlText(value: object): string {
  const lines: string[] = [];
  write(value, '', lines, '');
  return `${lines.join('\n').trimStart()}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, sorted(member)]));
}

/**
 * The one text of a policy: keys sorted, so that two manifests that say the same have the same hash
 * whatever tool wrote them. `version` and `policy` are filled in here.
 */
export function canonicalText(name: string, policy: object): string {
  return yamlText({ version: 1, policy: name, ...(sorted(policy) as object) });
}

/** Whether two plain values say the same, whatever the order of their keys. */
export function sameData(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}
