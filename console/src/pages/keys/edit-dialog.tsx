// Editing a key: name, scopes, budget and limits. Its secret stays as it is.
import { type FormEvent, useState } from 'react';
import {
  type KeyRowFragment,
  type Scope,
  UpdateKeyDocument,
  type UpdateKeyInput,
} from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { LimitFields } from '../budgets/limit-fields.tsx';
import { changesOf, dollarsOf, type KeyFaults } from './changes.ts';
import { ScopeChoice, toggled } from './scope-choice.tsx';

function useUpdate(onDone: (row: KeyRowFragment) => void) {
  const { send, busy, fault } = useSend();
  const update = async (input: UpdateKeyInput) => {
    const done = await send(UpdateKeyDocument, input);
    if (done !== null) onDone(done.key);
  };
  return { update, busy, fault };
}

function BudgetAndLimits({ row, faults }: { row: KeyRowFragment; faults: KeyFaults }) {
  return (
    <>
      <TextField
        label="Daily budget"
        name="budget"
        inputMode="decimal"
        placeholder="no limit"
        hint="US dollars a day, UTC."
        defaultValue={dollarsOf(row.budget.dailyMicro)}
        autoComplete="off"
        fault={faults.budget ?? null}
      />
      <label className="check">
        <input type="checkbox" name="hard" defaultChecked={row.budget.hard} />
        <span>
          Stop calls when the budget is spent <span className="faint">otherwise you are only warned</span>
        </span>
      </label>
      <LimitFields placeholder="as the plan" values={row.limits} faults={faults} />
    </>
  );
}

function readForm(row: KeyRowFragment, form: FormData, chosen: ReadonlySet<Scope>) {
  const text = (name: string) => String(form.get(name) ?? '');
  const fields = {
    ...{ name: text('name'), budget: text('budget'), hard: form.get('hard') !== null },
    ...{ rpm: text('rpm'), tpm: text('tpm'), concurrency: text('concurrency') },
  };
  return changesOf(row, fields, chosen);
}

export function EditKeyDialog({
  row,
  onClose,
  onDone,
}: {
  row: KeyRowFragment;
  onClose: () => void;
  onDone: (row: KeyRowFragment) => void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(row.scopes));
  const [faults, setFaults] = useState<KeyFaults>({});
  const { update, busy, fault } = useUpdate(onDone);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const read = readForm(row, new FormData(event.currentTarget), chosen);
    setFaults(read.faults);
    if (Object.keys(read.faults).length > 0) return;
    if (Object.keys(read.patch).length === 0) return onClose();
    void update({ id: row.id, ...read.patch });
  };
  return (
    <Dialog
      title={`Edit ${row.name}`}
      note="Its secret stays the same. Changes are in force within a second."
      size={480}
      onClose={onClose}
    >
      <form className="key-form" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          name="name"
          defaultValue={row.name}
          autoComplete="off"
          maxLength={120}
          fault={faults.name ?? null}
          data-autofocus
        />
        <ScopeChoice
          chosen={chosen}
          onToggle={(scope) => setChosen((before) => toggled(before, scope))}
          fault={faults.scopes}
        />
        <BudgetAndLimits row={row} faults={faults} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Save changes
        </DialogFoot>
      </form>
    </Dialog>
  );
}
