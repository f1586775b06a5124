// The page to register a mandate on, as HTML, for a rail whose checkout opens in a page of the merchant's.

import type { RegisterPage } from '@svc/core/mandates/index.ts';
import { escaped, frame } from '@svc/http/index.ts';
import { checkoutForm } from './page.ts';

const METHODS: Readonly<Record<RegisterPage['method'], string>> = {
  card: 'card',
  upi: 'UPI',
  emandate: 'bank account',
};

/** The page of a mandate; `nonce` is the one of its security policy. */
export function registerPage(page: RegisterPage, nonce: string): string {
  const { org_name, method, cap, fields, opening, back_url } = page;
  const back = `<a class="button" href="${escaped(back_url)}">Back without allowing it</a>`;
  if (fields === null) {
    return frame(
      'Nothing to register',
      `<h1>Nothing to register here</h1>
<p>It is registered, cancelled, or its time is over.</p>
<a class="button" href="${escaped(back_url)}">Open the console</a>`,
    );
  }
  const proof = method === 'emandate' ? '' : ' One rupee is debited now to prove it, and goes back.';
  return frame(
    'Allow automatic top-up',
    `<h1>Allow automatic top-up</h1>
<p>Credits of ${escaped(org_name)} are bought by ${METHODS[method]} when they run low, for at most ${escaped(cap)} at a
time. Each debit is announced a day before.${proof}</p>
${checkoutForm({ opening, fields, nonce, label: `Go on by ${METHODS[method]}`, back })}`,
  );
}
