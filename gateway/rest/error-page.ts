// `/docs/errors`, where the `doc_url` of every error points: the table of docs/errors.md as a page with an anchor per
// code.
import { errorTable } from '@svc/core/operations/index.ts';

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The table cells use backticks and no other Markdown. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2430;' +
  'background:#fff}section{border-top:1px solid #d9dde5;padding:.6rem 0}section:target{background:#fff6d6}' +
  'h1{font-size:1.5rem}h2{font:600 1rem ui-monospace,monospace;margin:0}small{color:#5a6272}' +
  'code{font-family:ui-monospace,monospace}p{margin:.2rem 0}' +
  '@media(prefers-color-scheme:dark){body{background:#14171d;color:#e4e7ee}small{color:#9aa3b4}' +
  'section{border-color:#2c323d}section:target{background:#3a3312}}';

/** The page as HTML. @throws Error when docs/errors.md is missing from the installation. */
export function errorPage(): string {
  const sections = errorTable().map(({ code, status, type, retry, meaning, help }) => {
    const again =
      retry === 'no' ? 'sent again unchanged it fails again' : 'sent again unchanged it may succeed';
    const facts = `${escapeHtml(status)} · ${escapeHtml(type)} · ${again}`;
    return (
      `<section id="${code}"><h2>${code}</h2><small>${facts}</small>` +
      `<p>${inline(meaning)}</p><p>${inline(help)}</p></section>`
    );
  });
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Errors</title>' +
    '<meta name="viewport" content="width=device-width,initial-scale=1">' +
    `<style>${STYLE}</style></head><body><h1>Errors</h1><p>Programs match on <code>code</code>; the message is for ` +
    `people and may change. A refused call is never charged.</p>${sections.join('')}</body></html>`
  );
}
