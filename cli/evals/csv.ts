// Rows of CSV files (RFC 4180), by the names in their first line.

function splitRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  // A field with its separator: quoted with doubled quotes inside, or up to a comma or the end of a line.
  const field = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/gy;
  for (let at = 0; at < text.length; at = field.lastIndex) {
    field.lastIndex = at;
    const found = field.exec(text);
    if (found === null) throw new Error(`line ${rows.length + 1} is not CSV`);
    const [, quoted, plain = '', end] = found;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') {
      if (field.lastIndex === text.length) row.push('');
      continue;
    }
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows.filter((one) => one.length > 1 || one[0] !== '');
}

/** @throws Error naming the line that is not CSV. */
export function readCsv(text: string): Record<string, string>[] {
  const [names = [], ...rows] = splitRows(text.replace(/^\uFEFF/, ''));
  return rows.map((row) => Object.fromEntries(names.map((name, n) => [name.trim(), row[n] ?? ''])));
}
