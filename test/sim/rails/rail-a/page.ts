// The checkout page of the simulated rail-a: plain HTML that says what it is, and whose buttons a browser or a person
// clicks.
import { escaped, frame } from '../frame.ts';
import type { Checkout, CheckoutReturn } from './checkout.ts';
import type { Order, Payment } from './objects.ts';

function money(order: Order): string {
  const format = new Intl.NumberFormat('en-IN', { style: 'currency', currency: order.currency });
  return format.format(order.amount / 100);
}

function button(action: string, label: string, is_main = false): string {
  return `<button type="submit" formaction="${action}"${is_main ? ' class="main"' : ''}>${escaped(label)}</button>`;
}

function form(buttons: readonly string[]): string {
  return `<form method="post">\n${buttons.join('\n')}\n</form>`;
}

/** The page of an open checkout; `waiting` is an attempt that the bank has not answered, `alert` goes above the buttons. */
export function checkoutPage(args: {
  checkout: Checkout;
  order: Order;
  waiting: Payment | null;
  alert: string | null;
}): string {
  const { checkout, order, waiting, alert } = args;
  const base = `/checkout/${checkout.id}`;
  const head = `<h1>${escaped(money(order))}</h1>\n<p>${escaped(checkout.name)}<br>${escaped(checkout.description)}</p>`;
  const reported = alert === null ? '' : `<p role="alert">${escaped(alert)}</p>\n`;
  const title = 'Checkout (simulator)';
  if (order.status === 'paid') {
    return frame(
      title,
      `${head}\n<p>This order is paid. <a href="${escaped(checkout.cancel_url)}">Return</a></p>`,
    );
  }
  if (order.token !== undefined) {
    const buttons = [
      button(`${base}/ok`, 'Allow it', true),
      button(`${base}/insufficient_funds`, 'Allow it for an account without money'),
      button(`${base}/pending`, 'Allow it at a bank that takes days'),
      button(`${base}/close`, 'Close without allowing it'),
    ];
    return frame(title, `${head}\n${form(buttons)}`);
  }
  const late =
    waiting === null
      ? []
      : [
          button(`${base}/arrive`, `Let the bank accept ${waiting.id}`, true),
          button(`${base}/bounce`, 'Let it decline'),
        ];
  return frame(
    title,
    `${head}\n${reported}${form([
      ...late,
      button(`${base}/upi`, 'Pay by UPI', waiting === null),
      button(`${base}/card`, 'Pay by card'),
      button(`${base}/netbanking`, 'Pay by netbanking'),
      button(`${base}/fail`, 'Fail: the bank declines'),
      button(`${base}/late`, 'Late: the bank answers after it was given up'),
      button(`${base}/close`, 'Close without paying'),
    ])}`,
  );
}

/** Sends the browser back to the merchant as the rail does: by a form that posts itself. */
export function returnPage(checkout: Checkout, paid: CheckoutReturn): string {
  const fields = Object.entries(paid).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
  );
  return frame(
    'Paid (simulator)',
    `<p>Paid. You are taken back.</p>
<form method="post" action="${escaped(checkout.callback_url)}" id="back">
${fields.join('\n')}
<button type="submit" class="main">Return</button>
</form>
<script>document.getElementById('back').submit()</script>`,
  );
}
