// The badge of an app: a small SVG that people put on their own pages. It has no scripts, links or fonts of elsewhere, and every
// text in it is escaped. Pure.

const HEIGHT = 20;
const FONT = 'Verdana,Geneva,DejaVu Sans,sans-serif';
const GREY = '9f9f9f';
/** Long labels are cut: a badge stands in a line of others. */
const LABEL_MAX = 40;

/** What stands in no XML document, escaped or not (XML 1.0, 2.2), and what turns the direction of the text around it. */
const FOREIGN =
  /[^\t\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;

/** `text` as it stands in XML, between tags and in attributes. */
export function xmlText(text: string): string {
  return text
    .replaceAll(FOREIGN, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** `count` in at most four characters and a letter: `999`, `1.2K`, `41.9M`. */
export function shortCount(count: number): string {
  const units = ['', 'K', 'M', 'B', 'T'] as const;
  let value = count;
  let at = 0;
  // 999,950 would read 1000K.
  while (value >= (at === 0 ? 1_000 : 999.95) && at < units.length - 1) {
    value /= 1_000;
    at += 1;
  }
  const text =
    at === 0 || value >= 99.95 ? Math.round(value).toString() : value.toFixed(1).replace(/\.0$/, '');
  return `${text}${units[at]}`;
}

/** Width in pixels at 11 px, near enough: `textLength` makes the text as wide as is said. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    if (code >= 0x1100) width += 11;
    else if (/[il.,'|:;! ]/.test(char)) width += 4;
    else width += /[A-Zmw@%&]/.test(char) ? 8.5 : 6.6;
  }
  return Math.max(8, Math.round(width));
}

/** White text is read on it at 4.5 to 1 (WCAG 2.2, 1.4.3). */
const isDark = (color: string): boolean => {
  const [r, g, b] = [0, 2, 4].map((at) => {
    const c = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) >= 4.5;
};

interface Half {
  readonly text: string;
  readonly color: string;
}

const shortened = (text: string) => {
  const chars = [...text.replaceAll(FOREIGN, '')];
  return chars.length <= LABEL_MAX ? chars.join('') : `${chars.slice(0, LABEL_MAX - 1).join('')}…`;
};

function draw(left: Half, right: Half): string {
  const halves = [left, right].map(({ text, color }) => ({ text, color, inner: widthOf(text) }));
  const width = halves.reduce((sum, { inner }) => sum + inner + 12, 0);
  const title = halves.map(({ text }) => xmlText(text)).join(': ');
  let x = 0;
  const parts = halves.map(({ text, color, inner }) => {
    const at = x;
    x += inner + 12;
    return (
      `<rect x="${at}" width="${inner + 12}" height="${HEIGHT}" fill="#${color}"/>` +
      `<text x="${at + 6}" y="14" fill="#${isDark(color) ? 'fff' : '000'}" textLength="${inner}" lengthAdjust="spacingAndGlyphs">${xmlText(text)}</text>`
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${title}">` +
    `<title>${title}</title><clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>` +
    `<g clip-path="url(#r)" font-family="${FONT}" font-size="11">${parts.join('')}</g></svg>\n`
  );
}

const DARK = '3b3f46';
const BLUE = '2b50d4';

/** The badge that says how many tokens an app used. `color` is of the right half, six hexadecimal digits. */
export function badge(of: { label: string; tokens: number; color?: string | undefined }): string {
  const { label, tokens, color = BLUE } = of;
  const value = `${shortCount(tokens)} tokens`;
  return draw({ text: shortened(label), color: DARK }, { text: value, color });
}

/** The badge of an app that there is not, or that shows itself to nobody. */
export function unknownBadge(): string {
  return draw({ text: 'app', color: DARK }, { text: 'unknown', color: GREY });
}
