// The page to pay on, as HTML. It stands by itself: no build, no file beside it. With the rail's script the checkout
// opens in the page; without it the same fields go to the rail as a form.
import type { OpenPage, OverPage } from '@svc/core/topups/index.ts';

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

/** Opens the checkout at once for who has just come, and takes the token out of the address. */
const SCRIPT = `
const form = document.getElementById('pay');
const fresh = new URLSearchParams(location.search).has('t');
history.replaceState(null, '', location.pathname);
function open() {
  if (!window.Razorpay) return false;
  const options = { redirect: true, prefill: {}, notes: {} };
  for (const [name, value] of new FormData(form)) {
    const inner = /^(\\w+)\\[(\\w+)\\]$/.exec(name);
    if (inner) options[inner[1]][inner[2]] = value;
    else options[name === 'key_id' ? 'key' : name] = value;
  }
  new window.Razorpay(options).open();
  return true;
}
form.addEventListener('submit', (event) => { if (open()) event.preventDefault(); });
if (fresh) open();
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

/** The form that opens the rail's checkout, by its script where that runs. */
export function checkoutForm(args: {
  readonly opening: OpenPage['opening'];
  readonly fields: OpenPage['fields'];
  readonly nonce: string;
  readonly label: string;
  /** The way back, as HTML. */
  readonly back: string;
}): string {
  const { opening, fields, nonce, label, back } = args;
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  return `<form method="post" action="${escaped(opening.form_url)}" id="pay">
${hidden.join('\n')}
<button type="submit">${escaped(label)}</button>
${back}
</form>
<script nonce="${nonce}" src="${escaped(opening.script_url)}"></script>
<script nonce="${nonce}">${SCRIPT}</script>`;
}

/** The page of a top-up that can be paid; `nonce` is the one of its security policy. */
export function openPage(page: OpenPage, nonce: string): string {
  const { opening, fields, org_name, total } = page;
  const lines = [
    ['Credits', page.credits],
    ['Price', page.price],
    ...(page.tax === null ? [] : [['GST', page.tax]]),
    ['Total to pay', total],
  ].map(([name, value]) => `<div><dt>${name}</dt><dd>${escaped(value as string)}</dd></div>`);
  const back = `<a class="button" href="${escaped(page.back_url)}">Back without paying</a>`;
  return frame(
    `Pay ${total}`,
    `<h1>Pay for credits</h1>
<p>For ${escaped(org_name)}. You pay at the payment provider and come back to the console.</p>
<dl>
${lines.join('\n')}
</dl>
${checkoutForm({ opening, fields, nonce, label: `Pay ${total}`, back })}`,
  );
}

const OVER: Readonly<Record<OverPage['status'], string>> = {
  pending: 'The time to pay is over. Nothing was charged.',
  expired: 'The time to pay is over, or it was cancelled. Nothing was charged.',
  failed: 'This payment failed. Nothing was charged.',
  paid: 'This is paid. The credits are in your balance.',
  review: 'The payment has arrived and is looked at by a person. Nothing is lost.',
};

/** The page of a top-up that cannot be paid here any more. */
export function overPage(page: OverPage): string {
  return frame(
    'Nothing to pay',
    `<h1>Nothing to pay here</h1>
<p>${OVER[page.status]}</p>
<a class="button" href="${escaped(page.back_url)}">Open the console</a>`,
  );
}

/** The answer to a link that opens nothing. */
export function unknownPage(): string {
  return frame(
    'Not found',
    '<h1>This link opens nothing</h1>\n<p>It is not whole, or not valid any more. Open the top-up in the console.</p>',
  );
}
