// The paper: places text on A4 pages, opens new ones, and tags everything for readers of the structure. What a screen
// reader should pass over (rules, colours, page numbers) is marked as an artifact.
import PDFDocument from 'pdfkit';
import { faces, setIn, type Weight } from './fonts.ts';

export const WIDTH = 595.28;
const HEIGHT = 841.89;
export const MARGIN = 48;
/** Width between the margins. */
export const INNER = WIDTH - 2 * MARGIN;
/** Nothing but the footer stands below. */
const BOTTOM = HEIGHT - 64;

export const INK = '#14171f';
export const MUTED = '#5b6372';
export const LINE = '#d9dde5';
const ACCENT = '#3b4cca';
const TINT = '#f3f4f8';

/** Digits of one width in amounts, so that they line up. */
const FEATURES: PDFKit.Mixins.OpenTypeFeatures[] = ['tnum'];

export interface Style {
  readonly size?: number;
  readonly weight?: Weight;
  readonly color?: string;
  readonly align?: 'left' | 'right';
  /** Its digits have one width. */
  readonly amount?: true;
}

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

type Struct = ReturnType<typeof PDFDocument.prototype.struct>;

export class Paper {
  readonly doc: PDFKit.PDFDocument;
  readonly root: Struct;
  /** Where the next thing begins. */
  y = MARGIN;

  constructor(about: { readonly title: string; readonly author: string; readonly at: Date }) {
    this.doc = new PDFDocument({
      size: 'A4',
      margin: 0,
      pdfVersion: '1.7',
      subset: 'PDF/A-3a',
      tagged: true,
      lang: 'en-IN',
      displayTitle: true,
      bufferPages: true,
      // Set below; any other font of the library would not be embedded.
      font: faces.regular[0].bytes as unknown as string,
      info: { Title: about.title, Author: about.author, CreationDate: about.at, ModDate: about.at },
    });
    for (const face of Object.values(faces).flat()) this.doc.registerFont(face.name, face.bytes);
    this.root = this.doc.struct('Document');
    this.doc.addStructure(this.root);
    this.band();
  }

  /** Draws what is no content. */
  artifact(draw: () => void, type: 'Layout' | 'Pagination' = 'Layout'): void {
    this.doc.markContent('Artifact', { type });
    draw();
    this.doc.endMarkedContent();
  }

  private band(): void {
    this.artifact(() => this.doc.rect(0, 0, WIDTH, 5).fill(ACCENT));
  }

  rule(y: number, from = MARGIN, to = WIDTH - MARGIN): void {
    this.artifact(() => this.doc.moveTo(from, y).lineTo(to, y).lineWidth(0.6).stroke(LINE));
  }

  box(place: Place, height: number): void {
    this.artifact(() => this.doc.roundedRect(place.x, place.y, place.width, height, 4).fill(TINT));
  }

  /** Whether `height` more fits on this page. */
  fits(height: number): boolean {
    return this.y + height <= BOTTOM;
  }

  turn(): void {
    this.doc.addPage({ size: 'A4', margin: 0 });
    this.band();
    this.y = MARGIN;
  }

  private prepare(text: string, style: Style): string {
    const { weight = 'regular', size = 9 } = style;
    const set = setIn(text, weight);
    this.doc.font(set.font).fontSize(size);
    return set.text;
  }

  private options({ align = 'left', amount }: Style, width: number) {
    return { width, align, lineGap: 2, ...(amount === true ? { features: FEATURES } : {}) };
  }

  /** Width of `text` on one line. */
  widthOf(text: string, style: Style = {}): number {
    const shown = this.prepare(text, style);
    return this.doc.widthOfString(shown, { features: FEATURES });
  }

  heightOf(text: string, width: number, style: Style = {}): number {
    return this.doc.heightOfString(this.prepare(text, style), this.options(style, width));
  }

  /** Adds `text` to `parent` as an element of `tag`; returns its height. */
  write(parent: Struct, tag: string, text: string, place: Place, style: Style = {}): number {
    const { doc } = this;
    parent.add(
      doc.struct(tag, {}, () => {
        const shown = this.prepare(text, style);
        doc.fillColor(style.color ?? INK).text(shown, place.x, place.y, this.options(style, place.width));
      }),
    );
    return this.heightOf(text, place.width, style);
  }

  /** A child of `parent` that has children itself. */
  group(parent: Struct, tag: string): Struct {
    const made = this.doc.struct(tag);
    parent.add(made);
    return made;
  }

  /** A heading of a table; readers learn which cells it is of. */
  heading(row: Struct, text: string, place: Place, scope: 'Row' | 'Column', style: Style): number {
    const { doc } = this;
    const cell = doc.struct('TH', {}, () => {
      const shown = this.prepare(text, style);
      doc.fillColor(style.color ?? INK).text(shown, place.x, place.y, this.options(style, place.width));
    });
    // The library has no option for attributes of an element.
    const { data } = (cell as unknown as { dictionary: { data: Record<string, unknown> } }).dictionary;
    data['A'] = { O: 'Table', Scope: scope };
    row.add(cell);
    return this.heightOf(text, place.width, style);
  }

  /** Writes `text` again, for the eye alone; returns its height. */
  repeat(text: string, place: Place, style: Style): number {
    this.artifact(() => {
      const shown = this.prepare(text, style);
      this.doc.fillColor(style.color ?? INK).text(shown, place.x, place.y, this.options(style, place.width));
    }, 'Pagination');
    return this.heightOf(text, place.width, style);
  }

  /** The foot of every page, once all pages are known, and the end of the document. */
  async end(left: string): Promise<Buffer> {
    const { doc } = this;
    const { count } = doc.bufferedPageRange();
    const style = { size: 7.5, color: MUTED } as const;
    for (let page = 0; page < count; page++) {
      doc.switchToPage(page);
      this.artifact(() => {
        for (const [text, align] of [
          [left, 'left'],
          [`Page ${page + 1} of ${count}`, 'right'],
        ] as const) {
          const shown = this.prepare(text, style);
          const place = { ...this.options({ align }, INNER), height: 12, ellipsis: true };
          doc.fillColor(MUTED).text(shown, MARGIN, HEIGHT - 40, place);
        }
      }, 'Pagination');
    }
    this.root.end();
    const chunks: Buffer[] = [];
    doc.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise<void>((done, fail) => doc.once('end', done).once('error', fail));
    doc.end();
    await ended;
    return Buffer.concat(chunks);
  }
}
