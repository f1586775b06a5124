// Saved views: opening one, saving what is asked now, renaming and deleting one.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import {
  CreateUsageViewDocument,
  DeleteUsageViewDocument,
  UpdateUsageViewDocument,
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

interface NameProps {
  /** The view that is renamed; null for a new one of what `search` asks. */
  readonly view: View | null;
  readonly search: UsageSearch;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function NameDialog({ view, search, onClose, onDone }: NameProps) {
  const { send, sendOnce, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const said = { name: String(data.get('name') ?? '').trim(), shared: data.get('shared') !== null };
    const done =
      view === null
        ? await sendOnce(CreateUsageViewDocument, { ...said, query: queryOf(search) })
        : await send(UpdateUsageViewDocument, { ...said, id: view.id });
    if (done !== null) onDone();
  };
  const at_name = fault?.field === 'input.name' ? fault.message : null;
  return (
    <Dialog
      title={view === null ? 'Save this view' : `Change ${view.name}`}
      note="It keeps what is asked, not the figures."
      size={440}
      onClose={onClose}
    >
      <form className="view-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Name"
          name="name"
          maxLength={80}
          defaultValue={view?.name}
          fault={at_name}
          autoComplete="off"
          data-autofocus
        />
        <label className="check">
          <input type="checkbox" name="shared" defaultChecked={view?.shared} />
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
  const [doing, setDoing] = useState<'save' | 'change' | 'delete' | null>(null);
  const views = data?.usageViews ?? [];
  const asked = queryOf(search);
  const current = views.find(({ query }) => queryOf(searchOf(query)) === asked);
  const close = () => setDoing(null);
  const done = () => {
    close();
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
      {current?.changeable && (
        <>
          <Button onClick={() => setDoing('change')}>Change view</Button>
          <Button onClick={() => setDoing('delete')}>Delete view</Button>
        </>
      )}
      {doing === 'save' && <NameDialog view={null} search={search} onClose={close} onDone={done} />}
      {doing === 'change' && current && (
        <NameDialog view={current} search={search} onClose={close} onDone={done} />
      )}
      {doing === 'delete' && current && <DeleteDialog view={current} onClose={close} onDone={done} />}
    </>
  );
}
