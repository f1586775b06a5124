// Saying what an app is called and whether everybody sees it, and the badge of one that is seen.
import type { FormEvent } from 'react';
import { type AppRowFragment, UpdateAppDocument } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Code } from '../../ui/snippet-tabs.tsx';
import { FormFault } from '../../ui/states.tsx';
import { badgeSnippet, inputOf } from './words.ts';

type App = AppRowFragment;

interface Of {
  readonly app: App;
  readonly onClose: () => void;
}

function readFields(form: HTMLFormElement) {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '').trim();
  return {
    ...{ name: text('name'), category: text('category'), url: text('url') },
    public: data.get('public') !== null,
  };
}

/** What everybody sees of the app once it is public. */
function PublicField({ value }: { value: boolean }) {
  return (
    <label className="check">
      <input type="checkbox" name="public" defaultChecked={value} />
      <span>
        Show it to everybody{' '}
        <span className="faint">
          Name, category, address, calls, tokens and models of 30 days are then public, and rankings name it.
        </span>
      </span>
    </label>
  );
}

export function EditDialog({ app, onClose, onDone }: Of & { onDone: (app: App) => void }) {
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const made = await send(UpdateAppDocument, inputOf(app.slug, readFields(event.currentTarget)));
    if (made !== null) onDone(made.app);
  };
  const faultAt = (name: string) => (fault?.field === `input.${name}` ? fault.message : null);
  const [at_name, at_category, at_url] = [faultAt('name'), faultAt('category'), faultAt('url')];
  return (
    <Dialog
      title={`Edit ${app.slug}`}
      note="Calls name it in svc.app or x-svc-app."
      size={480}
      onClose={onClose}
    >
      <form className="app-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Name"
          name="name"
          maxLength={120}
          defaultValue={app.name}
          fault={at_name}
          autoComplete="off"
          data-autofocus
        />
        <TextField
          label="Category"
          name="category"
          maxLength={40}
          placeholder="productivity"
          hint="Rankings can be narrowed to it. Kept in small letters."
          defaultValue={app.category ?? ''}
          fault={at_category}
          autoComplete="off"
        />
        <TextField
          label="Address"
          name="url"
          type="url"
          maxLength={2048}
          placeholder="https://"
          defaultValue={app.url ?? ''}
          fault={at_url}
          autoComplete="off"
        />
        <PublicField value={app.public} />
        <FormFault fault={(at_name ?? at_category ?? at_url) === null ? fault : null} />
        <DialogFoot onClose={onClose} busy={busy}>
          Save changes
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function BadgeDialog({ app, base_url, onClose }: Of & { base_url: string }) {
  return (
    <Dialog
      title={`Badge of ${app.name}`}
      note="An image with the tokens of 30 days. Paste it into a README."
      onClose={onClose}
    >
      <div className="app-form">
        <Code code={badgeSnippet(app, { base_url, origin: window.location.origin })} what="the badge" />
        <div className="dialog-foot">
          <Button onClick={onClose} data-autofocus>
            Close
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
