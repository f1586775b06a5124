// Placeholders of legal texts: which there are, and a text with them filled.

import type { Supplier } from '../invoices/index.ts';
import type { Billing } from '../orgs/index.ts';
import type { LegalSetting } from './types.ts';

/** What texts say of whoever runs this. */
const platformPlaceholders = [
  'supplier.legal_name',
  'supplier.address',
  'grievance_officer',
  'dpo_email',
] as const;
const placeholders = [
  ...platformPlaceholders,
  'org.legal_name',
  'effective_at',
  'subprocessors',
  'measures',
] as const;
type Placeholder = (typeof placeholders)[number];
export type Values = Readonly<Partial<Record<Placeholder, string | null>>>;

const MARK = /\{\{\s*([a-z_.]+)\s*\}\}/g;

/** The first placeholder of `text` that does not exist; null when all do. */
export function unknownPlaceholder(text: string): string | null {
  for (const [, name] of text.matchAll(MARK))
    if (!placeholders.some((one) => one === name)) return name as string;
  return null;
}

/** `text` with its placeholders filled; one without a value says so, so that nobody takes the text for complete. */
export function fill(text: string, values: Values): string {
  return text.replaceAll(MARK, (_, name: string) => values[name as Placeholder] ?? `[${name} is not set]`);
}

/** What the texts say of the platform; null where nobody has set it. The demo supplier stands for nobody. */
export function platformValues(
  { supplier, is_demo }: { readonly supplier: Supplier; readonly is_demo: boolean },
  setting: LegalSetting,
): Values {
  return {
    'supplier.legal_name': is_demo ? null : supplier.legal_name,
    'supplier.address': is_demo ? null : supplier.address.join(', '),
    grievance_officer: setting.grievance_officer,
    dpo_email: setting.dpo_email,
  };
}

/** Names of those values that are missing. */
export function missingValues(values: Values): string[] {
  return platformPlaceholders.filter((name) => (values[name] ?? '') === '');
}

/** How texts name an organization; null: the public page, which names none. */
export function orgName(billing: Pick<Billing, 'name'> | null): string {
  return billing?.name ?? 'the Customer';
}
