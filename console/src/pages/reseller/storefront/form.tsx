// The storefront's settings beside what they look like. A storefront is replaced whole.
import { type FormEvent, useState } from 'react';
import { ResaleSetStorefrontDocument, type ShopFactsFragment } from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { Preview } from './preview.tsx';

type Shop = ShopFactsFragment;
/** As the schema names them (Currency). */
const CURRENCIES: readonly Shop['displayCurrency'][] = [
  'USD',
  'INR',
  'EUR',
  'GBP',
  'SGD',
  'AED',
  'AUD',
  'CAD',
  'JPY',
];
const COLOR = /^#[0-9a-f]{6}$/i;
/** Members of the form that are one line of text, and what stands beside them. */
const LINES = [
  {
    name: 'logoUrl',
    label: 'Address of the logo',
    hint: 'PNG, JPEG or WebP, at most 512 KiB. It is fetched once, and served from here.',
  },
  {
    name: 'supportEmail',
    label: 'Address for support',
    hint: 'Customers find it in mails and on error pages.',
  },
  { name: 'supportUrl', label: 'Page for support', hint: '' },
  { name: 'termsUrl', label: 'Page of your terms', hint: '' },
  { name: 'locale', label: 'Language', hint: 'A language tag, like en-IN.' },
] as const;
type Line = (typeof LINES)[number]['name'];

function Lines({ shop, fields }: { shop: Shop; fields: ReadonlyMap<string, string> }) {
  return LINES.map(({ name, label, hint }) => (
    <TextField
      key={name}
      {...{ name, label, hint: hint === '' ? undefined : hint }}
      defaultValue={shop[name] ?? ''}
      maxLength={2_048}
      autoComplete="off"
      fault={fields.get(name) ?? null}
    />
  ));
}

function Choices({ shop, tiers }: { shop: Shop; tiers: readonly { id: string; name: string }[] }) {
  return (
    <>
      <SelectField
        label="Who may register"
        name="registration"
        defaultValue={shop.registration}
        hint="Whoever registers at your address becomes your customer."
      >
        <option value="INVITE">People with an invite code</option>
        <option value="OPEN">Everybody</option>
      </SelectField>
      <SelectField label="Tier of new customers" name="defaultTierId" defaultValue={shop.defaultTierId ?? ''}>
        <option value="">Catalog prices</option>
        {tiers.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField label="Currency beside dollars" name="displayCurrency" defaultValue={shop.displayCurrency}>
        {CURRENCIES.map((code) => (
          <option key={code}>{code}</option>
        ))}
      </SelectField>
    </>
  );
}

interface Props {
  readonly shop: Shop;
  readonly tiers: readonly { id: string; name: string }[];
  readonly may: boolean;
  readonly onSaved: () => void;
}

/** The storefront that a form asks for, without its name and colour. */
function askedOf(form: FormData) {
  const text = (member: string) => String(form.get(member) ?? '').trim();
  const line = (member: Line) => text(member) || null;
  return {
    ...{ logoUrl: line('logoUrl'), supportEmail: line('supportEmail'), supportUrl: line('supportUrl') },
    ...{ termsUrl: line('termsUrl'), locale: text('locale') || 'en' },
    registration: text('registration') as Shop['registration'],
    defaultTierId: text('defaultTierId') || null,
    displayCurrency: text('displayCurrency') as Shop['displayCurrency'],
  };
}

/** Sends the storefront; what was wrong with it by field, and what no field is at fault for. */
function useSave(onSaved: () => void) {
  const { send, busy, fault } = useSend();
  const [said, setSaid] = useState('');
  const field = fault?.field?.replace(/^input\./, '') ?? '';
  const known = ['displayName', 'primaryColor', ...LINES.map((line) => line.name)].includes(field);
  const save = async (
    event: FormEvent<HTMLFormElement>,
    looks: { displayName: string; primaryColor: string },
  ) => {
    event.preventDefault();
    setSaid('');
    const input = { ...looks, ...askedOf(new FormData(event.currentTarget)) };
    if ((await send(ResaleSetStorefrontDocument, input)) === null) return;
    setSaid('Saved. Customers see it within a minute.');
    onSaved();
  };
  const fields: ReadonlyMap<string, string> = new Map(fault === null ? [] : [[field, fault.message]]);
  return { save, busy, said, fields, other: known ? null : fault };
}

export function StorefrontForm({ shop, tiers, may, onSaved }: Props) {
  const { save, busy, said, fields, other } = useSave(onSaved);
  const [name, setName] = useState(shop.displayName);
  const [color, setColor] = useState(shop.primaryColor);
  const shown_color = COLOR.test(color) ? color : shop.primaryColor;
  return (
    <Card title="Storefront" note={<span role="status">{said}</span>}>
      <div className="shop-editor">
        <form
          className="add-form"
          onSubmit={(event) => void save(event, { displayName: name.trim(), primaryColor: color.trim() })}
          noValidate
        >
          <fieldset className="shop-fields" disabled={!may}>
            <legend className="visually-hidden">What customers see</legend>
            <TextField
              label="Name"
              name="displayName"
              value={name}
              maxLength={120}
              autoComplete="off"
              fault={fields.get('displayName') ?? null}
              onChange={(event) => setName(event.target.value)}
            />
            <TextField
              label="Colour"
              name="primaryColor"
              value={color}
              maxLength={7}
              autoComplete="off"
              hint="#rrggbb"
              fault={fields.get('primaryColor') ?? null}
              onChange={(event) => setColor(event.target.value)}
            />
            <Lines {...{ shop, fields }} />
            <Choices {...{ shop, tiers }} />
          </fieldset>
          <FormFault fault={other} />
          {may && (
            <Button kind="primary" type="submit" busy={busy}>
              Save storefront
            </Button>
          )}
        </form>
        <Preview name={name.trim() || shop.displayName} logo={shop.logoAddress ?? null} color={shown_color} />
      </div>
    </Card>
  );
}
