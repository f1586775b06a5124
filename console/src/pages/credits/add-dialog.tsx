// Adding credits in one step: the amount, what it buys and costs, and one button with the total on it.
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type BillingFactsFragment,
  QuoteDocument,
  type QuoteQuery,
  StartTopupDocument,
} from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { currencyText } from '../../ui/format/money.ts';
import { Money } from '../../ui/money.tsx';
import { Bone, FormFault } from '../../ui/states.tsx';
import { useRestored } from '../../ui/use-restored.ts';
import { minorOf, proposedMinor, typedText } from './amount.ts';
import { AddressForm, CurrencyField, isStateMissing } from './billing-fields.tsx';

const SETTLE_MS = 300;

type Quote = NonNullable<NonNullable<QuoteQuery['credits']>['quote']>;

/** `value` once it has stayed the same for a moment, so that not every key press asks for a quote. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** A rate of 8 decimal places without trailing zeros: "83.41". */
function rateText(rate: string): string {
  return rate.includes('.') ? rate.replace(/0+$/, '').replace(/\.$/, '') : rate;
}

/** `waiting`: a quote is on its way; else there is no amount to ask one for. */
function QuoteLines({ quote, waiting }: { quote: Quote | null; waiting: boolean }) {
  const lines: readonly (readonly [string, React.ReactNode])[] = [
    ['Credits received', quote && <Money micro={quote.creditsMicro} />],
    ['Price', quote && currencyText(quote.amountMinor, quote.currency)],
    ['Tax', quote && (quote.taxMinor === '0' ? 'none' : currencyText(quote.taxMinor, quote.currency))],
  ];
  const none = (width: number) => (waiting ? <Bone width={width} /> : '–');
  return (
    <div className="quote num" aria-live="polite" aria-busy={waiting || undefined}>
      <dl>
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? none(70)}</dd>
          </div>
        ))}
        <div className="quote-total">
          <dt>Total to pay</dt>
          <dd>{quote ? currencyText(quote.totalMinor, quote.currency) : none(80)}</dd>
        </div>
      </dl>
      <p className="sub quote-note">
        {quote?.currency === 'USD' && 'Credits are in US dollars.'}
        {quote &&
          quote.currency !== 'USD' &&
          `1 USD = ${rateText(quote.fxRate)} ${quote.currency}, rate of ${quote.fxDay}`}
      </p>
    </div>
  );
}

/** Starts a top-up and goes to its checkout. */
function useCheckout() {
  const { send, busy, fault } = useSend();
  // Busy until the page is left; coming back by the back button ends that.
  const [leaving, setLeaving] = useState(false);
  // One key for each amount: after a lost answer, pressing again finds the first checkout instead of opening a second.
  const key = useRef<{ minor: string; key: string } | null>(null);
  useRestored(() => setLeaving(false));

  const start = async (minor: string) => {
    if (key.current?.minor !== minor) key.current = { minor, key: crypto.randomUUID() };
    const started = await send(StartTopupDocument, { amountMinor: minor, idempotencyKey: key.current.key });
    if (started === null) return;
    setLeaving(true);
    location.assign(started.checkoutUrl);
  };
  return { start, busy: busy || leaving, fault };
}

/** What a typed amount buys and costs; `fault` says what is wrong with the amount. */
function useQuote(text: string, currency: string) {
  const minor = minorOf(text, currency);
  const settled = useSettled(minor);
  const [{ data, error, fetching }] = useQuery({
    query: QuoteDocument,
    variables: { amountMinor: settled ?? '0' },
    pause: settled === undefined,
    requestPolicy: 'network-only',
  });
  const current =
    minor !== undefined && settled === minor && !fetching ? (data?.credits?.quote ?? null) : null;
  const too_small = current !== null && BigInt(current.amountMinor) < BigInt(current.minAmountMinor);
  const unreadable = text.trim() !== '' && minor === undefined;
  const low_fault = too_small ? `At least ${currencyText(current.minAmountMinor, current.currency)}.` : null;
  return {
    minor,
    quote: too_small || error ? null : current,
    error,
    waiting: minor !== undefined && current === null && !error,
    fault: unreadable ? 'An amount like 25 or 25.50.' : low_fault,
  };
}

/** The dialog: what is missing for a payment is asked first. */
export function AddCreditsDialog({
  org,
  is_first,
  onChanged,
  onClose,
}: {
  org: BillingFactsFragment;
  /** Nothing was paid yet. */
  is_first: boolean;
  onChanged: () => void;
  onClose: () => void;
}) {
  const { billingCountry: country, billingCurrency: currency } = org;
  return (
    <Dialog
      title="Add credits"
      note="You pay on the provider’s page and come back here."
      onClose={onClose}
      size={440}
    >
      {isStateMissing(org) ? (
        <AddressForm org={org} onSaved={onChanged} onClose={onClose} />
      ) : (
        <>
          {is_first && country !== 'IN' && (
            <div className="add-form">
              <CurrencyField org={org} onSaved={onChanged} />
            </div>
          )}
          <AmountForm key={currency} currency={currency} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

function AmountForm({ currency, onClose }: { currency: string; onClose: () => void }) {
  const proposed = proposedMinor(currency);
  const [text, setText] = useState(typedText(proposed[1] ?? '2500', currency));
  const { minor, quote, waiting, error, fault: amount_fault } = useQuote(text, currency);
  const { start, busy, fault } = useCheckout();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (quote !== null && minor !== undefined && !busy) void start(minor);
  };

  return (
    <form className="add-form" onSubmit={submit} noValidate>
      {/* biome-ignore lint/a11y/useSemanticElements: buttons that fill a field, no fields of their own */}
      <div className="proposals" role="group" aria-label="Amounts">
        {proposed.map((each) => (
          <Button key={each} aria-pressed={each === minor} onClick={() => setText(typedText(each, currency))}>
            {currencyText(each, currency).replace(/\.00$/, '')}
          </Button>
        ))}
      </div>
      <TextField
        label={`Amount in ${currency}`}
        inputMode="decimal"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        fault={amount_fault}
        data-autofocus
      />
      <QuoteLines quote={quote} waiting={waiting} />
      <FormFault fault={fault ?? (error ? faultOfQuery(error) : null)} />
      <DialogFoot onClose={onClose} busy={busy} disabled={quote === null}>
        {quote ? `Pay ${currencyText(quote.totalMinor, quote.currency)}` : 'Pay'}
      </DialogFoot>
    </form>
  );
}
