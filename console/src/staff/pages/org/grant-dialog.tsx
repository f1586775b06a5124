// Grants credit: amount, reason and reference. The reference makes it happen once, however often the form is sent.
import { type FormEvent, useState } from 'react';
import type { Fault } from '../../../api/errors.ts';
import { type Environment, GrantCreditDocument } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { minorOf } from '../../../pages/credits/amount.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { spendText } from '../../../ui/format/money.ts';
import { FormFault } from '../../../ui/states.tsx';

interface Form {
  readonly amount: string;
  readonly reason: string;
  readonly reference: string;
  readonly days: string;
}
type Faults = Partial<Record<keyof Form, string>>;

const names: Readonly<Record<string, keyof Form>> = {
  amountMicro: 'amount',
  amount_micro: 'amount',
  reason: 'reason',
  reference: 'reference',
  expiresDays: 'days',
  expires_days: 'days',
};

/** What is wrong with the form before it is sent. */
function faultsOf(form: Form): Faults {
  const faults: Faults = {};
  if (minorOf(form.amount, 'USD') === undefined) faults.amount = 'Enter an amount in dollars, 25 or 12.50.';
  if (form.reason === '') faults.reason = 'Say why; the customer’s audit log shows it.';
  if (form.reference === '') faults.reference = 'Name the ticket or the case.';
  if (form.days !== '' && !/^[1-9]\d{0,3}$/.test(form.days))
    faults.days = 'Enter days, 1 to 3650, or nothing.';
  return faults;
}

/** A refusal of the server at its field; null where it is of the whole. */
function fieldOf(fault: Fault | null): Faults | null {
  const name = names[fault?.field?.split('.').at(-1) ?? ''];
  return fault === null || name === undefined ? null : { [name]: fault.message };
}

function readForm(form: HTMLFormElement): Form {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '').trim();
  return { amount: text('amount'), reason: text('reason'), reference: text('reference'), days: text('days') };
}

function useGrant(id: string, environment: Environment, onDone: (said: string) => void) {
  const { send, busy, fault, setFault } = useSend();
  const [faults, setFaults] = useState<Faults>({});
  const grant = async (form: Form) => {
    const wrong = faultsOf(form);
    setFaults(wrong);
    setFault(null);
    if (Object.keys(wrong).length > 0) return;
    // Cents are ten thousand micro-dollars.
    const amountMicro = `${BigInt(minorOf(form.amount, 'USD') as string) * 10_000n}`;
    const input = {
      ...{ orgId: id, environment, amountMicro, reason: form.reason, reference: form.reference },
      ...(form.days === '' ? {} : { expiresDays: Number(form.days) }),
    };
    const answer = await send(GrantCreditDocument, input);
    if (answer === null) return;
    const amount = spendText(amountMicro);
    onDone(
      answer.replay
        ? `“${form.reference}” granted ${amount} before; nothing moved now.`
        : `${amount} granted, as entry ${answer.seq} of the ledger.`,
    );
  };
  const at_field = fieldOf(fault);
  return { grant, busy, faults: at_field ?? faults, fault: at_field === null ? fault : null };
}

function Fields({ faults }: { faults: Faults }) {
  return (
    <>
      <TextField
        label="Amount in US dollars"
        name="amount"
        inputMode="decimal"
        autoComplete="off"
        placeholder="25.00"
        fault={faults.amount ?? null}
        data-autofocus
      />
      <TextField
        label="Reason"
        name="reason"
        maxLength={500}
        autoComplete="off"
        fault={faults.reason ?? null}
        hint="Stands in the audit log of the organization."
      />
      <TextField
        label="Reference"
        name="reference"
        maxLength={64}
        autoComplete="off"
        fault={faults.reference ?? null}
        hint="The ticket or case. The same reference grants once, however often it is sent."
      />
      <TextField
        label="Ends after days"
        name="days"
        inputMode="numeric"
        autoComplete="off"
        fault={faults.days ?? null}
        hint="Empty: never."
      />
    </>
  );
}

export function GrantDialog(props: {
  id: string;
  name: string;
  environment: Environment;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { id, name, environment, onClose, onDone } = props;
  const { grant, busy, faults, fault } = useGrant(id, environment, onDone);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void grant(readForm(event.currentTarget));
  };
  return (
    <Dialog
      title={`Grant credit to ${name}`}
      note={`One person grants at most $100.00 at a time. ${environment === 'LIVE' ? 'It pays for live calls.' : 'It is sandbox credit.'}`}
      size={480}
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        <Fields faults={faults} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Grant credit
        </DialogFoot>
      </form>
    </Dialog>
  );
}
