// From the content of a mail to its text and its HTML. Mail programs know little of CSS: a table for the frame, styles
// on the elements, and one style sheet for those that support dark mode and narrow screens.
import type { Block, Content } from './content.ts';

interface Rendered {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Where links lead and what the service is called. */
export interface Surroundings {
  /** Without a slash at its end. */
  readonly console_url: string;
  readonly product: string;
  /** How the storefront of a reseller looks; absent: as we do. */
  readonly look?: Look;
}

/** The looks of a storefront. Both colours can be read: white text stands on the light one, nearly black on the dark one. */
interface Look {
  readonly logo_url: string | null;
  /** `#rrggbb`. */
  readonly accent_light: string;
  readonly accent_dark: string;
  /** Addresses at which the reader gets help. */
  readonly support: readonly string[];
  /** Hosts of ours, in whose place links lead to the storefront. */
  readonly own_hosts: readonly string[];
}

const OURS: Look = {
  logo_url: null,
  accent_light: '#2f4bd8',
  accent_dark: '#6d84ff',
  support: [],
  own_hosts: [],
};

const COLUMNS = 72;
/** Longer than any subject of ours; names that people chose are cut. */
const SUBJECT_MAX = 150;

/** `words` on lines of at most 72 characters; a longer word, such as an address, has a line of its own. */
function wrap(words: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** One line of at most `SUBJECT_MAX` characters: a subject cannot end and begin another header. */
function subjectLine(subject: string): string {
  const line = subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= SUBJECT_MAX ? line : `${characters.slice(0, SUBJECT_MAX - 1).join('')}…`;
}

/** Where a link leads: to a page of ours under the address that the reader knows. */
function linkOf(to: string, { console_url, look = OURS }: Surroundings): string {
  if (to.startsWith('/')) return console_url + to;
  const url = URL.canParse(to) ? new URL(to) : null;
  if (url === null || !look.own_hosts.includes(url.hostname)) return to;
  return console_url + url.pathname + url.search + url.hash;
}

function blockText(block: Block, around: Surroundings): string {
  if (block.kind === 'action') return `${block.label}:\n${linkOf(block.to, around)}`;
  if (block.kind !== 'facts') return wrap(block.text);
  const width = Math.max(...block.rows.map(([name]) => name.length)) + 2;
  return block.rows.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`).join('\n');
}

/** Why the mail came, and where the reader gets help. */
function footOf({ product, look = OURS }: Surroundings, reason: string): string[] {
  const help = look.support.length === 0 ? [] : [`Help: ${look.support.join(', ')}`];
  return [`${product} sent you this mail ${reason}.`, ...help];
}

function textOf({ title, blocks, reason }: Content, around: Surroundings): string {
  const said = blocks.map((block) => blockText(block, around));
  const why = footOf(around, reason).map(wrap).join('\n');
  return `${[wrap(title), ...said, `-- \n${why}`].join('\n\n')}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** `words` as text of an element or value of an attribute. */
function escapeHtml(words: string): string {
  return words.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

const FONT = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const CELL = 'padding:9px 0;border-top:1px solid #e4e6ea;vertical-align:top;overflow-wrap:anywhere';

function rowHtml([name, value]: readonly [string, string]): string {
  return `<tr><td class="line quiet" style="${CELL};padding-right:16px;color:#5b6472;white-space:nowrap">${escapeHtml(name)}</td><td class="line" style="${CELL};text-align:right">${escapeHtml(value)}</td></tr>`;
}

function blockHtml(block: Block, around: Surroundings): string {
  switch (block.kind) {
    case 'text':
      return `<p style="margin:0 0 16px;white-space:pre-line">${escapeHtml(block.text)}</p>`;
    case 'note':
      return `<p class="quiet" style="margin:0 0 16px;font-size:13px;color:#5b6472">${escapeHtml(block.text)}</p>`;
    case 'facts':
      return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin:0 0 20px;border-collapse:collapse;font-size:14px">${block.rows.map(rowHtml).join('')}</table>`;
    case 'action': {
      const link = escapeHtml(linkOf(block.to, around));
      return `<p style="margin:4px 0 12px"><a class="button" href="${link}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:${(around.look ?? OURS).accent_light};color:#ffffff;font-weight:600;text-decoration:none">${escapeHtml(block.label)}</a></p><p class="quiet" style="margin:0 0 20px;font-size:12px;color:#5b6472;overflow-wrap:anywhere">${link}</p>`;
    }
  }
}

const sheetOf = ({ accent_dark }: Look) => `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background:#111317!important}
.card{background:#1a1d23!important;border-color:#2c313a!important;color:#e7e9ee!important}
.title{color:#ffffff!important}
.quiet{color:#a3abb8!important}
.line{border-color:#2c313a!important}
.button{background:${accent_dark}!important;color:#0b0d12!important}
}
@media (max-width:520px){.card{padding:22px 18px!important}.edge{padding:12px 8px!important}}`;

/** Who writes: the logo of a storefront beside its name, which also stands for it where images are not shown. */
function headHtml({ product, look = OURS }: Surroundings): string {
  const name = escapeHtml(product);
  if (look.logo_url === null) return name;
  return `<img src="${escapeHtml(look.logo_url)}" alt="" height="28" style="height:28px;max-width:180px;vertical-align:middle;border:0;margin-right:8px">${name}`;
}

function htmlOf({ subject, preview, title, blocks, reason }: Content, around: Surroundings): string {
  const body = blocks.map((block) => blockHtml(block, around)).join('\n');
  const why = footOf(around, reason).map(escapeHtml).join('<br>');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>${sheetOf(around.look ?? OURS)}</style>
</head>
<body class="page" style="margin:0;background:#f4f5f7">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${escapeHtml(preview)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f4f5f7">
<tr><td class="edge" align="center" style="padding:28px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;table-layout:fixed">
<tr><td class="card" style="padding:30px 32px;background:#ffffff;border:1px solid #e4e6ea;border-radius:10px;color:#1b1f27;font:15px/1.55 ${FONT};overflow-wrap:anywhere">
<p class="quiet" style="margin:0 0 18px;font-size:13px;font-weight:600;color:#5b6472">${headHtml(around)}</p>
<h1 class="title" style="margin:0 0 16px;font-size:20px;line-height:1.35;color:#0f1218">${escapeHtml(title)}</h1>
${body}
</td></tr>
<tr><td class="quiet" style="padding:14px 8px 0;font:12px/1.5 ${FONT};color:#5b6472;text-align:center">${why}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

/** Subject, text and HTML of a mail. Whatever a person typed is text in all three, never markup or a header. */
export function render(content: Content, around: Surroundings): Rendered {
  const subject = subjectLine(content.subject);
  const said = { ...content, subject };
  return { subject, text: textOf(said, around), html: htmlOf(said, around) };
}
