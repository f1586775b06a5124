// A legal text as a page that stands by itself.
import { blocksOf, type TextBlock } from '@svc/core/legal/index.ts';
import { escaped } from '@svc/http/index.ts';

const STYLE = `
:root { color-scheme: light dark; --bg: light-dark(#fff, #0d0e11); --text: light-dark(#15171c, #ecedf0);
  --soft: light-dark(#555a66, #a8adb8); --line: light-dark(#e4e5ea, #262930); --accent: light-dark(#2b50d4, #8fa5ff);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
body { margin: 0; background: var(--bg); color: var(--text); }
main { max-width: 46rem; margin: 0 auto; padding: 32px 16px 64px; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin-top: 2rem; }
a { color: var(--accent); } nav { font-size: .9rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: 8px; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media print { nav { display: none; } }
`;

/** Only addresses of the web and of this page's own server become links. */
const LINK = /\[([^\]]+)\]\((https?:\/\/[^\s)]+|\/[^\s)]*)\)/g;

/** A line with its emphasis and links; everything else of it is text. */
function inline(text: string): string {
  return escaped(text)
    .replaceAll(/\*\*(.+?)\*\*/g, '<b>$1</b>')
    .replaceAll(LINK, (_, label: string, to: string) => `<a href="${to}">${label}</a>`);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]) =>
    row.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n');
  return (
    `<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${cells('th', head)}</tr></thead>` +
    `<tbody>${body}</tbody></table></div>`
  );
}

function blockHtml(block: TextBlock): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}>${inline(block.text)}</h${block.level}>`;
    case 'item':
      return `<li>${inline(block.text)}</li>`;
    case 'table':
      return tableOf(block.head, block.rows);
    case 'text':
      return `<p>${inline(block.text)}</p>`;
  }
}

/** The blocks as HTML; items that follow each other are one list. */
function bodyOf(blocks: readonly TextBlock[]): string {
  const parts: string[] = [];
  for (const [at, block] of blocks.entries()) {
    const is_item = block.kind === 'item';
    if (is_item && blocks[at - 1]?.kind !== 'item') parts.push('<ul>');
    parts.push(blockHtml(block));
    if (is_item && blocks[at + 1]?.kind !== 'item') parts.push('</ul>');
  }
  return parts.join('\n');
}

/** The page of `markdown`. */
export function legalPage({ title, markdown }: { title: string; markdown: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<nav aria-label="Legal"><a href="/docs/legal">All legal documents</a></nav>
${bodyOf(blocksOf(markdown))}
</main>
</body>
</html>
`;
}
