// Saying something to customers: the words, how grave it is, to whom, and for how long.
import { type FormEvent, useState } from 'react';
import {
  type AnnouncementAudience,
  type AnnouncementSeverity,
  CreateAnnouncementDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { hoursFrom, named } from './words.ts';

function Choices({ audience, onAudience }: { audience: string; onAudience: (audience: string) => void }) {
  const takes = named[audience as keyof typeof named];
  return (
    <>
      <SelectField label="How grave" name="severity">
        <option value="INFO">Information</option>
        <option value="WARNING">Warning</option>
        <option value="CRITICAL">Critical; cannot be put away</option>
      </SelectField>
      <SelectField
        label="To"
        name="audience"
        value={audience}
        onChange={(event) => onAudience(event.currentTarget.value)}
      >
        <option value="ALL">Everybody</option>
        <option value="PLANS">Organizations on certain plans</option>
        <option value="COUNTRIES">Organizations of certain countries</option>
        <option value="RESELLERS">Resellers</option>
        <option value="ORGS">Certain organizations</option>
      </SelectField>
      {takes && <TextField label={takes.label} name="values" hint={takes.hint} autoComplete="off" />}
      <TextField
        label="Hours"
        name="hours"
        inputMode="numeric"
        defaultValue="24"
        hint="How long it is shown from now on. Empty: until it is ended."
        autoComplete="off"
      />
    </>
  );
}

export function CreateAnnouncementDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const [audience, setAudience] = useState('ALL');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const values = text('values').split(',');
    const done = await send(CreateAnnouncementDocument, {
      ...{ title: text('title'), body: text('body') },
      severity: text('severity') as AnnouncementSeverity,
      audience: audience as AnnouncementAudience,
      audienceValues: values.map((value) => value.trim()).filter((value) => value !== ''),
      endsAt: hoursFrom(text('hours'), Date.now()),
    });
    if (done !== null) onDone();
  };
  return (
    <Dialog
      title="New announcement"
      note="Customers see it over every page of their console, from now on."
      size={520}
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField label="Title" name="title" maxLength={120} autoComplete="off" data-autofocus />
        <AreaField label="Words" name="body" maxLength={10_000} />
        <Choices audience={audience} onAudience={setAudience} />
        <FormFault fault={fault} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Announce
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
