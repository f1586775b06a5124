// Making a policy: its name and what its text begins with. The first version is a draft; nothing is routed by it yet.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { CreatePolicyDocument } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { faultOfName, starters } from './words.ts';

function Fields({ fault }: { fault: string | null }) {
  return (
    <>
      <TextField
        label="Name"
        name="name"
        hint="Traces and requests show it. It cannot be changed."
        autoComplete="off"
        spellCheck={false}
        fault={fault}
        data-autofocus
      />
      <SelectField label="Begin with" name="starter">
        {starters.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
    </>
  );
}

export function CreatePolicyDialog({ onClose }: { onClose: () => void }) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const [name_fault, setNameFault] = useState<string | null>(null);
  const { busy, fault, sendOnce } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const name = String(form.get('name') ?? '').trim();
    const wrong = faultOfName(name);
    setNameFault(wrong);
    const starter = starters.find(({ id }) => id === form.get('starter'));
    if (wrong !== null || starter === undefined) return;
    const made = await sendOnce(CreatePolicyDocument, { name, yaml: starter.yaml(name) });
    if (made !== null) void navigate({ to: '/$org/$env/policies/$name', params: { org: slug, env, name } });
  };
  return (
    <Dialog
      title="New policy"
      note="Version 1 is a draft. No call is routed by it until you activate it."
      onClose={onClose}
      size={440}
    >
      <form className="policy-form" noValidate onSubmit={(event) => void submit(event)}>
        <Fields fault={name_fault} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Make the policy
        </DialogFoot>
      </form>
    </Dialog>
  );
}
