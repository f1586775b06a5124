// Editing what a project may spend in a month, and at which shares of it people are told.
import { type FormEvent, useState } from 'react';
import { useClient } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError } from '../../api/errors.ts';
import {
  type BudgetRowFragment,
  UpdateProjectDocument,
  type UpdateProjectInput,
} from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { dollarsOf } from '../keys/changes.ts';
import { type BudgetFaults, changesOf } from './changes.ts';

function useUpdate(onDone: () => void) {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const update = async (input: UpdateProjectInput) => {
    setBusy(true);
    setFault(null);
    const { data, error } = await client.mutation(UpdateProjectDocument, { input }).toPromise();
    setBusy(false);
    if (error) return setFault(faultOfQuery(error));
    if (data?.updateProject.__typename === 'UpdateProjectPayload') return onDone();
    if (data) setFault(faultOfUserError(data.updateProject));
  };
  return { update, busy, fault };
}

export function EditBudgetDialog(props: { row: BudgetRowFragment; onClose: () => void; onDone: () => void }) {
  const { row, onClose, onDone } = props;
  const { update, busy, fault } = useUpdate(onDone);
  const [faults, setFaults] = useState<BudgetFaults>({});
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    const read = changesOf(row, {
      ...{ budget: text('budget'), alerts: text('alerts') },
      hard: form.get('hard') !== null,
    });
    setFaults(read.faults);
    if (Object.keys(read.faults).length > 0) return;
    if (Object.keys(read.patch).length === 0) return onClose();
    void update({ id: row.id, ...read.patch });
  };
  return (
    <Dialog title={`Budget of ${row.name}`} onClose={onClose}>
      <form className="budget-form" onSubmit={submit} noValidate>
        <TextField
          label="Monthly budget"
          name="budget"
          inputMode="decimal"
          placeholder="no budget"
          hint="US dollars a month, UTC. All keys of the project together."
          defaultValue={dollarsOf(row.budget.monthlyMicro)}
          autoComplete="off"
          fault={faults.budget ?? null}
        />
        <label className="check">
          <input type="checkbox" name="hard" defaultChecked={row.budget.hard} />
          <span>
            Stop calls when the budget is spent <span className="faint">otherwise you are only warned</span>
          </span>
        </label>
        <TextField
          label="Warn at, percent"
          name="alerts"
          hint="Owners, admins and billing get a mail, webhooks an event, once each a month."
          defaultValue={row.alerts.join(', ')}
          autoComplete="off"
          fault={faults.alerts ?? null}
        />
        <FormFault fault={fault} />
        <div className="dialog-foot">
          <Button type="button" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" busy={busy}>
            Save budget
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
