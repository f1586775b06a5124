// Sending a document again: to an address, or to where documents go.
import { type FormEvent, useState } from 'react';
import { useClient } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError } from '../../api/errors.ts';
import { type InvoiceRowFragment, ResendInvoiceDocument } from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

function useResend(id: string) {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const [sent, setSent] = useState<string | null>(null);
  const resend = async (to: string) => {
    setBusy(true);
    setFault(null);
    const input = { id, ...(to === '' ? {} : { to }) };
    const { data: answer, error } = await client.mutation(ResendInvoiceDocument, { input }).toPromise();
    setBusy(false);
    if (error) return setFault(faultOfQuery(error));
    if (answer?.resendInvoice.__typename === 'ResendInvoicePayload') return setSent(answer.resendInvoice.to);
    if (answer) setFault(faultOfUserError(answer.resendInvoice));
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
          <div className="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="primary" busy={busy}>
              Send
            </Button>
          </div>
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
