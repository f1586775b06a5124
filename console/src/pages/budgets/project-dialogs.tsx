// Making a project, and archiving one whose keys have ended.
import type { FormEvent } from 'react';
import { ArchiveProjectDocument, CreateProjectDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

interface Closing {
  readonly onClose: () => void;
  readonly onDone: (said: string) => void;
}

export function CreateProjectDialog({ onClose, onDone }: Closing) {
  const { environment, env } = useOrg();
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [name, slug] = ['name', 'slug'].map((field) => String(form.get(field) ?? '').trim());
    const input = { name: name ?? '', slug: slug ?? '', environment };
    const done = await send(CreateProjectDocument, input);
    if (done !== null) onDone(`The project ${input.name} is there. Keys can be made in it.`);
  };
  return (
    <Dialog
      title={env === 'sandbox' ? 'New sandbox project' : 'New project'}
      note="A group of keys with a budget and limits of its own. How many there may be, the plan says."
      size={440}
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField label="Name" name="name" maxLength={120} autoComplete="off" data-autofocus />
        <TextField
          label="Slug"
          name="slug"
          maxLength={40}
          hint="Up to 40 of a-z, 0-9 and inner hyphens. It cannot be changed."
          autoComplete="off"
          spellCheck={false}
        />
        <FormFault fault={fault} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Make the project
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function ArchiveProjectDialog(
  props: Closing & { row: { readonly id: string; readonly name: string } },
) {
  const { row, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const archive = async () => {
    const done = await send(ArchiveProjectDocument, { id: row.id });
    if (done !== null) onDone(`The project ${row.name} is archived.`);
  };
  return (
    <Dialog
      title={`Archive ${row.name}?`}
      note="It is not shown any more, and its slug is free again. Its calls stay in requests and usage. While it has keys that work this is refused."
      size={440}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <div className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={busy} onClick={() => void archive()} data-autofocus>
          Archive
        </Button>
      </div>
    </Dialog>
  );
}
