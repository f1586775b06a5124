// In which name the reseller sells: what stands on the invoices of its customers.
import { type FormEvent, useState } from 'react';
import { ResaleSetInvoicingDocument, type SellerFactsFragment } from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { AreaField, TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';

type Seller = SellerFactsFragment;
const LINES = [
  { name: 'stateCode', label: 'State', hint: 'Two digits of GST, as 29 for Karnataka.' },
  { name: 'gstin', label: 'GSTIN', hint: 'Empty: not registered, and documents are receipts without tax.' },
  { name: 'pan', label: 'PAN', hint: 'Follows from the GSTIN.' },
  { name: 'lut', label: 'Letter of undertaking', hint: 'Its number; exports are then without tax.' },
  { name: 'sac', label: 'Service accounting code', hint: '' },
  { name: 'email', label: 'E-mail on invoices', hint: '' },
  { name: 'website', label: 'Website on invoices', hint: '' },
  {
    name: 'series',
    label: 'Series',
    hint: 'One to three letters and digits: NWC makes NWC/26-27/00001. It can change until a document of the year has it.',
  },
] as const;
const KNOWN: readonly string[] = ['legalName', 'address', ...LINES.map(({ name }) => name)];

function askedOf(form: FormData) {
  const text = (member: string) => String(form.get(member) ?? '').trim();
  const orNull = (member: string) => text(member) || null;
  return {
    legalName: text('legalName'),
    address: text('address')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    ...{ stateCode: text('stateCode'), series: text('series').toUpperCase() },
    ...{ gstin: orNull('gstin'), pan: orNull('pan'), lut: orNull('lut'), sac: orNull('sac') },
    ...{ email: orNull('email'), website: orNull('website') },
    enabled: form.get('enabled') !== null,
  };
}

function Fields({ seller, faults }: { seller: Seller | null; faults: ReadonlyMap<string, string> }) {
  return (
    <>
      <TextField
        label="Name of the company"
        name="legalName"
        defaultValue={seller?.legalName ?? ''}
        maxLength={200}
        autoComplete="off"
        fault={faults.get('legalName') ?? null}
      />
      <AreaField
        label="Address"
        name="address"
        rows={4}
        defaultValue={seller?.address.join('\n') ?? ''}
        hint="As on the documents, one to six lines."
        fault={faults.get('address') ?? null}
      />
      {LINES.map(({ name, label, hint }) => (
        <TextField
          key={name}
          {...{ name, label, hint: hint === '' ? undefined : hint }}
          defaultValue={seller?.[name] ?? (name === 'sac' ? '998315' : '')}
          maxLength={200}
          autoComplete="off"
          fault={faults.get(name) ?? null}
        />
      ))}
      <label className="check">
        <input type="checkbox" name="enabled" defaultChecked={seller?.enabled ?? true} />
        <span>Sell to customers in this name</span>
      </label>
    </>
  );
}

export function SellerForm({
  seller,
  may,
  onSaved,
}: {
  seller: Seller | null;
  may: boolean;
  onSaved: () => void;
}) {
  const { send, busy, fault } = useSend();
  const [said, setSaid] = useState('');
  const field = fault?.field?.replace(/^input\./, '').replace(/^address.*/, 'address') ?? '';
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSaid('');
    const asked = askedOf(new FormData(event.currentTarget));
    if ((await send(ResaleSetInvoicingDocument, asked)) === null) return;
    setSaid(
      asked.enabled ? 'Saved. Your customers buy from you.' : 'Saved. Your customers buy from the service.',
    );
    onSaved();
  };
  return (
    <Card title="Who sells" note={<span role="status">{said}</span>}>
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <p className="resale-note">
          What your customers pay from then on is invoiced in your name and your numbers. The tax on it is
          yours to declare.
        </p>
        <fieldset className="shop-fields" disabled={!may}>
          <legend className="visually-hidden">Name and numbers of your invoices</legend>
          <Fields seller={seller} faults={new Map(fault === null ? [] : [[field, fault.message]])} />
        </fieldset>
        <FormFault fault={KNOWN.includes(field) ? null : fault} />
        {may && (
          <Button kind="primary" type="submit" busy={busy}>
            Save
          </Button>
        )}
      </form>
    </Card>
  );
}
