// Publishing a version of a legal document.
import { type FormEvent, useState } from 'react';
import { type LegalDocumentKind, PublishLegalVersionDocument } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';

const kinds: readonly LegalDocumentKind[] = ['TOS', 'DPA', 'PRIVACY', 'AUP', 'DPDP_NOTICE', 'SCCS'];

function Fields({ missing }: { missing: boolean }) {
  return (
    <>
      <SelectField label="Document" name="kind" data-autofocus>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {kind.toLowerCase().replaceAll('_', ' ')}
          </option>
        ))}
      </SelectField>
      <TextField label="Version" name="version" maxLength={13} hint="A date, such as 2027-01-15." />
      <TextField label="Title" name="title" maxLength={120} />
      <TextField
        label="What changes"
        name="summary"
        maxLength={500}
        hint="Customers read this in the mail."
      />
      <label className="check">
        <input type="checkbox" name="acceptance" defaultChecked />
        <span>Owners have to accept it</span>
      </label>
      <AreaField
        label="Text"
        name="text"
        rows={10}
        spellCheck={false}
        hint="Markdown. Placeholders such as {{org.legal_name}} are filled."
        fault={missing ? 'Fill every field.' : null}
      />
    </>
  );
}

export function PublishDialog({ onClose, onDone }: { onClose: () => void; onDone: (said: string) => void }) {
  const { send, busy, fault } = useSend();
  const [missing, setMissing] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const [version, title, summary, words] = ['version', 'title', 'summary', 'text'].map(text) as [
      string,
      string,
      string,
      string,
    ];
    const lacks = [version, title, summary, words].includes('');
    setMissing(lacks);
    if (lacks) return;
    const done = await send(PublishLegalVersionDocument, {
      ...{ version, title, summary, text: words, requiresAcceptance: form.get('acceptance') !== null },
      kind: kinds.find((kind) => kind === form.get('kind')) ?? 'TOS',
    });
    if (done !== null) onDone(`${title} ${version} is published.`);
  };
  return (
    <Dialog
      title="Publish a version"
      note="It takes effect thirty days from now, and customers are told today. It cannot be changed or taken back."
      size={640}
      onClose={onClose}
    >
      <form className="ticket-form" onSubmit={(event) => void submit(event)} noValidate>
        <Fields missing={missing} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} kind="primary" busy={busy}>
          Publish
        </DialogFoot>
      </form>
    </Dialog>
  );
}
