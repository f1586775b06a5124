// Draws a sheet: title and parties, the table of lines, totals, words, notes, and the code of a registered document.
import { encode } from 'uqr';
import { INK, INNER, LINE, MARGIN, MUTED, type Paper, type Style, WIDTH } from './page.ts';
import type { Party, Row, Sheet } from './sheet.ts';

const RIGHT = WIDTH - MARGIN;
const GAP = 14;
const LABEL = { size: 7.5, color: MUTED, weight: 'bold' } as const;
const SMALL = { size: 7.5, color: MUTED } as const;

type Struct = Paper['root'];

function head(paper: Paper, sheet: Sheet): void {
  const title_width = 210;
  const left = { x: MARGIN, y: MARGIN, width: INNER - title_width - GAP };
  const right = { x: RIGHT - title_width, y: MARGIN - 4, width: title_width };
  const title = { size: 22, weight: 'bold', align: 'right' } as const;
  const title_height = paper.write(paper.root, 'H1', sheet.title, right, title);
  const number = { ...right, y: right.y + title_height + 2 };
  const number_height = paper.write(paper.root, 'P', sheet.number, number, {
    size: 11,
    color: MUTED,
    align: 'right',
  });
  const name = paper.write(paper.root, 'P', sheet.supplier.name, left, { size: 13, weight: 'bold' });
  paper.y = Math.max(left.y + name, number.y + number_height) + 16;
  paper.rule(paper.y);
  paper.y += 18;
}

/** A party in a column; returns where it ends. */
function party(paper: Paper, who: Party, place: { x: number; y: number; width: number }): number {
  const section = paper.group(paper.root, 'Sect');
  let { y } = place;
  y += paper.write(section, 'H2', who.heading, place, LABEL) + 3;
  y += paper.write(section, 'P', who.name, { ...place, y }, { weight: 'bold' }) + 1;
  for (const line of who.lines) y += paper.write(section, 'P', line, { ...place, y }) + 1;
  section.end();
  return y;
}

/** Bold where it stays on one line, else smaller, because a reference that is broken cannot be copied. */
function fitting(paper: Paper, text: string, width: number): Style {
  const styles: Style[] = [{ weight: 'bold' }, { size: 9 }, { size: 8 }, { size: 7 }];
  return styles.find((style) => paper.widthOf(text, style) <= width) ?? { size: 7 };
}

function facts(paper: Paper, sheet: Sheet, place: { x: number; y: number; width: number }): number {
  const section = paper.group(paper.root, 'Sect');
  let { y } = place;
  for (const [label, value] of sheet.facts) {
    y += paper.write(section, 'P', label, { ...place, y }, LABEL) + 1;
    y += paper.write(section, 'P', value, { ...place, y }, fitting(paper, value, place.width)) + 7;
  }
  section.end();
  return y;
}

function parties(paper: Paper, sheet: Sheet): void {
  const width = (INNER - 2 * GAP) / 3;
  const { y } = paper;
  const ends = [
    party(paper, sheet.supplier, { x: MARGIN, y, width }),
    party(paper, sheet.recipient, { x: MARGIN + width + GAP, y, width }),
    facts(paper, sheet, { x: MARGIN + 2 * (width + GAP), y, width }),
  ];
  paper.y = Math.max(...ends) + 18;
}

interface Column {
  readonly x: number;
  readonly width: number;
}

/** Columns as wide as their widest cell; the description has the rest. */
function columnsOf(paper: Paper, sheet: Sheet, size: number): readonly [Column, ...Column[]] {
  const widths = sheet.columns.map((heading, i) => {
    const cells = sheet.rows.map((row) => paper.widthOf(row.cells[i]?.text ?? '', { size }));
    return Math.max(paper.widthOf(heading, LABEL), ...cells) + GAP;
  });
  const description = INNER - widths.reduce((sum, width) => sum + width, 0);
  let x = MARGIN + description;
  const others = widths.map((width) => {
    const column = { x: x + GAP, width: width - GAP };
    x += width;
    return column;
  });
  return [{ x: MARGIN, width: description }, ...others];
}

/** The headings; `row` null on a following page, where readers of the structure have heard them already. */
function tableHead(paper: Paper, row: Struct | null, sheet: Sheet, columns: readonly Column[]): void {
  const { y } = paper;
  const heights = ['Description', ...sheet.columns].map((heading, i) => {
    const style = { ...LABEL, align: i < 2 ? 'left' : 'right' } as const;
    const place = { ...(columns[i] as Column), y };
    return row === null
      ? paper.repeat(heading, place, style)
      : paper.heading(row, heading, place, 'Column', style);
  });
  paper.y += Math.max(...heights) + 5;
  paper.rule(paper.y);
  paper.y += 7;
}

function rowHeight(paper: Paper, row: Row, width: number, size: number): number {
  const note = row.note === '' ? 0 : paper.heightOf(row.note, width, SMALL) + 1;
  const cells = row.cells.some((cell) => cell.note !== '') ? 24 : 12;
  return Math.max(paper.heightOf(row.description, width, { size }) + note, cells) + 6;
}

function tableRow(paper: Paper, body: Struct, row: Row, columns: readonly Column[], size: number): void {
  const { y } = paper;
  const first = columns[0] as Column;
  const tr = paper.group(body, 'TR');
  const height = rowHeight(paper, row, first.width, size);
  const described = paper.group(tr, 'TD');
  const text = paper.write(described, 'P', row.description, { ...first, y }, { size });
  if (row.note !== '') paper.write(described, 'P', row.note, { ...first, y: y + text + 1 }, SMALL);
  for (const [i, cell] of row.cells.entries()) {
    const place = { ...(columns[i + 1] as Column), y };
    const td = paper.group(tr, 'TD');
    const align = i === 0 ? 'left' : 'right';
    const tall = paper.write(td, 'P', cell.text, place, { size, align, amount: true });
    if (cell.note !== '') paper.write(td, 'P', cell.note, { ...place, y: y + tall + 1 }, { ...SMALL, align });
  }
  paper.y += height;
  paper.rule(paper.y - 2);
  paper.y += 4;
}

const DESCRIPTION_MIN = 110;

function table(paper: Paper, sheet: Sheet): void {
  // Documents of crores get smaller figures before the description gets too narrow.
  const size =
    [9, 8.5, 8, 7.5, 7].find((one) => columnsOf(paper, sheet, one)[0].width >= DESCRIPTION_MIN) ?? 6.5;
  const columns = columnsOf(paper, sheet, size);
  const element = paper.group(paper.root, 'Table');
  tableHead(paper, paper.group(paper.group(element, 'THead'), 'TR'), sheet, columns);
  const body = paper.group(element, 'TBody');
  for (const row of sheet.rows) {
    if (!paper.fits(rowHeight(paper, row, columns[0].width, size) + 4)) {
      paper.turn();
      tableHead(paper, null, sheet, columns);
    }
    tableRow(paper, body, row, columns, size);
  }
  element.end();
  paper.y += 6;
}

function totals(paper: Paper, sheet: Sheet): void {
  const height = 20 * sheet.totals.length + 16;
  if (!paper.fits(height)) paper.turn();
  const element = paper.group(paper.root, 'Table');
  const last = sheet.totals.length - 1;
  const widest = Math.max(
    ...sheet.totals.map(([, value]) => paper.widthOf(value, { size: 13, weight: 'bold' })),
  );
  const width = Math.max(220, widest + 110);
  const x = RIGHT - width;
  for (const [i, [label, value]] of sheet.totals.entries()) {
    const is_total = i === last;
    if (is_total) {
      paper.box({ x: x - 10, y: paper.y, width: width + 10 }, 30);
      paper.y += 8;
    }
    const style = is_total ? ({ size: 13, weight: 'bold' } as const) : ({ size: 9 } as const);
    const row = paper.group(element, 'TR');
    const label_style = is_total
      ? ({ size: 10, weight: 'bold' } as const)
      : ({ size: 9, color: MUTED } as const);
    paper.heading(row, label, { x, y: paper.y + (is_total ? 2 : 0), width: 120 }, 'Row', label_style);
    const cell = { x: x + 90, y: paper.y, width: width - 100 };
    paper.write(row, 'TD', value, cell, { ...style, align: 'right', amount: true });
    paper.y += is_total ? 28 : 17;
  }
  element.end();
  paper.y += 8;
}

/** A paragraph over the whole width, on the next page where it does not fit. */
function paragraph(paper: Paper, text: string, style: { size: number; color: string }, width = INNER): void {
  if (!paper.fits(paper.heightOf(text, width, style))) paper.turn();
  paper.y += paper.write(paper.root, 'P', text, { x: MARGIN, y: paper.y, width }, style) + 5;
}

function words(paper: Paper, sheet: Sheet): void {
  if (!paper.fits(40)) paper.turn();
  paper.y +=
    paper.write(paper.root, 'P', 'Amount in words', { x: MARGIN, y: paper.y, width: INNER }, LABEL) + 2;
  paragraph(paper, sheet.words, { size: 9.5, color: INK });
  paper.y += 8;
}

/** Wide enough for a telephone to read the thousand characters of a signed code from paper. */
const QR_SIDE = 140;

/** Draws the code, one path for all its dark squares. */
function qr(paper: Paper, text: string, x: number, y: number): void {
  const { data, size } = encode(text, { ecc: 'L', border: 2 });
  const step = QR_SIDE / size;
  const figure = paper.doc.struct(
    'Figure',
    { alt: 'Signed QR code of the registration of this document' },
    () => {
      for (const [row, squares] of data.entries()) {
        for (const [column, dark] of squares.entries()) {
          if (dark) paper.doc.rect(x + column * step, y + row * step, step, step);
        }
      }
      paper.doc.fill('#000000');
    },
  );
  const { data: dictionary } = (figure as unknown as { dictionary: { data: Record<string, unknown> } })
    .dictionary;
  const bottom = paper.doc.page.height - y - QR_SIDE;
  dictionary['A'] = { O: 'Layout', Placement: 'Block', BBox: [x, bottom, x + QR_SIDE, bottom + QR_SIDE] };
  paper.root.add(figure);
}

function registration(paper: Paper, sheet: Sheet): void {
  if (sheet.registration === null) return;
  if (!paper.fits(QR_SIDE + 12)) paper.turn();
  const top = paper.y + 4;
  const width = INNER - QR_SIDE - 2 * GAP;
  let y = top + 6;
  for (const [label, value] of sheet.registration.lines) {
    y += paper.write(paper.root, 'P', label, { x: MARGIN, y, width }, LABEL) + 1;
    y += paper.write(paper.root, 'P', value, { x: MARGIN, y, width }, { size: 8 }) + 7;
  }
  qr(paper, sheet.registration.qr, RIGHT - QR_SIDE, top);
  paper.y = Math.max(y, top + QR_SIDE) + 10;
}

/** Draws `sheet` on as many pages as it needs. */
export function draw(paper: Paper, sheet: Sheet): void {
  head(paper, sheet);
  parties(paper, sheet);
  table(paper, sheet);
  totals(paper, sheet);
  words(paper, sheet);
  registration(paper, sheet);
  paper.doc.strokeColor(LINE);
  paper.rule(paper.y);
  paper.y += 10;
  for (const note of sheet.notes) paragraph(paper, note, { size: 8, color: MUTED });
}
