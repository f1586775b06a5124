// What a top-up needs to know of an organisation before it can be paid: in India the state, which decides the tax;
// elsewhere the currency, for as long as nothing was paid.
import { useState } from 'react';
import {
  type BillingFactsFragment,
  UpdateBillingDocument,
  type UpdateBillingInput,
} from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { DialogFoot } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { states } from './states.ts';

const CURRENCIES = ['USD', 'EUR', 'GBP', 'SGD', 'AED', 'AUD', 'CAD', 'JPY'] as const;

/** Whether Indian tax law leaves the tax open: no state in the address, and no GSTIN, which names one. */
export function isStateMissing(org: BillingFactsFragment): boolean {
  if (org.billingCountry !== 'IN' || org.gstin) return false;
  const address = org.billingAddress as { state_code?: string } | null;
  return !address?.state_code;
}

function useBilling(id: string) {
  const { send, busy, fault } = useSend();
  /** Whether it was changed. */
  const save = async (change: Omit<UpdateBillingInput, 'id'>): Promise<boolean> =>
    (await send(UpdateBillingDocument, { id, ...change })) !== null;
  return { busy, fault, save };
}

function StateField({ value, onChange }: { value: string; onChange: (code: string) => void }) {
  return (
    <SelectField
      label="State"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      data-autofocus
    >
      <option value="">Choose a state</option>
      {states.map(([code, name]) => (
        <option key={code} value={code}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

/** Asks for the state, and for the GSTIN of who has one; `onSaved` when both are known. */
export function AddressForm({
  org,
  onSaved,
  onClose,
}: {
  org: BillingFactsFragment;
  onSaved: () => void;
  onClose: () => void;
}) {
  const [state, setState] = useState('');
  const [city, setCity] = useState('');
  const [gstin, setGstin] = useState('');
  const { busy, fault, save } = useBilling(org.id);
  const submit = async () => {
    const number = gstin.trim().toUpperCase();
    const saved = await save({
      billingAddress: { stateCode: state, ...(city.trim() === '' ? {} : { city: city.trim() }) },
      ...(number === '' ? {} : { gstin: number }),
    });
    if (saved) onSaved();
  };
  return (
    <form
      className="add-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (state !== '' && !busy) void submit();
      }}
    >
      <p className="soft">The state of the billing address decides the tax. It is asked once.</p>
      <StateField value={state} onChange={setState} />
      <TextField
        label="City"
        autoComplete="address-level2"
        value={city}
        onChange={(e) => setCity(e.target.value)}
      />
      <TextField
        label="GSTIN"
        hint="Only if the organization is registered for GST."
        autoComplete="off"
        value={gstin}
        onChange={(event) => setGstin(event.target.value)}
      />
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} busy={busy} disabled={state === ''}>
        Continue
      </DialogFoot>
    </form>
  );
}

/** Chooses the currency that is paid in; shown outside India, until the first paid top-up. */
export function CurrencyField({ org, onSaved }: { org: BillingFactsFragment; onSaved: () => void }) {
  const { busy, fault, save } = useBilling(org.id);
  const choose = async (billingCurrency: string) => {
    if (await save({ billingCurrency: billingCurrency as UpdateBillingInput['billingCurrency'] })) onSaved();
  };
  return (
    <>
      <SelectField
        label="Currency"
        hint="Fixed with the first payment."
        value={org.billingCurrency}
        disabled={busy}
        onChange={(event) => void choose(event.target.value)}
      >
        {CURRENCIES.map((currency) => (
          <option key={currency}>{currency}</option>
        ))}
      </SelectField>
      <FormFault fault={fault} />
    </>
  );
}
