// The little of Markdown that legal texts use, as blocks that a page and a PDF are made of: headings, paragraphs, lists
// and tables. Anything else is a paragraph, shown as it is written.

export type TextBlock =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'item'; readonly text: string }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

function cells(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const isRow = (line: string) => line.startsWith('|') && line.endsWith('|') && line.length > 1;

/** The block that begins at `lines[at]`, and where the next one does. */
function blockAt(lines: readonly string[], at: number): { block: TextBlock; next: number } {
  const line = lines[at] as string;
  const heading = /^(#{1,3}) +(.+)$/.exec(line);
  if (heading !== null) {
    const level = (heading[1] as string).length as 1 | 2 | 3;
    return { block: { kind: 'heading', level, text: heading[2] as string }, next: at + 1 };
  }
  let next = at + 1;
  if (isRow(line)) {
    while (next < lines.length && isRow(lines[next] as string)) next++;
    const [head = [], ...rest] = lines.slice(at, next).map(cells);
    const rows = rest.filter((row) => !row.every((cell) => /^:?-{3,}:?$/.test(cell)));
    return { block: { kind: 'table', head, rows }, next };
  }
  const item = /^(?:[-*]|\d+\.) +(.+)$/.exec(line);
  const begins = (text: string) => text === '' || /^(?:#{1,3} |[-*] |\d+\. |\|)/.test(text);
  while (next < lines.length && !begins(lines[next] as string)) next++;
  const text = [item?.[1] ?? line.replace(/^> /, ''), ...lines.slice(at + 1, next)]
    .map((one) => one.trim())
    .join(' ');
  return { block: { kind: item === null ? 'text' : 'item', text }, next };
}

/** The blocks of `markdown`, in order. */
export function blocksOf(markdown: string): TextBlock[] {
  const lines = markdown.split(/\r?\n/).map((line) => line.trimEnd());
  const blocks: TextBlock[] = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at] === '') {
      at++;
      continue;
    }
    const { block, next } = blockAt(lines, at);
    blocks.push(block);
    at = next;
  }
  return blocks;
}
