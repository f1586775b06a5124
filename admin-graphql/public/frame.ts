// The frame of the public pages: plain HTML with one style sheet, read well without JavaScript.
import { Html, html } from './html.ts';

export const STYLE_PATH = '/models/style.css';

export const ICON = '<link rel="icon" href="/favicon.svg" type="image/svg+xml">\n';

export interface PageFacts {
  readonly title: string;
  readonly description: string;
  /** Where the page is, whatever query or spelling led to it. */
  readonly canonical: string;
  /** Not for search engines: a search, a comparison, or nothing. */
  readonly unlisted?: boolean;
}

/** The whole document. */
export function document(facts: PageFacts, body: Html): string {
  const { title, description, canonical, unlisted = false } = facts;
  return `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<meta name="description" content="${description}">
${unlisted && html`<meta name="robots" content="noindex">`}
<link rel="canonical" href="${canonical}">
${new Html(ICON)}<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<nav aria-label="Main"><a class="brand" href="/models">Models and prices</a><span class="links"><a href="/rankings">Rankings</a><a href="/sign-in">Console</a></span></nav>
</header>
<main id="content">
${body}
</main>
</body>
</html>
`.text
  }`;
}

/** A table that scrolls by itself where it is wider than the page. */
export function wide(name: string, table: Html): Html {
  return html`<div class="wide" role="region" tabindex="0" aria-label="${name}">${table}</div>`;
}

/** Colours and sizes of the console. */
export const STYLE = `
:root { color-scheme: light dark; --bg: light-dark(#f7f7f9, #0d0e11); --surface: light-dark(#fff, #14161a);
  --line: light-dark(#e4e5ea, #262930); --strong: light-dark(#868a95, #6a707d); --text: light-dark(#15171c, #ecedf0);
  --soft: light-dark(#555a66, #a8adb8); --accent: light-dark(#2b50d4, #8fa5ff); --on-accent: light-dark(#fff, #0b1230);
  --link: light-dark(#2545bc, #9db1ff); --ok: light-dark(#0f6b45, #5fd09b); --warn: light-dark(#855400, #ebb950);
  --bad: light-dark(#b0241c, #ff8f86); --none: light-dark(#c4c8d1, #4a4f5a);
  font: 14px/1.5 "Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); background: var(--surface); }
header nav { display: flex; justify-content: space-between; gap: 16px; max-width: 1180px; margin: 0 auto; padding: 14px 16px; }
.brand { font-weight: 600; color: var(--text); }
main { max-width: 1180px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { margin: 0 0 4px; font-size: 1.375rem; line-height: 1.3; letter-spacing: -.015em; }
h2 { margin: 32px 0 8px; font-size: 1.0625rem; }
p { margin: 0 0 12px; } .soft, dt, caption { color: var(--soft); }
a { color: var(--link); text-underline-offset: 2px; } nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }
.mono, pre { font-family: "Geist Mono Variable", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .93em; }
pre { margin: 0; padding: 12px; overflow-x: auto; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; }
.wide { overflow-x: auto; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 10px 12px 0; font-size: .8125rem; }
th, td { text-align: left; vertical-align: top; padding: 9px 12px; border-bottom: 1px solid var(--line); font-weight: 400; overflow-wrap: normal; }
thead th { color: var(--soft); font-size: .75rem; white-space: nowrap; } tr:last-child > * { border-bottom: 0; }
tbody th { min-width: 150px; } .wide td:last-child:not(.n) { min-width: 200px; }
tbody th a { font-weight: 550; } .n { text-align: right; white-space: nowrap; } .id { display: block; font-size: .75rem; color: var(--soft); }
.least { font-weight: 600; } .ok { color: var(--ok); } .warn { color: var(--warn); } .bad { color: var(--bad); }
form.filter { display: flex; flex-wrap: wrap; gap: 10px; align-items: end; margin: 16px 0; }
label { display: grid; gap: 4px; font-size: .8125rem; color: var(--soft); } label.check { display: flex; gap: 6px; align-items: center; min-height: 36px; color: var(--text); }
input:not([type=checkbox]), select { min-height: 36px; padding: 6px 10px; max-width: 100%; font: inherit; color: var(--text); background: var(--surface);
  border: 1px solid var(--strong); border-radius: 8px; }
input[type=checkbox] { width: 18px; height: 18px; margin: 0; accent-color: var(--accent); }
button { min-height: 36px; padding: 6px 14px; font: inherit; font-weight: 550; color: var(--on-accent); background: var(--accent); border: 0; border-radius: 8px; cursor: pointer; }
.bar { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; justify-content: space-between; margin: 12px 0; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 12px; margin: 16px 0; }
dl div { padding: 10px 12px; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; } dd { margin: 0; font-weight: 550; }
svg.days { display: block; width: 100%; min-width: 180px; height: 28px; } svg .good { fill: var(--ok); } svg .poor { fill: var(--warn); } svg .down { fill: var(--bad); } svg .none { fill: var(--none); }
th.place, td.place { width: 64px; text-align: right; } header .links { display: flex; gap: 16px; } svg.share { display: block; width: 100%; max-width: 260px; height: 4px; margin-top: 6px; }
svg.share rect, svg .use { fill: var(--accent); } svg.trend { display: block; width: 100%; height: 96px; }
ul.plain { margin: 0; padding-left: 18px; } .note { padding: 10px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: 8px; top: -60px; padding: 8px 14px; background: var(--accent); color: var(--on-accent); border-radius: 8px; } .skip:focus { top: 8px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (pointer: coarse) { button, input:not([type=checkbox]), select, label.check { min-height: 44px; } }
`;
