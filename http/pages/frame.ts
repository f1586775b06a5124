// The frame of pages that stand by themselves: no build, no file beside them.

/** Colours and sizes of the console, as far as one card needs them. */
const STYLE = `
:root { color-scheme: light dark; --bg: light-dark(#f7f7f9, #0d0e11); --surface: light-dark(#fff, #14161a);
  --line: light-dark(#e4e5ea, #262930); --text: light-dark(#15171c, #ecedf0); --soft: light-dark(#555a66, #a8adb8);
  --accent: light-dark(#2b50d4, #8fa5ff); --on-accent: light-dark(#fff, #0b1230); --focus: light-dark(#2545bc, #9db1ff);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--bg);
  color: var(--text); }
main { width: min(400px, 100%); padding: 24px; background: var(--surface); border: 1px solid var(--line);
  border-radius: 10px; }
h1 { margin: 0 0 4px; font-size: 1.25rem; font-weight: 600; }
p { margin: 0 0 16px; color: var(--soft); }
dl { margin: 0 0 20px; font-variant-numeric: tabular-nums; }
dl div { display: flex; justify-content: space-between; gap: 16px; padding: 8px 0; border-bottom: 1px solid var(--line); }
dl div:last-child { border-bottom: 0; font-weight: 600; }
dt { color: var(--soft); }
dl div:last-child dt { color: inherit; }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
form { display: grid; gap: 8px; margin: 0; }
button, a.button { display: block; width: 100%; min-height: 44px; padding: 10px 16px; border-radius: 6px;
  border: 1px solid var(--line); background: none; color: var(--text); font: inherit; font-weight: 500;
  text-align: center; text-decoration: none; cursor: pointer; }
button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
`;

/** Text that stands in HTML. */
export function escaped(text: string): string {
  const marks: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replaceAll(/[&<>"']/g, (mark) => marks[mark] as string);
}

/** The frame of these pages. */
export function frame(title: string, inner: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${inner}
</main>
</body>
</html>
`;
}
