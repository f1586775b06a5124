// The page to pay on, as HTML. It stands by itself: no build, no file beside it. With the rail's script the checkout
// opens in the page; without it the same fields go to the rail as a form.
import type { OpenPage, OverPage } from '@svc/core/topups/index.ts';
import { escaped, frame } from '@svc/http/index.ts';

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
