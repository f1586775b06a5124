// What automatic top-up buys, and when.
import { type FormEvent, useState } from 'react';
import { type AutoTopupFactsFragment, SetAutoTopupDocument } from '../../../api/gen/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { currencyText } from '../../../ui/format/money.ts';
import { FormFault } from '../../../ui/states.tsx';
import { minorOf, typedText } from '../amount.ts';

const MICRO_OF_CENT = 10_000n;

/** What is typed, and saving it. */
function useForm(facts: AutoTopupFactsFragment, onSaved: () => void) {
  const { config, currency, minAmountMinor } = facts;
  const cents = (BigInt(config.thresholdMicro) / MICRO_OF_CENT).toString();
  const [threshold, setThreshold] = useState(typedText(cents, 'USD'));
  const [amount, setAmount] = useState(typedText(config.amountMinor, currency));
  const { busy, fault, send } = useSend();
  const threshold_minor = minorOf(threshold, 'USD');
  const typed = minorOf(amount, currency);
  const amount_minor = typed !== undefined && BigInt(typed) >= BigInt(minAmountMinor) ? typed : undefined;
  const save = async () => {
    if (threshold_minor === undefined || amount_minor === undefined || busy) return;
    const thresholdMicro = (BigInt(threshold_minor) * MICRO_OF_CENT).toString();
    const input = { enabled: config.enabled, thresholdMicro, amountMinor: amount_minor };
    const saved = await send(SetAutoTopupDocument, input);
    if (saved !== null) onSaved();
  };
  const texts = { threshold, setThreshold, amount, setAmount };
  return { ...texts, threshold_minor, amount_minor, busy, fault, save };
}

interface Props {
  readonly facts: AutoTopupFactsFragment;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

export function AutoDialog({ facts, onSaved, onClose }: Props) {
  const { currency, minAmountMinor, capMinor } = facts;
  const form = useForm(facts, () => {
    onSaved();
    onClose();
  });
  const least = currencyText(minAmountMinor, currency);
  const most = capMinor ? `, with tax at most ${currencyText(capMinor, currency)}` : '';
  const is_right = form.threshold_minor !== undefined && form.amount_minor !== undefined;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void form.save();
  };
  return (
    <Dialog title="Automatic top-up" onClose={onClose} size={440}>
      <form className="add-form" noValidate onSubmit={submit}>
        <TextField
          label="When the balance falls below, in USD"
          inputMode="decimal"
          autoComplete="off"
          value={form.threshold}
          onChange={(event) => form.setThreshold(event.target.value)}
          fault={form.threshold_minor === undefined ? 'An amount like 25 or 25.50.' : null}
          data-autofocus
        />
        <TextField
          label={`Add, in ${currency}`}
          hint={`At least ${least}${most}.`}
          inputMode="decimal"
          autoComplete="off"
          value={form.amount}
          onChange={(event) => form.setAmount(event.target.value)}
          fault={form.amount_minor === undefined ? `At least ${least}.` : null}
        />
        <FormFault fault={form.fault} />
        <DialogFoot onClose={onClose} busy={form.busy} disabled={!is_right}>
          Save
        </DialogFoot>
      </form>
    </Dialog>
  );
}
