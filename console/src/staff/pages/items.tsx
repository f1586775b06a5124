// Staff items: what a person must look at, why, since when, and the act that ends it.
import { type FormEvent, useState } from 'react';
import { ResolveStaffItemDocument, type StaffItemRowFragment } from '../../api/gen/staff/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { IdText } from '../../ui/copy.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, useNow } from '../../ui/time.tsx';
import { To } from '../go.tsx';
import { useMay } from '../realm.ts';
import { ageOf, wordsOf } from './item-words.ts';

function ResolveDialog(props: { item: StaffItemRowFragment; onClose: () => void; onDone: () => void }) {
  const { item, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const { title, why } = wordsOf(item.kind);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const note = String(new FormData(event.currentTarget).get('note') ?? '').trim();
    const done = await send(ResolveStaffItemDocument, { id: item.id, note });
    if (done !== null) onDone();
  };
  const at_note = fault?.field?.endsWith('note') ? 'Say in one line what was found and done.' : null;
  return (
    <Dialog title={`Resolve: ${title}`} note={why} size={480} onClose={onClose}>
      <form className="dialog-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="What was found and done"
          name="note"
          maxLength={500}
          fault={at_note}
          hint="It stands in the audit log with your name. The item leaves the queue; no money moves by this."
          data-autofocus
          required
        />
        {at_note === null && <FormFault fault={fault} />}
        <DialogFoot onClose={onClose} busy={busy}>
          Resolve this item
        </DialogFoot>
      </form>
    </Dialog>
  );
}

/** What people call the organization and the payment that an item is about. */
const namesOf = ({ orgName, invoiceNumber }: StaffItemRowFragment) =>
  [orgName, invoiceNumber].map((name) => (name ? `${name}, ` : '')).join('');

function Details({ item }: { item: StaffItemRowFragment }) {
  return (
    <dl className="facts num">
      <div>
        <dt>about</dt>
        <dd className="mono">{item.subject}</dd>
      </div>
      {item.details.map(({ name, value }) => (
        <div key={name}>
          <dt>{name.replaceAll('_', ' ')}</dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Item(props: { item: StaffItemRowFragment; linked: boolean; onResolve: () => void }) {
  const { item, linked, onResolve } = props;
  const now = useNow();
  const may = useMay('finance');
  const { title, why, todo } = wordsOf(item.kind);
  return (
    <li className="item">
      <div className="item-head">
        <Status tone={item.inReview ? 'bad' : 'warn'} plain>
          {item.inReview ? 'in review' : 'open'}
        </Status>
        <h3>{title}</h3>
        <span className="sub">
          {namesOf(item)}
          waits {ageOf(item.createdAt, now)}, came <Time at={item.createdAt} />
        </span>
      </div>
      <p className="soft">
        {why} {todo}
      </p>
      <Details item={item} />
      <div className="row wrap">
        {linked && item.orgId && (
          <To
            className="btn"
            href={`/orgs/${item.orgId}`}
            aria-label={`Open the organization of ${item.subject}`}
          >
            Open the organization
          </To>
        )}
        {may && !item.inReview && (
          <Button onClick={onResolve} aria-label={`Resolve ${title} of ${item.subject}`}>
            Resolve…
          </Button>
        )}
        {item.topupId && <IdText id={item.topupId} />}
      </div>
    </li>
  );
}

/** Items, oldest first; `linked` shows the way to the organization of each. */
export function Items(props: {
  items: readonly StaffItemRowFragment[];
  linked: boolean;
  onChanged: () => void;
}) {
  const [open, setOpen] = useState<StaffItemRowFragment | null>(null);
  const done = () => {
    setOpen(null);
    props.onChanged();
  };
  return (
    <>
      <ul className="items">
        {props.items.map((item) => (
          <Item key={item.id} item={item} linked={props.linked} onResolve={() => setOpen(item)} />
        ))}
      </ul>
      {open && <ResolveDialog item={open} onClose={() => setOpen(null)} onDone={done} />}
    </>
  );
}
