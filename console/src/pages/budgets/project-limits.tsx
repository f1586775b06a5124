// What all keys of a project may call together, what is left of it now, and changing it.
import { type FormEvent, useState } from 'react';
import { type BudgetRowFragment, UpdateProjectDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { LimitCells, limitColumns } from './limit-cells.tsx';
import { LimitFields } from './limit-fields.tsx';
import { limitChanges, type RequestFaults } from './limits.ts';
import type { Limits } from './limits-card.tsx';

export function ProjectLimitsTable(props: {
  limits: Limits;
  rows: readonly BudgetRowFragment[];
  /** Null for who may not change them. */
  onEdit: ((row: BudgetRowFragment) => void) | null;
}) {
  const { limits, rows, onEdit } = props;
  const seen = new Map(limits.projects.map((one) => [one.projectId, one]));
  return (
    <Table name="Limits of projects" stacks>
      <Columns of={['Project', ...limitColumns]} />
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td className="budget-name">{row.name}</td>
            <LimitCells
              bounds={[row.limits, { rpm: limits.newOrg.rpm ?? null }, limits.plan]}
              live={seen.get(row.id)?.live ?? null}
            />
            <td className="n">
              {onEdit && (
                <Button onClick={() => onEdit(row)} aria-label={`Edit the limits of ${row.name}`}>
                  Edit
                </Button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

export function ProjectLimitsDialog(props: {
  row: BudgetRowFragment;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { row, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const [faults, setFaults] = useState<RequestFaults>({});
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    const read = limitChanges(row.limits, {
      ...{ rpm: text('rpm'), tpm: text('tpm'), concurrency: text('concurrency') },
    });
    setFaults(read.faults);
    if (Object.keys(read.faults).length > 0) return;
    if (Object.keys(read.changes).length === 0) return onClose();
    const done = await send(UpdateProjectDocument, { id: row.id, limits: read.changes });
    if (done !== null) onDone(`The limits of ${row.name} hold from now on.`);
  };
  return (
    <Dialog
      title={`Limits of ${row.name}`}
      note="Of all its keys together, beside those of each key and of your plan: the smallest holds."
      onClose={onClose}
    >
      <form className="budget-form" onSubmit={(event) => void submit(event)} noValidate>
        <LimitFields placeholder="no limit" values={row.limits} faults={faults} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Save limits
        </DialogFoot>
      </form>
    </Dialog>
  );
}
