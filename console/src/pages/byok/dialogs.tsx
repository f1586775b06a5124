// What is done to provider keys: added, edited, given another secret, deleted. A secret stands in its field alone, and
// goes with the dialog.
import { type FormEvent, useState } from 'react';
import {
  CreateByokDocument,
  DeleteByokDocument,
  type ProviderKeyRowFragment,
  UpdateByokDocument,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { FallbackField, faultAt, LabelField, readFields, SecretField } from './fields.tsx';
import { asShown, callName, costText, formerText, type Provider, secretFault } from './words.ts';

type Row = ProviderKeyRowFragment;

interface Of {
  readonly row: Row;
  /** Name of the key's provider. */
  readonly provider: string;
  readonly onClose: () => void;
}

/** The providers that take keys of callers, by name. */
function capableOf(providers: readonly Provider[]): readonly Provider[] {
  const capable = providers.filter(({ byokCapable }) => byokCapable);
  return capable.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

export function AddDialog(props: {
  providers: readonly Provider[];
  fee_bps: number;
  onClose: () => void;
  onAdded: (row: Row) => void;
}) {
  const { providers, fee_bps, onClose, onAdded } = props;
  const { sendOnce, busy, fault } = useSend();
  const [wrong, setWrong] = useState<{ provider: string | null; secret: string | null } | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const input = readFields(event.currentTarget);
    const provider = input.providerId === '' ? 'Choose whose key it is.' : null;
    const found = { provider, secret: secretFault(input.secret) };
    setWrong(found);
    if (found.provider !== null || found.secret !== null) return;
    const made = await sendOnce(CreateByokDocument, input);
    if (made !== null) onAdded(made.key);
  };
  const [at_provider, at_label, at_secret] = [
    faultAt(fault, 'providerId'),
    faultAt(fault, 'label'),
    faultAt(fault, 'secret'),
  ];
  const at_field = at_provider ?? at_label ?? at_secret;
  return (
    <Dialog
      title="Add a provider key"
      note="It is stored encrypted and never shown again. The provider is asked whether it takes it, which costs nothing."
      onClose={onClose}
    >
      <form className="byok-form" onSubmit={(event) => void submit(event)} noValidate>
        <SelectField
          label="Provider"
          name="provider"
          defaultValue=""
          fault={wrong?.provider ?? at_provider}
          data-autofocus
        >
          <option value="">Choose one</option>
          {capableOf(providers).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <LabelField fault={at_label} />
        <SecretField fault={wrong?.secret ?? at_secret} />
        <FallbackField value={false} />
        <p className="sub">{costText(fee_bps)}</p>
        <FormFault fault={at_field === null ? fault : null} />
        <DialogFoot onClose={onClose} busy={busy}>
          Add key
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function EditDialog({ row, provider, onClose, onDone }: Of & { onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { label, fallbackToPool } = readFields(event.currentTarget);
    if (label === row.label && fallbackToPool === row.fallbackToPool) return onClose();
    if ((await send(UpdateByokDocument, { id: row.id, label, fallbackToPool })) !== null) onDone();
  };
  const at_label = faultAt(fault, 'label');
  return (
    <Dialog
      title={`Edit the key ${callName(row, provider)}`}
      note="Its secret stays. Changes are in force within a second."
      size={480}
      onClose={onClose}
    >
      <form className="byok-form" onSubmit={(event) => void submit(event)} noValidate>
        <LabelField value={row.label} fault={at_label} focus />
        <FallbackField value={row.fallbackToPool} />
        <FormFault fault={at_label === null ? fault : null} />
        <DialogFoot onClose={onClose} busy={busy}>
          Save changes
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function SecretDialog({ row, provider, onClose, onDone }: Of & { onDone: (row: Row) => void }) {
  const { send, busy, fault } = useSend();
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { secret } = readFields(event.currentTarget);
    const found = secretFault(secret);
    setWrong(found);
    if (found !== null) return;
    const done = await send(UpdateByokDocument, { id: row.id, secret });
    if (done !== null) onDone(done.key);
  };
  const at_secret = faultAt(fault, 'secret');
  return (
    <Dialog
      title={`Replace the key ${callName(row, provider)}`}
      note={`Calls use the new one within a second, and nothing is kept of ${formerText(row)}. ${provider} is asked whether it takes it.`}
      size={480}
      onClose={onClose}
    >
      <form className="byok-form" onSubmit={(event) => void submit(event)} noValidate>
        <SecretField fault={wrong ?? at_secret} focus />
        <FormFault fault={at_secret === null ? fault : null} />
        <DialogFoot onClose={onClose} busy={busy}>
          Replace it
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function DeleteDialog({ row, provider, onClose, onDone }: Of & { onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const [wrong, setWrong] = useState(false);
  const name = callName(row, provider);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('name') ?? '');
    if (asShown(typed) !== asShown(name)) return setWrong(true);
    if ((await send(DeleteByokDocument, { id: row.id })) !== null) onDone();
  };
  return (
    <Dialog
      title={`Delete the key ${name}?`}
      note={`No call uses it a second later, and its secret is gone here. At ${provider} it stays valid until you end it there.`}
      size={460}
      onClose={onClose}
    >
      <form className="byok-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label={`Type ${name} to confirm`}
          name="name"
          autoComplete="off"
          spellCheck={false}
          fault={wrong ? 'The name does not match.' : null}
          onChange={() => setWrong(false)}
          data-autofocus
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} kind="danger" busy={busy}>
          <span className="ellipsis">Delete {name}</span>
        </DialogFoot>
      </form>
    </Dialog>
  );
}
