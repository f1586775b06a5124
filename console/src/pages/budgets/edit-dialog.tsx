// Editing what a project may spend in a month or a key in a day, and at which shares of it people are written to.
import { type FormEvent, useState } from 'react';
import { UpdateKeyBudgetDocument, UpdateProjectDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { dollarsOf } from '../keys/changes.ts';
import { type Budget, type BudgetFaults, changesOf } from './changes.ts';

/** A project or key, and its budget. */
export interface Budgeted extends Budget {
  readonly kind: 'project' | 'key';
  readonly id: string;
  readonly name: string;
}

type Patch = ReturnType<typeof changesOf>['patch'];

function budgetIn<T extends string>({ micro, hard }: Patch, member: T) {
  if (micro === undefined && hard === undefined) return {};
  const amount = (micro === undefined ? {} : { [member]: micro }) as { [K in T]?: string | null };
  return { budget: { ...amount, ...(hard === undefined ? {} : { hard }) } };
}

function useUpdate({ kind, id }: Budgeted, onDone: () => void) {
  const { send, busy, fault } = useSend();
  const update = async (patch: Patch) => {
    const alerts = patch.alerts === undefined ? {} : { alerts: patch.alerts };
    const done =
      kind === 'project'
        ? await send(UpdateProjectDocument, { id, ...budgetIn(patch, 'monthlyMicro'), ...alerts })
        : await send(UpdateKeyBudgetDocument, { id, ...budgetIn(patch, 'dailyMicro'), ...alerts });
    if (done !== null) onDone();
  };
  return { update, busy, fault };
}

const words = {
  project: {
    label: 'Monthly budget',
    hint: 'US dollars a month, UTC. All keys of the project together.',
    once: 'once each a month',
  },
  key: {
    label: 'Daily budget',
    hint: 'US dollars a day, UTC. A rotated key goes on in the budget of the one before.',
    once: 'once each a day',
  },
} as const;

function Fields({ budgeted, faults }: { budgeted: Budgeted; faults: BudgetFaults }) {
  const { label, hint, once } = words[budgeted.kind];
  return (
    <>
      <TextField
        label={label}
        name="budget"
        inputMode="decimal"
        placeholder="no budget"
        hint={hint}
        defaultValue={dollarsOf(budgeted.micro)}
        autoComplete="off"
        fault={faults.budget ?? null}
      />
      <label className="check">
        <input type="checkbox" name="hard" defaultChecked={budgeted.hard} />
        <span>
          Stop calls when the budget is spent <span className="faint">otherwise you are only warned</span>
        </span>
      </label>
      <TextField
        label="Warn at, percent"
        name="alerts"
        hint={`Owners, admins and billing get a mail, webhooks an event, ${once}.`}
        defaultValue={budgeted.alerts.join(', ')}
        autoComplete="off"
        fault={faults.alerts ?? null}
      />
    </>
  );
}

export function EditBudgetDialog(props: { budgeted: Budgeted; onClose: () => void; onDone: () => void }) {
  const { budgeted, onClose, onDone } = props;
  const { update, busy, fault } = useUpdate(budgeted, onDone);
  const [faults, setFaults] = useState<BudgetFaults>({});
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    const read = changesOf(budgeted, {
      ...{ budget: text('budget'), alerts: text('alerts') },
      hard: form.get('hard') !== null,
    });
    setFaults(read.faults);
    if (Object.keys(read.faults).length > 0) return;
    if (Object.keys(read.patch).length === 0) return onClose();
    void update(read.patch);
  };
  return (
    <Dialog title={`Budget of ${budgeted.name}`} onClose={onClose}>
      <form className="budget-form" onSubmit={submit} noValidate>
        <Fields budgeted={budgeted} faults={faults} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Save budget
        </DialogFoot>
      </form>
    </Dialog>
  );
}
