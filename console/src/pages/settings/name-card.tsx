// What the organisation is called, and the short name in its addresses.
import { type FormEvent, useState } from 'react';
import { type OrgSettingsFragment, UpdateOrgSettingsDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Card } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { SaveFoot } from './save-foot.tsx';

export function NameCard(props: {
  org: OrgSettingsFragment;
  locked: boolean;
  onSaved: (slug: string) => Promise<void>;
}) {
  const { org, locked, onSaved } = props;
  const { send, busy, fault } = useSend();
  const [said, setSaid] = useState('');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const input = { id: org.id, name: text('name'), slug: text('slug') };
    setSaid('');
    const done = await send(UpdateOrgSettingsDocument, input);
    if (done === null) return;
    setSaid('Saved.');
    await onSaved(input.slug);
  };
  return (
    <Card title="Organisation">
      <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField label="Name" name="name" defaultValue={org.name} maxLength={120} readOnly={locked} />
        <TextField
          label="Short name"
          name="slug"
          defaultValue={org.slug}
          maxLength={40}
          spellCheck={false}
          readOnly={locked}
          hint="In every address of this console. Small letters, digits and hyphens; old addresses stop working."
        />
        <p className="sub">
          <IdText id={org.id} />
        </p>
        <FormFault fault={fault} />
        {!locked && <SaveFoot verb="Save the name" busy={busy} said={said} />}
      </form>
    </Card>
  );
}
