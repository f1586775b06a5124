// Plain-text tables: columns as wide as their widest cell, numbers to the right.

export type Cell = string | number;

/** A number as the tables show it: three figures, thousands unbroken. */
export function show(value: Cell): string {
  if (typeof value === 'string') return value;
  if (Number.isNaN(value)) return '-';
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

/** The rows under `head` as lines, aligned. */
export function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(show))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const lines = cells.map((row, index) =>
    row
      .map((cell, column) => {
        const width = widths[column] as number;
        const isNumber = index > 0 && typeof rows[index - 1]?.[column] === 'number';
        return isNumber ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
