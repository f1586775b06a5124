// The checkout page: plain HTML without scripts, which says what it is, and whose buttons a browser or a person clicks.
import { escaped, frame } from './frame.ts';
import type { SetupSession } from './mandates.ts';
import type { Session } from './objects.ts';

function money(session: Session): string {
  const digits = session.currency === 'jpy' ? 0 : 2;
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: session.currency });
  return format.format(session.amount_total / 10 ** digits).replaceAll('\u00a0', ' ');
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

/** The page on which a card is kept for later payments. */
export function setupPage(session: SetupSession): string {
  const base = `/c/setup/${session.id}`;
  const head = '<h1>Save a card</h1>\n<p>For payments that are made while you are away.</p>';
  if (session.status !== 'open') {
    const words = session.status === 'expired' ? 'This page has expired.' : 'The card is saved.';
    const back = `<a href="${escaped(session.success_url)}">Return</a>`;
    return frame('Save a card (simulator)', `${head}\n<p>${words} ${back}</p>`);
  }
  const buttons = [
    button(`${base}/ok`, 'Save a card that pays', true),
    button(`${base}/insufficient_funds`, 'Save a card without money'),
    button(`${base}/authentication_required`, 'Save a card that asks its holder each time'),
    button(`${base}/close`, 'Close without saving'),
  ];
  return frame('Save a card (simulator)', `${head}\n<form method="post">\n${buttons.join('\n')}\n</form>`);
}
