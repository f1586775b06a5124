// Changing a member's role, removing a member, and leaving.
import type { FormEvent } from 'react';
import { type MemberRowFragment, RemoveMemberDocument, UpdateMemberDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import type { Role } from '../../api/session.ts';
import { useOrg } from '../../app/org.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { FormFault } from '../../ui/states.tsx';
import { RoleField } from './role-field.tsx';
import { grantableRoles, nameOf, roleOf } from './roles.ts';

interface Of {
  readonly row: MemberRowFragment;
  readonly onClose: () => void;
  readonly onDone: (said: string) => void;
}

export function RoleDialog({ row, onClose, onDone }: Of) {
  const { id, role } = useOrg();
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const next = new FormData(event.currentTarget).get('role') as Role;
    const input = { id, userId: row.userId, role: nameOf(next) };
    const done = await send(UpdateMemberDocument, input);
    if (done !== null) onDone(`${row.email} is ${next} now.`);
  };
  return (
    <Dialog
      title={`Role of ${row.name || row.email}`}
      note="It counts from the next request, and for the management rights of keys that this person made."
      size={460}
      onClose={onClose}
    >
      <form className="member-form" onSubmit={(event) => void submit(event)} noValidate>
        <RoleField of={grantableRoles(role)} first={roleOf(row.role)} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Change the role
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function RemoveDialog({ row, own, onClose, onDone }: Of & { readonly own: boolean }) {
  const { id, name } = useOrg();
  const { send, busy, fault } = useSend();
  const who = row.name || row.email;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const input = { id, userId: row.userId };
    const done = await send(RemoveMemberDocument, input);
    if (done !== null) onDone(own ? `You have left ${name}.` : `${row.email} was removed.`);
  };
  return (
    <Dialog
      title={own ? `Leave ${name}?` : `Remove ${who}?`}
      note={
        own
          ? 'You lose access at once. Only an invitation brings you back.'
          : 'Sessions here end at once, and invitations that this person sent are taken back. Keys go on with inference, without rights of management.'
      }
      size={460}
      onClose={onClose}
    >
      <form className="member-form" onSubmit={(event) => void submit(event)} noValidate>
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} cautious kind="danger" busy={busy}>
          {own ? 'Leave' : 'Remove'}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
