// Changes a plan for everybody: typed, read once more with what it means for how many, then saved.
import { type FormEvent, useState } from 'react';
import { SetPlanDocument, type SheetPlanFragment } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { dateText } from '../../../ui/format/time.ts';
import { FormFault } from '../../../ui/states.tsx';
import {
  effectsOf,
  formOf,
  hasFee,
  limitFields,
  monthsFrom,
  type PlanFaults,
  type PlanForm,
  planChangeOf,
  type Sheet,
} from './form.ts';

interface Typed {
  readonly form: PlanForm;
  readonly faults: PlanFaults;
  readonly onChange: (form: PlanForm) => void;
}

/** The properties of a field of the form. */
function bound({ form, faults, onChange }: Typed, name: keyof PlanForm) {
  return {
    ...{ name, value: form[name], fault: faults[name] ?? null, autoComplete: 'off' },
    onChange: ({ target }: { target: { value: string } }) => onChange({ ...form, [name]: target.value }),
  };
}

function FeeFields({ typed, months }: { typed: Typed; months: readonly string[] }) {
  return (
    <>
      <div className="batch-pair">
        <TextField
          label="Fee of a month, dollars"
          inputMode="decimal"
          data-autofocus
          {...bound(typed, 'monthlyMinor')}
        />
        <TextField label="Included credit, dollars" inputMode="decimal" {...bound(typed, 'includedMicro')} />
      </div>
      <div className="batch-pair">
        <TextField label="Days of grace" inputMode="numeric" {...bound(typed, 'graceDays')} />
        <SelectField label="From" hint="Of fee, credit and grace." {...bound(typed, 'from')}>
          {months.map((month) => (
            <option key={month} value={month}>
              {dateText(month)}
            </option>
          ))}
        </SelectField>
      </div>
    </>
  );
}

function Fields({
  plan,
  typed,
  months,
}: {
  plan: SheetPlanFragment;
  typed: Typed;
  months: readonly string[];
}) {
  return (
    <>
      {hasFee(plan) && <FeeFields typed={typed} months={months} />}
      <div className="plan-limits">
        {(Object.keys(limitFields) as (keyof typeof limitFields)[]).map((name) => (
          <TextField
            key={name}
            label={limitFields[name]}
            inputMode="numeric"
            placeholder="no limit"
            {...bound(typed, name)}
          />
        ))}
      </div>
      <TextField label="Name" maxLength={60} {...bound(typed, 'name')} />
      <TextField label="Description" maxLength={200} {...bound(typed, 'description')} />
      {plan.id !== 'PAYG' && (
        <SelectField label="Customers can choose it" {...bound(typed, 'public')}>
          <option value="yes">yes</option>
          <option value="no">no, staff alone put an organization on it</option>
        </SelectField>
      )}
      <TextField label="Reason" maxLength={500} hint="Stands in the audit log." {...bound(typed, 'reason')} />
    </>
  );
}

function useChange(sheet: Sheet, plan: SheetPlanFragment, onDone: (said: string) => void) {
  const used = (sheet.onPlans.find(({ planId }) => planId === plan.id)?.orgs ?? 0) > 0;
  const months = monthsFrom(sheet, { used });
  const [form, setForm] = useState(() => formOf(plan, monthsFrom(sheet, { used: true })[0] ?? sheet.period));
  const [faults, setFaults] = useState<PlanFaults>({});
  const [reading, setReading] = useState(false);
  const { send, busy, fault, setFault } = useSend();
  const { faults: wrong, input } = planChangeOf(plan, form);
  const read = () => {
    setFaults(wrong);
    setFault(null);
    setReading(input !== null);
  };
  const save = async () => {
    if (input === null) return;
    const done = await send(SetPlanDocument, input);
    if (done === null) setReading(false);
    else onDone(`Plan ${plan.name} is changed.`);
  };
  // What the server refuses is told at its field, where the form has one.
  const field = fault?.field?.split('.').at(-1) as keyof PlanForm | undefined;
  const at_field = fault !== null && field !== undefined && field in form;
  const all = at_field ? { ...faults, [field]: fault.message } : faults;
  const onChange = (next: PlanForm) => {
    setForm(next);
    setFaults({});
    setFault(null);
  };
  const typed: Typed = { form, faults: all, onChange };
  return { typed, months, input, reading, setReading, read, save, busy, fault: at_field ? null : fault };
}

export function ChangePlanDialog(props: {
  sheet: Sheet;
  plan: SheetPlanFragment;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { sheet, plan, onClose, onDone } = props;
  const { typed, months, input, reading, setReading, read, save, busy, fault } = useChange(
    sheet,
    plan,
    onDone,
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    read();
  };
  if (reading && input !== null) {
    return (
      <Dialog title={`Change ${plan.name}: read it once more`} onClose={() => setReading(false)}>
        <div className="dialog-form">
          <ul className="plan-effects" aria-label="What changes">
            {effectsOf(sheet, plan, input).map((effect) => (
              <li key={effect}>{effect}</li>
            ))}
          </ul>
          <div className="dialog-foot">
            <Button onClick={() => setReading(false)}>Back</Button>
            <Button kind="primary" busy={busy} onClick={() => void save()} data-autofocus>
              Save the change
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title={`Change ${plan.name}`}
      note="For everybody on it. Limits and words hold at once, a fee from the beginning of a month on."
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        <Fields plan={plan} typed={typed} months={months} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Read what changes
        </DialogFoot>
      </form>
    </Dialog>
  );
}
