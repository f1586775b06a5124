// Joining the waitlist for an organisation.
import type { FormEvent } from 'react';
import { JoinWaitlistDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { AreaField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

export function WaitlistDialog({ onClose }: { onClose: () => void }) {
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const done = await send(JoinWaitlistDocument, { company: text('company'), useCase: text('use_case') });
    if (done !== null) onClose();
  };
  return (
    <Dialog
      title="Join the waitlist"
      note="A mail says when you can make an organisation."
      size={460}
      onClose={onClose}
    >
      <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Company"
          name="company"
          maxLength={120}
          autoComplete="organization"
          data-autofocus
          required
        />
        <AreaField label="What for" name="use_case" maxLength={500} required />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Join the waitlist
        </DialogFoot>
      </form>
    </Dialog>
  );
}
