// Whom mails to customers come from: a domain of the reseller, once its two records are published.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  ResaleDeleteMailDocument,
  type ResaleDeleteMailMutation,
  ResaleMailDocument,
  ResaleSetMailDocument,
  ResaleVerifyMailDocument,
  type ResaleVerifyMailMutation,
  type ShopSenderFragment,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { holds } from '../views.ts';
import { DnsRecord } from './record.tsx';

type Sender = ShopSenderFragment;
/** Mutations that say nothing have no input; what is sent with them is not read. */
type Bare<Data> = TypedDocumentNode<Data, { input: object }>;
const verify = ResaleVerifyMailDocument as unknown as Bare<ResaleVerifyMailMutation>;
const remove = ResaleDeleteMailDocument as unknown as Bare<ResaleDeleteMailMutation>;

const states = {
  VERIFIED: { tone: 'ok', text: 'mails come from it' },
  PENDING: { tone: 'warn', text: 'records are not seen yet' },
  FAILED: { tone: 'bad', text: 'records are gone: mails come from our address again' },
} as const;

function SenderFacts(props: { sender: Sender; may: boolean; onChanged: () => void; onRemove: () => void }) {
  const { sender, may, onChanged, onRemove } = props;
  const { send, busy, fault } = useSend();
  const press = async () => {
    if ((await send(verify, {})) !== null) onChanged();
  };
  const { tone, text } = states[sender.status];
  return (
    <div className="shop-domain">
      <div className="row wrap">
        <strong className="mono">{sender.from}</strong>
        <Status tone={tone}>{text}</Status>
        {may && (
          <span className="resale-acts">
            <Button busy={busy} onClick={() => void press()}>
              Verify the sender
            </Button>
            <Button onClick={onRemove}>Remove the sender…</Button>
          </span>
        )}
      </div>
      {[sender.dkim, sender.returnPath].map((record) => (
        <div key={record.host}>
          <DnsRecord {...record} />
          <Status tone={record.verified ? 'ok' : 'mute'}>{record.verified ? 'published' : 'not seen'}</Status>
        </div>
      ))}
      <FormFault fault={fault} />
    </div>
  );
}

function SenderForm({ onSet }: { onSet: () => void }) {
  const { send, busy, fault } = useSend();
  const field = fault?.field?.replace(/^input\./, '') ?? '';
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    if (
      (await send(ResaleSetMailDocument, { domain: text('domain'), fromLocal: text('fromLocal') })) !== null
    )
      onSet();
  };
  return (
    <form className="shop-add" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        label="Name before the @"
        name="fromLocal"
        placeholder="billing"
        maxLength={64}
        autoComplete="off"
        fault={field === 'fromLocal' ? (fault?.message ?? null) : null}
      />
      <TextField
        label="Domain of the sender"
        name="domain"
        placeholder="mail.acme.example"
        maxLength={253}
        autoComplete="off"
        fault={field === 'domain' ? (fault?.message ?? null) : null}
      />
      <Button type="submit" busy={busy}>
        Set the sender
      </Button>
      <FormFault fault={['fromLocal', 'domain'].includes(field) ? null : fault} />
    </form>
  );
}

function RemoveDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const press = async () => {
    if ((await send(remove, {})) !== null) onDone();
  };
  return (
    <Dialog
      title="Remove the sender?"
      note="Mails to your customers come from our address again. The key that signs them is deleted."
      size={460}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot kind="danger" cautious onClose={onClose} busy={busy} onPress={() => void press()}>
        Remove
      </DialogFoot>
    </Dialog>
  );
}

export function MailCard() {
  const may = holds(useOrg(), 'storefront.write');
  const [{ data, error }, query] = useQuery({
    query: ResaleMailDocument,
    requestPolicy: 'cache-and-network',
  });
  const [removing, setRemoving] = useState(false);
  const again = () => query({ requestPolicy: 'network-only' });
  const sender = data?.reseller?.mail;
  const done = () => {
    setRemoving(false);
    again();
  };
  return (
    <Card
      title="Sender of mails"
      note={sender === null ? 'Mails to your customers come from our address.' : undefined}
    >
      {error && !data && <ErrorBox fault={faultOfQuery(error)} onRetry={again} />}
      {sender && (
        <SenderFacts sender={sender} may={may} onChanged={again} onRemove={() => setRemoving(true)} />
      )}
      {data && may && !sender && <SenderForm onSet={again} />}
      {removing && <RemoveDialog onClose={() => setRemoving(false)} onDone={done} />}
    </Card>
  );
}
