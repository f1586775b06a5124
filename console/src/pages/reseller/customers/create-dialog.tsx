// Making a customer: its name, who owns it, where it is billed, and what it pays.
import { type FormEvent, useState } from 'react';
import { faultOfForm } from '../../../api/errors.ts';
import { ResaleCreateCustomerDocument, type ResaleTierFragment } from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { percentText } from '../words.ts';

const CATALOG = 'catalog';

/** "North & South Ltd" as an address may have it: "north-south-ltd". */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40);
}

function Fields({ tiers }: { tiers: readonly ResaleTierFragment[] }) {
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string | null>(null);
  const first = tiers.find(({ isDefault }) => isDefault)?.id ?? CATALOG;
  return (
    <>
      <TextField
        label="Name"
        name="name"
        maxLength={120}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
        data-autofocus
      />
      <TextField
        label="Slug"
        name="slug"
        maxLength={40}
        hint="Stands in the address of its console. It cannot be changed."
        autoComplete="off"
        spellCheck={false}
        value={slug ?? slugOf(name)}
        onChange={(event) => setSlug(event.target.value)}
      />
      <TextField
        label="E-mail of its owner"
        name="email"
        type="email"
        hint="Gets an invitation by mail."
        autoComplete="off"
      />
      <TextField
        label="Billing country"
        name="country"
        maxLength={2}
        hint="Two letters, like IN or US."
        autoComplete="off"
      />
      <SelectField label="Pays" name="tier" defaultValue={first}>
        {tiers.map(({ id, name, markupBps, isDefault }) => (
          <option key={id} value={id}>
            {`${name}, ${percentText(markupBps)} above catalog${isDefault ? ' (default)' : ''}`}
          </option>
        ))}
        <option value={CATALOG}>Catalog prices</option>
      </SelectField>
    </>
  );
}

export function CreateCustomerDialog(props: {
  tiers: readonly ResaleTierFragment[];
  onClose: () => void;
  onDone: (id: string) => void;
}) {
  const { tiers, onClose, onDone } = props;
  const { sendOnce, busy, fault, setFault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const billingCountry = text('country').toUpperCase();
    if (text('name') === '') return setFault(faultOfForm('A customer has a name.'));
    if (!text('email').includes('@')) return setFault(faultOfForm('Its owner has an e-mail address.'));
    if (!/^[A-Z]{2}$/.test(billingCountry))
      return setFault(faultOfForm('A billing country is two letters, like IN or US.'));
    const made = await sendOnce(ResaleCreateCustomerDocument, {
      ...{ name: text('name'), slug: text('slug'), ownerEmail: text('email'), billingCountry },
      tierId: text('tier') === CATALOG ? null : text('tier'),
    });
    if (made !== null) onDone(made.child.id);
  };
  return (
    <Dialog
      title="New customer"
      note="An organisation of its own: you see what it uses and pays, not its keys and calls."
      size={480}
      onClose={onClose}
    >
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <Fields tiers={tiers} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Make the customer
        </DialogFoot>
      </form>
    </Dialog>
  );
}
