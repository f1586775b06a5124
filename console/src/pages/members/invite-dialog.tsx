// Inviting a person by mail.
import type { FormEvent } from 'react';
import { InviteMemberDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import type { Role } from '../../api/session.ts';
import { useOrg } from '../../app/org.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { RoleField } from './role-field.tsx';
import { grantableRoles, nameOf } from './roles.ts';

export function InviteDialog({ onClose, onDone }: { onClose: () => void; onDone: (said: string) => void }) {
  const { id, name, role } = useOrg();
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const email = String(form.get('email') ?? '').trim();
    const input = { id, email, role: nameOf(form.get('role') as Role) };
    const done = await send(InviteMemberDocument, input);
    if (done !== null) onDone(`An invitation is on its way to ${email}.`);
  };
  return (
    <Dialog
      title={`Invite to ${name}`}
      note="A mail brings the link. It is valid for seven days, for this address alone."
      size={460}
      onClose={onClose}
    >
      <form className="member-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="E-mail"
          name="email"
          type="email"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <RoleField of={grantableRoles(role)} first="developer" />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Send the invitation
        </DialogFoot>
      </form>
    </Dialog>
  );
}
