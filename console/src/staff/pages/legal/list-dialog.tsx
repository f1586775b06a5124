// Publishing the next list of sub-processors.
import { type FormEvent, useState } from 'react';
import { PublishSubprocessorsDocument } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { AreaField, TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { readEntries } from './entries.ts';

export function ListDialog(props: { present: string; onClose: () => void; onDone: (said: string) => void }) {
  const { present, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const version = String(form.get('version') ?? '').trim();
    const read = readEntries(String(form.get('entries') ?? ''));
    setWrong(read.fault);
    if (read.entries === null) return;
    const done = await send(PublishSubprocessorsDocument, { version, entries: read.entries });
    if (done !== null) onDone(`The list ${version} is published.`);
  };
  return (
    <Dialog
      title="Publish the next list"
      note="It takes effect thirty days from now, and customers are told today. Providers of the catalog are on it by themselves."
      size={640}
      onClose={onClose}
    >
      <form className="ticket-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Version"
          name="version"
          maxLength={13}
          hint="A date, such as 2027-01-15."
          data-autofocus
        />
        <AreaField
          label="Entries"
          name="entries"
          rows={8}
          spellCheck={false}
          defaultValue={present}
          hint="One a line: id; name; category; location; purpose. All of them, not only what is new."
          fault={wrong}
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} kind="primary" busy={busy}>
          Publish
        </DialogFoot>
      </form>
    </Dialog>
  );
}
