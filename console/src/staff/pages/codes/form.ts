// The form that makes a batch of codes. Pure.
import type { CreateRedeemBatchInput } from '../../../api/gen/staff/graphql.ts';
import { minorOf } from '../../../pages/credits/amount.ts';

export const fields = [
  'name',
  'amount',
  'codes',
  'creditDays',
  'validUntil',
  'maxPerOrg',
  'country',
] as const;
type Field = (typeof fields)[number];
export type BatchForm = Readonly<Record<Field, string>> & { readonly newOrgOnly: boolean };
export type BatchFaults = Partial<Record<Field, string>>;

function countOf(text: string, most: number): number | undefined {
  const n = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return n >= 1 && n <= most ? n : undefined;
}

/** What is wrong with the form, and what it asks for; the codes are taken to the end of the day named, UTC. */
export function batchOf(
  form: BatchForm,
  today: string,
): { faults: BatchFaults; input: CreateRedeemBatchInput | null } {
  const cents = minorOf(form.amount, 'USD');
  const codes = countOf(form.codes, 10_000);
  const creditDays = countOf(form.creditDays, 3_650);
  const maxPerOrg = form.maxPerOrg === '' ? 1 : countOf(form.maxPerOrg, 10_000);
  const country = form.country.toUpperCase();
  const faults: BatchFaults = {
    ...(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(form.name)
      ? {}
      : { name: 'Up to 40 of a to z, 0 to 9 and inner hyphens.' }),
    ...(cents === undefined ? { amount: 'An amount in dollars, like 5 or 12.50.' } : {}),
    ...(codes === undefined ? { codes: 'From 1 to 10,000.' } : {}),
    ...(creditDays === undefined ? { creditDays: 'From 1 to 3650 days.' } : {}),
    ...(/^\d{4}-\d\d-\d\d$/.test(form.validUntil) && form.validUntil >= today
      ? {}
      : { validUntil: 'A day to come.' }),
    ...(maxPerOrg === undefined ? { maxPerOrg: 'From 1 to 10,000.' } : {}),
    ...(country === '' || /^[A-Z]{2}$/.test(country) ? {} : { country: 'Two letters, like IN.' }),
  };
  if (cents === undefined || codes === undefined || creditDays === undefined || maxPerOrg === undefined)
    return { faults, input: null };
  const input = {
    ...{ name: form.name, codes, creditDays, maxPerOrg, newOrgOnly: form.newOrgOnly },
    // Cents are ten thousand micro-dollars.
    amountMicro: `${BigInt(cents) * 10_000n}`,
    validUntil: `${form.validUntil}T23:59:59.999Z`,
    ...(country === '' ? {} : { country }),
  };
  return { faults, input: Object.keys(faults).length === 0 ? input : null };
}
