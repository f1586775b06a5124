// Renaming a customer, suspending it and letting it go on.
import { type FormEvent, useState } from 'react';
import { type ResaleCustomerFragment, ResaleUpdateCustomerDocument } from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';

interface Closing {
  readonly child: ResaleCustomerFragment;
  readonly onClose: () => void;
  readonly onDone: (said: string) => void;
}

export function NameDialog({ child, onClose, onDone }: Closing) {
  const { send, busy, fault } = useSend();
  const [missing, setMissing] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim();
    setMissing(name === '');
    if (name === '') return;
    const done = await send(ResaleUpdateCustomerDocument, { id: child.id, name });
    if (done !== null) onDone(`It is called ${name} from now on.`);
  };
  return (
    <Dialog
      title={`Rename ${child.name}`}
      note="Its people see the new name too."
      size={440}
      onClose={onClose}
    >
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Name"
          name="name"
          maxLength={120}
          defaultValue={child.name}
          autoComplete="off"
          fault={missing ? 'A customer has a name.' : null}
          data-autofocus
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Rename
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function StatusDialog({ child, onClose, onDone }: Closing) {
  const { send, busy, fault } = useSend();
  const suspends = child.status === 'ACTIVE';
  const act = async () => {
    const status = suspends ? 'SUSPENDED' : 'ACTIVE';
    const done = await send(ResaleUpdateCustomerDocument, { id: child.id, status });
    if (done !== null)
      onDone(suspends ? 'Its calls are refused from now on.' : 'Its calls are answered again.');
  };
  return (
    <Dialog
      title={suspends ? `Suspend ${child.name}?` : `Let ${child.name} go on?`}
      note={
        suspends
          ? 'Its calls are refused at once, and its people can only read. Its credit stays, and so do its keys. You can let it go on at any time.'
          : 'Its calls are answered again at once. What the service itself has suspended stays so.'
      }
      size={460}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot
        onClose={onClose}
        cautious={suspends}
        kind={suspends ? 'danger' : 'primary'}
        busy={busy}
        onPress={() => void act()}
      >
        {suspends ? 'Suspend' : 'Let it go on'}
      </DialogFoot>
    </Dialog>
  );
}
