// Saved views: opening one, saving what is asked now, and deleting one.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import {
  CreateUsageViewDocument,
  DeleteUsageViewDocument,
  UsageViewsDocument,
  type ViewRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Choice } from '../requests/filters.tsx';
import { queryOf, searchOf, type UsageSearch } from './wanted.ts';

type View = ViewRowFragment;

function SaveDialog(props: { search: UsageSearch; onClose: () => void; onDone: (view: View) => void }) {
  const { search, onClose, onDone } = props;
  const { sendOnce, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const made = await sendOnce(CreateUsageViewDocument, {
      name: String(data.get('name') ?? '').trim(),
      shared: data.get('shared') !== null,
      query: queryOf(search),
    });
    if (made !== null) onDone(made.view);
  };
  const at_name = fault?.field === 'input.name' ? fault.message : null;
  return (
    <Dialog
      title="Save this view"
      note="It keeps what is asked, not the figures."
      size={440}
      onClose={onClose}
    >
      <form className="view-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Name"
          name="name"
          maxLength={80}
          fault={at_name}
          autoComplete="off"
          data-autofocus
        />
        <label className="check">
          <input type="checkbox" name="shared" />
          <span>Show it to everybody of the organisation</span>
        </label>
        <FormFault fault={at_name === null ? fault : null} />
        <DialogFoot onClose={onClose} busy={busy}>
          Save view
        </DialogFoot>
      </form>
    </Dialog>
  );
}

function DeleteDialog({ view, onClose, onDone }: { view: View; onClose: () => void; onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const press = async () => {
    if ((await send(DeleteUsageViewDocument, { id: view.id })) !== null) onDone();
  };
  return (
    <Dialog
      title={`Delete ${view.name}?`}
      note={view.shared ? 'Everybody of the organisation sees it.' : 'You alone see it.'}
      size={440}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot kind="danger" cautious onClose={onClose} busy={busy} onPress={() => void press()}>
        Delete view
      </DialogFoot>
    </Dialog>
  );
}

/** Views by name; the one that is asked now is chosen, and what is asked otherwise can be saved. */
export function Views({ search, open }: { search: UsageSearch; open: (search: UsageSearch) => void }) {
  const [{ data }, again] = useQuery({ query: UsageViewsDocument, requestPolicy: 'cache-and-network' });
  const [doing, setDoing] = useState<'save' | 'delete' | null>(null);
  const views = data?.usageViews ?? [];
  const asked = queryOf(search);
  const current = views.find(({ query }) => queryOf(searchOf(query)) === asked);
  const done = () => {
    setDoing(null);
    again({ requestPolicy: 'network-only' });
  };
  return (
    <>
      {views.length > 0 && (
        <Choice
          name="Saved views"
          all="Saved views"
          value={current?.id}
          onChange={(id) => {
            const view = views.find((one) => one.id === id);
            if (view !== undefined) open(searchOf(view.query));
          }}
        >
          {views.map(({ id, name, shared }) => ({ value: id, name: shared ? `${name} (shared)` : name }))}
        </Choice>
      )}
      {current === undefined && <Button onClick={() => setDoing('save')}>Save view</Button>}
      {current?.changeable && <Button onClick={() => setDoing('delete')}>Delete view</Button>}
      {doing === 'save' && <SaveDialog search={search} onClose={() => setDoing(null)} onDone={done} />}
      {doing === 'delete' && current && (
        <DeleteDialog view={current} onClose={() => setDoing(null)} onDone={done} />
      )}
    </>
  );
}
