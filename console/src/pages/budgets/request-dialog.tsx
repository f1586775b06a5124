// Asking for higher limits of a key: what the plan allows holds at once, the rest waits for a person.
import { type FormEvent, useState } from 'react';
import { RequestLimitsDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { FormFault } from '../../ui/states.tsx';
import { LimitFields } from './limit-fields.tsx';
import { holds, type RequestFaults, requestOf } from './limits.ts';
import type { LimitedKey, Limits } from './limits-card.tsx';

function useRequest(row: LimitedKey, onDone: (said: string) => void) {
  const { send, busy, fault, setFault } = useSend();
  const [faults, setFaults] = useState<RequestFaults>({});
  const request = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? '');
    const read = requestOf({ rpm: text('rpm'), tpm: text('tpm'), concurrency: text('concurrency') });
    setFaults(read.faults);
    setFault(null);
    if (Object.keys(read.faults).length > 0) return;
    const input = { keyId: row.keyId, ...read.asked, reason: text('reason').trim() };
    const made = await send(RequestLimitsDocument, input);
    if (made === null) return;
    onDone(
      made.status === 'approved'
        ? `${row.name} has the limits that you asked for.`
        : `Your request for ${row.name} waits for a person; you get a mail when it is decided.`,
    );
  };
  return { request, busy, fault, faults };
}

export function RequestDialog(props: {
  row: LimitedKey;
  plan: Limits['plan'];
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { row, plan, onClose, onDone } = props;
  const { request, busy, fault, faults } = useRequest(row, onDone);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void request(new FormData(event.currentTarget));
  };
  const hint = (name: 'rpm' | 'tpm' | 'concurrency') => {
    const now = holds(row.configured[name], plan[name]);
    return now === null ? 'no limit now' : `now ${countText(now)}`;
  };
  return (
    <Dialog
      title={`Higher limits of ${row.name}`}
      note="What your plan has room for holds at once, three times a day. More waits for a person."
      onClose={onClose}
    >
      <form className="budget-form" onSubmit={submit} noValidate>
        <LimitFields placeholder="as it is" hint={hint} faults={faults} />
        <TextField
          label="Reason"
          name="reason"
          maxLength={500}
          hint="Helps whoever decides what goes beyond your plan."
          autoComplete="off"
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Ask for these limits
        </DialogFoot>
      </form>
    </Dialog>
  );
}
