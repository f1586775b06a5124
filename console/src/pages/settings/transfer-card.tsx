// Handing the organisation to another member; the password is asked for where the last proof is a while ago.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { HandoverMembersDocument, TransferOrgDocument } from '../../api/gen/graphql.ts';
import { useAction, useMutate } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { useProof } from '../profile/proof.tsx';

function TransferDialog({
  user_id,
  onClose,
  onDone,
}: {
  user_id: string;
  onClose: () => void;
  onDone: () => void;
}) {
  const { id, name } = useOrg();
  const mutate = useMutate();
  const { act, busy, fault } = useAction();
  const proof = useProof(
    'This gives the organisation to somebody else, and your last sign-in is a while ago.',
  );
  const [{ data }] = useQuery({ query: HandoverMembersDocument });
  const others = (data?.members ?? []).filter(
    (member) => member.userId !== user_id && member.status === 'ACTIVE',
  );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const userId = String(new FormData(event.currentTarget).get('to') ?? '');
    const done = await act(() => proof.run(() => mutate(TransferOrgDocument, { id, userId })));
    if (done !== null) onDone();
  };
  return (
    <>
      <Dialog title={`Hand over ${name}`} note="You become an admin." size={460} onClose={onClose}>
        <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
          <SelectField label="New owner" name="to" data-autofocus>
            {others.map((member) => (
              <option key={member.userId} value={member.userId}>
                {member.email}
              </option>
            ))}
          </SelectField>
          <FormFault fault={fault} />
          <DialogFoot onClose={onClose} kind="danger" busy={busy}>
            Hand over
          </DialogFoot>
        </form>
      </Dialog>
      {proof.dialog}
    </>
  );
}

export function TransferCard({ user_id, onDone }: { user_id: string; onDone: () => void }) {
  const [open, setOpen] = useState(false);
  return (
    <Card title="Hand over">
      <div className="settings-foot">
        <span className="grow soft">Make another member the owner. You stay as an admin.</span>
        <Button onClick={() => setOpen(true)}>Hand over</Button>
      </div>
      {open && <TransferDialog user_id={user_id} onClose={() => setOpen(false)} onDone={onDone} />}
    </Card>
  );
}
