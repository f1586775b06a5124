// Writing to support.
import { type FormEvent, useState } from 'react';
import { CreateTicketDocument } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { kindWords, writtenKinds } from './words.ts';

interface Missing {
  readonly subject: boolean;
  readonly body: boolean;
}

function Fields({ missing }: { missing: Missing }) {
  return (
    <>
      <SelectField label="About" name="kind">
        {writtenKinds.map((kind) => (
          <option key={kind} value={kind}>
            {kindWords[kind]}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Subject"
        name="subject"
        maxLength={120}
        autoComplete="off"
        fault={missing.subject ? 'Say in a few words what it is about.' : null}
        data-autofocus
      />
      <AreaField
        label="Your words"
        name="body"
        maxLength={10_000}
        hint="Ids of requests, invoices and top-ups help. Never write a secret."
        fault={missing.body ? 'Write what you need.' : null}
      />
    </>
  );
}

export function CreateTicketDialog(props: { onClose: () => void; onDone: (id: string) => void }) {
  const { onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const [missing, setMissing] = useState<Missing>({ subject: false, body: false });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const subject = String(form.get('subject') ?? '').trim();
    const body = String(form.get('body') ?? '').trim();
    setMissing({ subject: subject === '', body: body === '' });
    if (subject === '' || body === '') return;
    const kind = writtenKinds.find((one) => one === form.get('kind')) ?? 'OTHER';
    const done = await send(CreateTicketDocument, { subject, body, kind });
    if (done !== null) onDone(done.ticket.id);
  };
  return (
    <Dialog
      title="Write to support"
      note="All members see it. The answer comes here and by mail."
      size={520}
      onClose={onClose}
    >
      <form className="ticket-form" onSubmit={(event) => void submit(event)} noValidate>
        <Fields missing={missing} />
        <FormFault fault={fault} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Send
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
