// The form of an endpoint: its address, words about it, and the events it gets.
import { type FormEvent, useState } from 'react';
import type { WebhookRowFragment } from '../../api/gen/tools/graphql.ts';
import { DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { EventsChoice } from './events-choice.tsx';

export interface EndpointInput {
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
}

interface Fault {
  readonly message: string;
  readonly field?: string | null | undefined;
}

type FormFaultOf = Parameters<typeof FormFault>[0]['fault'];

export function EndpointForm(props: {
  row: Pick<WebhookRowFragment, 'url' | 'description' | 'events'> | null;
  button: string;
  busy: boolean;
  fault: FormFaultOf;
  onClose: () => void;
  onSend: (input: EndpointInput) => void;
}) {
  const { row, button, busy, fault, onClose, onSend } = props;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(row?.events ?? ['*']));
  const [missing, setMissing] = useState({ url: false, events: false });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const url = String(form.get('url') ?? '').trim();
    setMissing({ url: url === '', events: chosen.size === 0 });
    if (url === '' || chosen.size === 0) return;
    onSend({ url, description: String(form.get('description') ?? '').trim(), events: [...chosen] });
  };
  const refused = (fault as Fault | null)?.field?.endsWith('url') === true;
  const of_url = refused ? ((fault as Fault).message ?? null) : null;
  return (
    <form className="webhook-form" onSubmit={submit} noValidate>
      <TextField
        label="Address"
        name="url"
        type="url"
        placeholder="https://example.com/hooks/svc"
        hint="A public https address on port 443 or 8443."
        autoComplete="off"
        maxLength={2_048}
        defaultValue={row?.url}
        fault={missing.url ? 'Give the address that is called.' : of_url}
        data-autofocus
      />
      <TextField
        label="Words about it"
        name="description"
        placeholder="billing"
        autoComplete="off"
        maxLength={500}
        defaultValue={row?.description}
      />
      <EventsChoice
        chosen={chosen}
        onChoose={setChosen}
        fault={missing.events ? 'Choose at least one.' : null}
      />
      <FormFault fault={of_url === null ? fault : null} />
      <DialogFoot onClose={onClose} busy={busy}>
        {button}
      </DialogFoot>
    </form>
  );
}
