// Proposes an exchange rate of a day, beside what it was on the last days; a second person confirms it.
import { type FormEvent, useState } from 'react';
import { ProposeRatesDocument, type StaffRatesQuery } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { dateText } from '../../../ui/format/time.ts';
import { FormFault } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { historyOf, proposedRows, ratesOf, rateText } from './words.ts';

type Days = NonNullable<StaffRatesQuery['fxRates']>['days'];
const SHOWN = 5;

function LastDays({ rows }: { rows: ReturnType<typeof historyOf> }) {
  return (
    <Table name="The last days">
      <Columns
        of={['Day', { name: 'For one US dollar', className: 'n' }, { name: 'Change', className: 'n' }]}
      />
      <tbody>
        {rows.map(({ day, rate, change, waits }) => (
          <tr key={`${day} ${rate} ${waits}`}>
            <td>{dateText(day)}</td>
            <td className="n">{rateText(rate)}</td>
            <td className="n">{change}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** A fault of the server at the field that it names. */
const atField = (field: string | null | undefined, name: string) => (field ?? '').split('.').includes(name);

export function RatesDialog(props: { days: Days; onClose: () => void; onDone: (said: string) => void }) {
  const { days, onClose, onDone } = props;
  const currencies = (days[0]?.rates ?? []).map(({ currency }) => currency).filter((one) => one !== 'USD');
  const [form, setForm] = useState({
    ...{ currency: currencies[0] ?? 'INR', day: new Date().toISOString().slice(0, 10) },
    ...{ rate: '', source: '', reason: '' },
  });
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const { send, busy, fault, setFault } = useSend();
  const bound = (name: keyof typeof form) => ({
    ...{ name, value: form[name], autoComplete: 'off' },
    fault: wrong[name] ?? (fault && atField(fault.field, name) ? fault.message : null),
    onChange: ({ target }: { target: { value: string } }) => {
      setForm({ ...form, [name]: target.value });
      setWrong({});
      setFault(null);
    },
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { faults, input } = ratesOf(form);
    setWrong(faults);
    if (Object.keys(faults).length > 0) return;
    const done = await send(ProposeRatesDocument, input);
    if (done !== null) onDone(`The rate of ${form.currency} waits under Approvals for a second person.`);
  };
  const placed = (['day', 'rate', 'source', 'reason'] as const).some((name) => atField(fault?.field, name));
  const rows = proposedRows(historyOf(days, form.currency), form).slice(0, SHOWN);
  return (
    <Dialog
      title="Propose an exchange rate"
      note="Other currencies stay as they are. A day that is in force is never changed. Somebody else confirms it."
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={(event) => void submit(event)} noValidate>
        <div className="batch-pair">
          <SelectField label="Currency" {...bound('currency')} data-autofocus>
            {currencies.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </SelectField>
          <TextField label="Day" type="date" {...bound('day')} />
        </div>
        <TextField label="For one US dollar" inputMode="decimal" {...bound('rate')} />
        <LastDays rows={rows} />
        <TextField label="Where it comes from" maxLength={200} {...bound('source')} />
        <TextField label="Reason" maxLength={500} hint="Stands in the audit log." {...bound('reason')} />
        <FormFault fault={placed ? null : fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Propose it
        </DialogFoot>
      </form>
    </Dialog>
  );
}
