// Makes a batch of codes and shows them once, as a file.
import { type FormEvent, useState } from 'react';
import { CreateRedeemBatchDocument } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { plural } from '../../../ui/format/numbers.ts';
import { FormFault } from '../../../ui/states.tsx';
import { CodesDialog } from './codes-dialog.tsx';
import { type BatchFaults, type BatchForm, batchOf, fields } from './form.ts';

interface Made {
  readonly name: string;
  readonly codes: number;
  readonly csv: string;
}

function readForm(form: HTMLFormElement): BatchForm {
  const data = new FormData(form);
  const read = fields.map((name) => [name, String(data.get(name) ?? '').trim()] as const);
  return {
    ...(Object.fromEntries(read) as Record<(typeof fields)[number], string>),
    newOrgOnly: data.has('newOrgOnly'),
  };
}

function useCreate(onMade: (made: Made) => void) {
  const { send, busy, fault, setFault } = useSend();
  const [faults, setFaults] = useState<BatchFaults>({});
  const create = async (form: BatchForm) => {
    const { faults, input } = batchOf(form, new Date().toISOString().slice(0, 10));
    setFaults(faults);
    setFault(null);
    if (input === null) return;
    const made = await send(CreateRedeemBatchDocument, input);
    if (made !== null) onMade({ ...made.batch, csv: made.csv });
  };
  return { create, busy, faults, fault };
}

function Fields({ faults }: { faults: BatchFaults }) {
  const field = (name: (typeof fields)[number], label: string, hint: string, more: object = {}) => (
    <TextField
      label={label}
      name={name}
      hint={hint}
      autoComplete="off"
      fault={faults[name] ?? null}
      {...more}
    />
  );
  return (
    <>
      {field('name', 'Name', 'Who redeems sees it, like devcon-2026.', {
        'data-autofocus': true,
        maxLength: 40,
      })}
      <div className="batch-pair">
        {field('amount', 'Dollars of each code', 'Above 0.', { inputMode: 'decimal' })}
        {field('codes', 'Codes', 'Up to 10,000.', { inputMode: 'numeric' })}
      </div>
      <div className="batch-pair">
        {field('creditDays', 'Credit lasts, days', 'From the redemption on.', { inputMode: 'numeric' })}
        {field('validUntil', 'Codes are taken until', 'The end of that day, UTC.', { type: 'date' })}
      </div>
      <div className="batch-pair">
        {field('maxPerOrg', 'Codes per organization', 'Empty: one.', { inputMode: 'numeric' })}
        {field('country', 'Billing country', 'Empty: any.', { maxLength: 2 })}
      </div>
      <label className="check">
        <input type="checkbox" name="newOrgOnly" />
        <span>
          New organizations only <span className="faint">those that neither paid nor redeemed before</span>
        </span>
      </label>
    </>
  );
}

export function CreateBatchDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [made, setMade] = useState<Made | null>(null);
  const { create, busy, faults, fault } = useCreate(setMade);
  if (made !== null) {
    const title = `${plural(made.codes, 'code')} of ${made.name}`;
    return <CodesDialog title={title} file={`${made.name}.csv`} csv={made.csv} onClose={onDone} />;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void create(readForm(event.currentTarget));
  };
  return (
    <Dialog
      title="Make a batch of codes"
      note="A batch worth more than $100.00 in all needs a second person, who gets the codes. It stands in the audit log with your name."
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        <Fields faults={faults} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Make the codes
        </DialogFoot>
      </form>
    </Dialog>
  );
}
