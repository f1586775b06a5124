// Closing the organisation: the short name is typed, and the password asked for where the last proof is a while ago.
import { type FormEvent, useState } from 'react';
import { CloseOrgDocument } from '../../api/gen/graphql.ts';
import { useAction, useMutate } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { useProof } from '../profile/proof.tsx';

function CloseDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { id, name, slug } = useOrg();
  const mutate = useMutate();
  const { act, busy, fault } = useAction();
  const proof = useProof('This closes the organisation for good, and your last sign-in is a while ago.');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const confirm = String(form.get('confirm') ?? '').trim();
    const refundRequested = form.get('refund') !== null;
    const done = await act(() => proof.run(() => mutate(CloseOrgDocument, { id, confirm, refundRequested })));
    if (done !== null) onDone();
  };
  return (
    <>
      <Dialog
        title={`Close ${name}`}
        note="All keys stop at once, and credit that was given expires. Owners can read invoices and credits for 90 days."
        size={460}
        onClose={onClose}
      >
        <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
          <label className="check">
            <input type="checkbox" name="refund" />
            <span>
              Give unused credit back <span className="faint">to where it was paid from</span>
            </span>
          </label>
          <TextField
            label={`Type ${slug} to close it`}
            name="confirm"
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <FormFault fault={fault} />
          <DialogFoot onClose={onClose} kind="danger" busy={busy}>
            Close the organisation
          </DialogFoot>
        </form>
      </Dialog>
      {proof.dialog}
    </>
  );
}

export function CloseCard({ onDone }: { onDone: () => void }) {
  const [open, setOpen] = useState(false);
  return (
    <Card title="Close">
      <div className="settings-foot">
        <span className="grow soft">Everything stops for good, and for everybody.</span>
        <Button kind="danger" onClick={() => setOpen(true)}>
          Close the organisation
        </Button>
      </div>
      {open && <CloseDialog onClose={() => setOpen(false)} onDone={onDone} />}
    </Card>
  );
}
