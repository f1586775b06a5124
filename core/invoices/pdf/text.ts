// A text as PDF/A-3a: headings, paragraphs, lists and tables, on as many pages as it needs.
import { INK, INNER, MARGIN, MUTED, Paper, type Style } from './page.ts';

/** What a text is made of. Marks within a line are not known here. */
type PrintedBlock =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'item'; readonly text: string }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

export interface PrintedText {
  readonly title: string;
  readonly author: string;
  readonly at: Date;
  /** Left in the foot of every page. */
  readonly foot: string;
  readonly blocks: readonly PrintedBlock[];
}

type Struct = Paper['root'];

const HEADINGS: Readonly<Record<1 | 2 | 3, Style>> = {
  1: { size: 18, weight: 'bold' },
  2: { size: 12.5, weight: 'bold' },
  3: { size: 10.5, weight: 'bold' },
};
const BODY = { size: 9.5, color: INK } as const;
const HEAD = { size: 8, weight: 'bold', color: MUTED } as const;
const CELL = { size: 8.5, color: INK } as const;
const GAP = 10;
const INDENT = 14;
/** Longest part of a paragraph that is written at once: about a third of a page. */
const PART_MAX = 1_500;

/** `text` in parts that each fit on a page, cut between words. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > PART_MAX) {
    const cut = rest.lastIndexOf(' ', PART_MAX);
    const end = cut > 0 ? cut : PART_MAX;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...parts, rest];
}

function paragraph(
  paper: Paper,
  text: string,
  look: { tag: string; style: Style; indent?: number; after: number },
): void {
  const { tag, style, indent = 0, after } = look;
  for (const part of partsOf(text)) {
    const place = { x: MARGIN + indent, width: INNER - indent };
    if (!paper.fits(paper.heightOf(part, place.width, style))) paper.turn();
    paper.y += paper.write(paper.root, tag, part, { ...place, y: paper.y }, style);
  }
  paper.y += after;
}

function heading(paper: Paper, level: 1 | 2 | 3, text: string): void {
  paper.y += level === 1 ? 0 : 6;
  // With something of what it is over, so that no heading ends a page.
  if (!paper.fits(60)) paper.turn();
  paragraph(paper, text, { tag: `H${level}`, style: HEADINGS[level], after: level === 1 ? 10 : 4 });
}

function row(paper: Paper, parent: Struct, cells: readonly string[], is_head: boolean): void {
  const width = (INNER - GAP * (cells.length - 1)) / cells.length;
  const style = is_head ? HEAD : CELL;
  const height = Math.max(...cells.map((cell) => paper.heightOf(cell, width, style)));
  if (!paper.fits(height + 6)) paper.turn();
  const line = paper.group(parent, 'TR');
  for (const [at, cell] of cells.entries()) {
    const place = { x: MARGIN + at * (width + GAP), y: paper.y, width };
    if (is_head) paper.heading(line, cell, place, 'Column', style);
    else paper.write(paper.group(line, 'TD'), 'P', cell, place, style);
  }
  paper.y += height + 4;
  paper.rule(paper.y - 2);
  paper.y += 3;
}

function table(paper: Paper, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const element = paper.group(paper.root, 'Table');
  row(paper, paper.group(element, 'THead'), head, true);
  const body = paper.group(element, 'TBody');
  for (const cells of rows) {
    const filled = head.map((_, at) => cells[at] ?? '');
    row(paper, body, filled, false);
  }
  element.end();
  paper.y += 6;
}

/** The bytes of a text. */
export function renderText({ title, author, at, foot, blocks }: PrintedText): Promise<Buffer> {
  const paper = new Paper({ title, author, at });
  for (const block of blocks) {
    if (block.kind === 'heading') heading(paper, block.level, block.text);
    else if (block.kind === 'table') table(paper, block.head, block.rows);
    else if (block.kind === 'item')
      paragraph(paper, `•  ${block.text}`, { tag: 'P', style: BODY, indent: INDENT, after: 4 });
    else paragraph(paper, block.text, { tag: 'P', style: BODY, after: 7 });
  }
  return paper.end(foot);
}
