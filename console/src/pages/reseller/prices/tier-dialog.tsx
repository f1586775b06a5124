// Making or changing a tier: what models would cost is shown while the markup is typed, before anything is saved.
import { type FormEvent, useDeferredValue, useState } from 'react';
import {
  ResaleCreateTierDocument,
  type ResaleTierFragment,
  ResaleUpdateTierDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { plural } from '../../../ui/format/numbers.ts';
import { FormFault } from '../../../ui/states.tsx';
import { bpsOf, percentText } from '../words.ts';
import { PricesTable } from './table.tsx';

const NO_MARKUP = 'A share from 0 to 100 %, with at most two places, like 12.5.';

/** The prices at a markup that is being typed; those of the last good one while it is none. */
function Preview({ bps }: { bps: number }) {
  const [q, setQ] = useState('');
  const asked = useDeferredValue(q.trim());
  return (
    <>
      <TextField
        label="Prices at this markup of models with"
        placeholder="openai/gpt"
        hint="US dollars per million tokens. Nothing is saved yet."
        value={q}
        maxLength={120}
        autoComplete="off"
        onChange={(event) => setQ(event.target.value)}
      />
      <div className="resale-prices">
        <PricesTable bps={bps} q={asked} />
      </div>
    </>
  );
}

export function TierDialog(props: {
  tier: ResaleTierFragment | null;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { tier, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const [name, setName] = useState(tier?.name ?? '');
  const [typed, setTyped] = useState(tier === null ? '' : percentText(tier.markupBps).replace(' %', ''));
  const [faults, setFaults] = useState({ name: false, markup: false });
  const markupBps = bpsOf(typed);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setFaults({ name: name.trim() === '', markup: markupBps === null });
    if (markupBps === null || name.trim() === '') return;
    const input = { name: name.trim(), markupBps };
    const made =
      tier === null
        ? await send(ResaleCreateTierDocument, input)
        : await send(ResaleUpdateTierDocument, { id: tier.id, ...input });
    if (made !== null) onDone(`${input.name} is ${percentText(markupBps)} above catalog prices.`);
  };
  const whom = tier !== null && tier.customers > 0 ? plural(tier.customers, 'customer') : 'Its customers';
  return (
    <Dialog
      title={tier === null ? 'New tier' : `Change ${tier.name}`}
      note={`${whom} pay it for calls that begin after it is saved. What you earn of it is the part that was paid for, or given by you.`}
      size={680}
      onClose={onClose}
    >
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Name"
          maxLength={120}
          autoComplete="off"
          value={name}
          fault={faults.name ? 'A tier has a name.' : null}
          onChange={(event) => setName(event.target.value)}
          data-autofocus
        />
        <TextField
          label="Above catalog prices, percent"
          inputMode="decimal"
          autoComplete="off"
          value={typed}
          fault={faults.markup && markupBps === null ? NO_MARKUP : null}
          hint="12.5 makes $2.50 cost a customer $2.8125, rounded to $2.813."
          onChange={(event) => setTyped(event.target.value)}
        />
        <Preview bps={useDeferredValue(markupBps ?? tier?.markupBps ?? 0)} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          {tier === null ? 'Make the tier' : 'Save'}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
