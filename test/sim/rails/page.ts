// The checkout page: plain HTML without scripts, which says what it is, and whose buttons a browser or a person clicks.
import type { Session } from './objects.ts';

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function money(session: Session): string {
  const digits = session.currency === 'jpy' ? 0 : 2;
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: session.currency });
  return format.format(session.amount_total / 10 ** digits).replaceAll('\u00a0', ' ');
}

function frame(title: string, inner: string): string {
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

function button(action: string, label: string, is_main = false): string {
  return `<button type="submit" formaction="${action}"${is_main ? ' class="main"' : ''}>${escaped(label)}</button>`;
}

/** The page of a session in its present state; `alert` is shown above the buttons. */
export function checkoutPage(session: Session, alert: string | null): string {
  const base = `/c/pay/${session.id}`;
  const head = `<h1>${escaped(money(session))}</h1>\n<p>${escaped(session.description)}</p>`;
  const reported = alert === null ? '' : `<p role="alert">${escaped(alert)}</p>`;
  if (session.status === 'open') {
    const buttons = [
      button(`${base}/pay`, `Pay ${money(session)}`, true),
      button(`${base}/later`, 'Pay later by bank transfer'),
      button(`${base}/fail`, 'Fail: card declined'),
      button(`${base}/close`, 'Close without paying'),
    ];
    return frame(
      'Checkout (simulator)',
      `${head}\n${reported}\n<form method="post">\n${buttons.join('\n')}\n</form>`,
    );
  }
  if (session.status === 'complete' && session.payment_status === 'unpaid') {
    const buttons = [
      button(`${base}/arrive`, 'Let the transfer arrive', true),
      button(`${base}/bounce`, 'Let the transfer be returned'),
    ];
    const state = '<p>The bank transfer is on its way.</p>';
    return frame(
      'Checkout (simulator)',
      `${head}\n${state}\n<form method="post">\n${buttons.join('\n')}\n</form>`,
    );
  }
  const words = session.status === 'expired' ? 'This checkout has expired.' : 'This checkout is paid.';
  const back =
    session.status === 'expired' ? (session.cancel_url ?? session.success_url) : session.success_url;
  return frame('Checkout (simulator)', `${head}\n<p>${words} <a href="${escaped(back)}">Return</a></p>`);
}
