// Accepting a document for the organisation, with the name of whoever signs.
import { type FormEvent, useState } from 'react';
import { AcceptLegalDocumentDocument, type LegalRowFragment } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

export function AcceptDialog(props: { row: LegalRowFragment; onClose: () => void; onDone: () => void }) {
  const { row, onClose, onDone } = props;
  const { name } = useOrg();
  const { send, busy, fault } = useSend();
  const [missing, setMissing] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (field: string) => String(form.get(field) ?? '').trim();
    const signerName = text('signer');
    setMissing(signerName === '');
    if (signerName === '') return;
    const signerTitle = text('title');
    const done = await send(AcceptLegalDocumentDocument, {
      ...{ kind: row.kind, version: row.version, signerName },
      ...(signerTitle === '' ? {} : { signerTitle }),
    });
    if (done !== null) onDone();
  };
  return (
    <Dialog
      title={`Accept: ${row.title}`}
      note={`Version ${row.version}, for ${name}. Your name, address and the text are kept as evidence.`}
      size={480}
      onClose={onClose}
    >
      <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
        <p>
          <a className="link" href={row.url} target="_blank" rel="noreferrer">
            Read the text
          </a>
        </p>
        <TextField
          label="Your name"
          name="signer"
          maxLength={120}
          autoComplete="name"
          fault={missing ? 'Say who accepts.' : null}
          data-autofocus
        />
        <TextField
          label="Your title"
          name="title"
          maxLength={120}
          autoComplete="organization-title"
          hint="If you have one."
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} kind="primary" busy={busy}>
          Accept
        </DialogFoot>
      </form>
    </Dialog>
  );
}
