// CSV as in RFC 4180: CRLF, no BOM, numbers unquoted. A cell that a spreadsheet would run as a formula is made plain
// text.

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `rows` as CSV with a header row of `fields`. */
export function csv(fields: readonly string[], rows: readonly object[]): string {
  const lines = [fields.join(',')];
  for (const row of rows) {
    lines.push(fields.map((field) => cell((row as Record<string, unknown>)[field])).join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}
