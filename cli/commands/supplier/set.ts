// Sets who sells: what the next documents show as the supplier.
import { type SupplierChange, setSupplier } from '@svc/core/invoices/index.ts';
import { type Command, type Input, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { supplierText } from './show.ts';

/** A flag whose word `none` takes the fact away. */
function optional(input: Input, flag: string): string | null | undefined {
  const value = input.find(flag);
  if (value === null) return undefined;
  return value === 'none' ? null : value;
}

/** What was given, without the flags that were not. */
function changeIn(input: Input): SupplierChange {
  const lines = input.find('address')?.split(';');
  const change = {
    legal_name: input.find('name') ?? undefined,
    address: lines?.map((line) => line.trim()),
    state_code: input.find('state') ?? undefined,
    gstin: optional(input, 'gstin'),
    lut: optional(input, 'lut'),
    series: input.find('prefix') ?? undefined,
    sac: input.find('sac') ?? undefined,
    e_invoicing: input.find('e-invoicing') === null ? undefined : input.find('e-invoicing') === 'on',
  };
  return Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as SupplierChange;
}

export const command: Command = {
  flags: {
    name: { type: 'text', doc: 'legal name', value: 'NAME', length_max: 100 },
    address: { type: 'text', doc: 'lines of the address, with ; between', value: 'LINES', length_max: 400 },
    gstin: { type: 'text', doc: 'GST number, or none: documents are then receipts', value: 'GSTIN' },
    state: { type: 'text', doc: 'GST code of the state, where no GSTIN says it', value: 'CODE' },
    lut: {
      type: 'text',
      doc: 'letter of undertaking: exports without tax; or none',
      value: 'NUMBER',
      length_max: 40,
    },
    prefix: { type: 'text', doc: 'begin of document numbers', value: 'PFX' },
    sac: { type: 'text', doc: 'service accounting code', value: 'CODE' },
    'e-invoicing': { type: 'text', doc: 'register documents (IRN) from now on', choices: ['on', 'off'] },
  },
  example:
    'svcctl supplier set --name "Acme Private Limited" --address "1 MG Road; Bengaluru 560001" --gstin 29AABCU9603R1ZJ',
  async run(input) {
    const change = changeIn(input);
    if (Object.keys(change).length === 0) throw new UsageError('nothing to set: name a flag');
    return withDatabase(async (pool) => {
      const supplier = await setSupplier(await staffContext(pool), change);
      return { json: { supplier }, text: supplierText(supplier) };
    });
  },
};
