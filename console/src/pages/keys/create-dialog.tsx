// Creating a key: a short form, then the secret, shown once.
import { type FormEvent, useState } from 'react';
import type { Scope } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { DialogFoot } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { microOf } from './budget.ts';
import { type NewKey, type NewKeyForm, useCreateKey, useProjects } from './create.ts';
import { ScopeChoice, toggled } from './scope-choice.tsx';
import { scopes } from './scopes.ts';
import { KeyDialog, type MakesKey } from './secret-dialog.tsx';

const expiries = [
  { value: '', name: 'Never' },
  { value: '24h', name: 'In a day' },
  { value: '720h', name: 'In 30 days' },
  { value: '2160h', name: 'In 90 days' },
  { value: '8760h', name: 'In a year' },
];

type Faults = { name?: string; scopes?: string; budget?: string };

/** What the form asks for, and what is wrong with it. */
function readForm(form: FormData, chosen: ReadonlySet<Scope>): { faults: Faults; input: NewKeyForm } {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const budget = text('budget');
  const daily = budget === '' ? null : microOf(budget);
  const faults = {
    ...(text('name') === '' ? { name: 'Give it a name, so that you know it again in lists and logs.' } : {}),
    ...(chosen.size === 0 ? { scopes: 'Choose at least one.' } : {}),
    ...(daily === undefined ? { budget: 'An amount in US dollars, like 25 or 0.50.' } : {}),
  };
  const input = {
    project_id: text('project'),
    name: text('name'),
    scopes: scopes.map(({ value }) => value).filter((value) => chosen.has(value)),
    ...(daily ? { budget: { dailyMicro: daily, hard: form.get('hard') !== null } } : {}),
    ...(text('expires') === '' ? {} : { expiresIn: text('expires') }),
  };
  return { faults, input };
}

function BudgetAndExpiry({ fault }: { fault: string | null }) {
  return (
    <>
      <div className="key-pair">
        <TextField
          label="Daily budget"
          name="budget"
          inputMode="decimal"
          placeholder="no limit"
          hint="US dollars a day, UTC."
          autoComplete="off"
          fault={fault}
        />
        <SelectField label="Expires" name="expires">
          {expiries.map(({ value, name }) => (
            <option value={value} key={value}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <label className="check">
        <input type="checkbox" name="hard" defaultChecked />
        <span>
          Stop calls when the budget is spent <span className="faint">otherwise you are only warned</span>
        </span>
      </label>
    </>
  );
}

function Form({ onMade, onClose }: { onMade: (made: NewKey) => void; onClose: () => void }) {
  const { env } = useOrg();
  const projects = useProjects();
  const { create, busy, fault } = useCreateKey();
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(['INFERENCE']));
  const [faults, setFaults] = useState<Faults>({});

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const read = readForm(new FormData(event.currentTarget), chosen);
    setFaults(read.faults);
    if (Object.keys(read.faults).length > 0) return;
    const made = await create(read.input);
    if (made !== null) onMade(made);
  };
  const toggle = (scope: Scope) => setChosen((before) => toggled(before, scope));

  return (
    <form className="key-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        label="Name"
        name="name"
        placeholder="backend-prod"
        hint="Shown in lists and logs."
        autoComplete="off"
        maxLength={120}
        fault={faults.name ?? (fault?.field?.endsWith('name') ? fault.message : null)}
        data-autofocus
      />
      <SelectField label="Project" name="project">
        {projects.map(({ id, name }) => (
          <option value={id} key={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <ScopeChoice chosen={chosen} onToggle={toggle} fault={faults.scopes} />
      <BudgetAndExpiry fault={faults.budget ?? null} />
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} busy={busy} disabled={projects.length === 0}>
        {env === 'sandbox' ? 'Create sandbox key' : 'Create key'}
      </DialogFoot>
    </form>
  );
}

export function CreateKeyDialog({ onClose, onMade, onUsed }: MakesKey) {
  const { env } = useOrg();
  const [made, setMade] = useState<NewKey | null>(null);
  return (
    <KeyDialog
      made={made}
      title={env === 'sandbox' ? 'Create a sandbox key' : 'Create a key'}
      onClose={onClose}
      onUsed={onUsed}
    >
      <Form
        onClose={onClose}
        onMade={(next) => {
          setMade(next);
          onMade();
        }}
      />
    </KeyDialog>
  );
}
