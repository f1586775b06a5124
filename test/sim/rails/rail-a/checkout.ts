// Open checkouts of the simulated rail-a: what a merchant's page asked for, and how the browser goes back to it.
import { RailARefusal } from './objects.ts';
import { idOf, type RailAStore } from './store.ts';

/** A checkout that a browser has open. */
export interface Checkout {
  readonly id: string;
  readonly order_id: string;
  readonly name: string;
  readonly description: string;
  readonly email: string;
  readonly notes: Readonly<Record<string, string>>;
  readonly callback_url: string;
  readonly cancel_url: string;
}

/** What the browser posts to the merchant when it was paid. */
export interface CheckoutReturn {
  readonly razorpay_payment_id: string;
  readonly razorpay_order_id: string;
  readonly razorpay_signature: string;
}

function addressAt(form: URLSearchParams, name: string): string {
  const address = form.get(name);
  if (address === null || !/^https?:/.test(address) || !URL.canParse(address)) {
    throw new RailARefusal(400, `The ${name.replace('_', ' ')} format is invalid.`, { field: name });
  }
  return address;
}

/** The checkout that a form of a merchant's page asks for. @throws RailARefusal when it does not fit its order. */
export function openCheckout(store: RailAStore, form: URLSearchParams, keys: readonly string[]): Checkout {
  const key_id = form.get('key_id') ?? '';
  if (keys.length === 0 ? !key_id.startsWith('rzp_test_') : !keys.includes(key_id)) {
    throw new RailARefusal(401, 'The api key provided is invalid', { reason: 'NA' });
  }
  const order = store.order(form.get('order_id') ?? '');
  if (Number(form.get('amount')) !== order.amount || form.get('currency') !== order.currency) {
    throw new RailARefusal(400, 'The amount is different from your order amount', { field: 'amount' });
  }
  const notes: Record<string, string> = {};
  for (const [name, value] of form) {
    const note = /^notes\[(\w+)\]$/.exec(name)?.[1];
    if (note !== undefined) notes[note] = value;
  }
  return {
    id: idOf('chk'),
    order_id: order.id,
    name: form.get('name') ?? '',
    description: form.get('description') ?? '',
    email: form.get('prefill[email]') ?? '',
    notes,
    callback_url: addressAt(form, 'callback_url'),
    cancel_url: addressAt(form, 'cancel_url'),
  };
}

/** The script that a merchant's page loads: it sends the browser to the checkout as the form without it does. */
export function checkoutScript(origin: string): string {
  return `(() => {
  const flat = (options) => {
    const { key, prefill = {}, notes = {}, handler, modal, redirect, theme, ...rest } = options;
    const fields = { key_id: key, ...rest };
    for (const [name, value] of Object.entries(prefill)) fields['prefill[' + name + ']'] = value;
    for (const [name, value] of Object.entries(notes)) fields['notes[' + name + ']'] = value;
    return fields;
  };
  window.Razorpay = function (options) {
    this.on = () => {};
    this.open = () => {
      const form = document.createElement('form');
      form.method = 'post';
      form.action = '${origin}/v1/checkout/embedded';
      for (const [name, value] of Object.entries(flat({ cancel_url: location.href, ...options }))) {
        if (typeof value !== 'string' && typeof value !== 'number') continue;
        const field = document.createElement('input');
        field.type = 'hidden';
        field.name = name;
        field.value = value;
        form.append(field);
      }
      document.body.append(form);
      form.submit();
    };
  };
})();
`;
}
