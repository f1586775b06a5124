// Sending a document again: to an address, or to where documents go.
import { type FormEvent, useState } from 'react';
import { type InvoiceRowFragment, ResendInvoiceDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

function useResend(id: string) {
  const { send, busy, fault } = useSend();
  const [sent, setSent] = useState<string | null>(null);
  const resend = async (to: string) => {
    const done = await send(ResendInvoiceDocument, { id, ...(to === '' ? {} : { to }) });
    if (done !== null) setSent(done.to);
  };
  return { resend, busy, fault, sent };
}

export function ResendDialog({ row, onClose }: { row: InvoiceRowFragment; onClose: () => void }) {
  const { resend, busy, fault, sent } = useResend(row.id);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void resend(String(new FormData(event.currentTarget).get('to') ?? '').trim());
  };
  return (
    <Dialog
      title={`Send ${row.number} again`}
      note="The PDF goes with the mail."
      size={440}
      onClose={onClose}
    >
      {sent === null ? (
        <form className="resend-form" onSubmit={submit} noValidate>
          <TextField
            label="To"
            name="to"
            type="email"
            autoComplete="email"
            placeholder="accounts@example.com"
            hint="Leave empty to use the billing address, or else the owners."
            data-autofocus
          />
          <FormFault fault={fault} />
          <DialogFoot onClose={onClose} busy={busy}>
            Send
          </DialogFoot>
        </form>
      ) : (
        <div className="resend-form">
          <p role="status">On its way to {sent}.</p>
          <div className="dialog-foot">
            <Button kind="primary" onClick={onClose} data-autofocus>
              Done
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
