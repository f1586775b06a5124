// The frame of every page of the simulated rails: it says that it is a simulator, in both themes and at any width.

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

export function frame(title: string, inner: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; min-height: 100vh; place-items: center; background: Canvas; color: CanvasText; }
main { width: min(26rem, calc(100vw - 2rem)); }
.banner { border: 2px dashed #b45309; border-radius: .5rem; padding: .5rem .75rem; margin-bottom: 1.5rem; }
h1 { font-size: 2rem; margin: 0; font-variant-numeric: tabular-nums; }
p { margin: .25rem 0 1.25rem; }
form { display: grid; gap: .75rem; }
button { font: inherit; padding: .7rem 1rem; border-radius: .5rem; border: 1px solid GrayText; background: Canvas;
  color: CanvasText; cursor: pointer; }
button.main { background: #1d4ed8; border-color: #1d4ed8; color: #fff; }
button:focus-visible { outline: 3px solid #60a5fa; outline-offset: 2px; }
[role=alert] { border-left: 4px solid #dc2626; padding: .25rem .75rem; }
</style>
</head>
<body>
<main>
<div class="banner" role="note"><strong>Simulator.</strong> No real payment is made on this page.</div>
${inner}
</main>
</body>
</html>
`;
}
