// The words of an announcement and its time, for a new one and for one that is there.
import { type FormEvent, useState } from 'react';
import {
  type AnnouncementSeverity,
  ResaleAnnounceDocument,
  type ResaleAnnouncementFragment,
  ResaleChangeAnnouncementDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../../ui/field.tsx';
import { localMinute } from '../../../ui/format/time.ts';
import { FormFault } from '../../../ui/states.tsx';

type Row = ResaleAnnouncementFragment;

const severities: readonly (readonly [AnnouncementSeverity, string])[] = [
  ['INFO', 'Information'],
  ['WARNING', 'Warning'],
  ['CRITICAL', 'Critical; cannot be put away'],
];

const NEW = {
  title: 'New announcement',
  note: 'All your customers see it over every page of their console.',
  act: 'Announce',
};
const CHANGED = {
  title: 'Change the announcement',
  note: 'Customers see the new words at once. Who has put it away does not see it again.',
  act: 'Save',
};

/** What a field for local times has, as the API takes it; undefined where it has none. */
function instantOf(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** What the form says of the times; a minute that was not touched keeps its seconds. */
function timesOf(row: Row | null, { starts, ends }: { starts: string; ends: string }) {
  const untouched = (field: string, at: string | null | undefined) => at != null && field === localMinute(at);
  const [startsAt, endsAt] = [instantOf(starts), instantOf(ends)];
  return {
    ...(startsAt === undefined || untouched(starts, row?.startsAt) ? {} : { startsAt }),
    ...(untouched(ends, row?.endsAt) ? {} : { endsAt: endsAt ?? null }),
  };
}

function TimeFields({ row }: { row: Row | null }) {
  const minute = (at: string | null | undefined) => (at ? localMinute(at) : '');
  return (
    <>
      <TextField
        label="From"
        name="starts"
        type="datetime-local"
        defaultValue={minute(row?.startsAt)}
        hint={row === null ? 'Your time. Empty: now.' : 'Your time.'}
      />
      <TextField
        label="Until"
        name="ends"
        type="datetime-local"
        defaultValue={minute(row?.endsAt)}
        hint="Empty: until it is ended."
      />
    </>
  );
}

/** Without a row a new one is made. */
export function AnnounceDialog(props: { row: Row | null; onClose: () => void; onDone: () => void }) {
  const { row, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const [missing, setMissing] = useState({ title: false, body: false });
  const say = row === null ? NEW : CHANGED;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    setMissing({ title: text('title') === '', body: text('body') === '' });
    if (text('title') === '' || text('body') === '') return;
    const said = {
      ...{ title: text('title'), body: text('body'), severity: text('severity') as AnnouncementSeverity },
      ...timesOf(row, { starts: text('starts'), ends: text('ends') }),
    };
    const done =
      row === null
        ? await send(ResaleAnnounceDocument, said)
        : await send(ResaleChangeAnnouncementDocument, { id: row.id, ...said });
    if (done !== null) onDone();
  };
  return (
    <Dialog title={say.title} note={say.note} size={520} onClose={onClose}>
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Title"
          name="title"
          maxLength={120}
          autoComplete="off"
          defaultValue={row?.title}
          fault={missing.title ? 'A title is read first.' : null}
          data-autofocus
        />
        <AreaField
          label="Words"
          name="body"
          maxLength={10_000}
          defaultValue={row?.body}
          fault={missing.body ? 'Write what customers shall know.' : null}
        />
        <SelectField label="How grave" name="severity" defaultValue={row?.severity}>
          {severities.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
        <TimeFields row={row} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          {say.act}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
