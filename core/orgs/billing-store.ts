// SQL of what an organization's invoices say about it.
import type { Db, Id } from '../kernel/index.ts';

export type TaxStatus = 'gst_registered' | 'unregistered' | 'sez' | 'overseas';

export interface BillingAddress {
  readonly line1?: string;
  readonly city?: string;
  /** Two-digit GST code in India (`29`), else free text. */
  readonly state_code?: string;
  readonly postal_code?: string;
  readonly country?: string;
}

/** Whom an organization's documents are made out to, and where it is taxed. */
export interface Billing {
  readonly org_id: Id<'org'>;
  readonly slug: string;
  readonly live_book_id: number;
  /** Legal name, else the organization's. */
  readonly name: string;
  readonly country: string;
  readonly currency: string;
  readonly gstin: string | null;
  readonly tax_status: TaxStatus;
  readonly address: BillingAddress | null;
  readonly email: string | null;
}

/** The billing facts of an organization; null when there is none. `tax_status` follows from the fields. */
export async function findBilling(db: Db, org_id: Id<'org'>): Promise<Billing | null> {
  const { rows } = await db.query<Billing>({
    name: 'orgs.find_billing',
    text: `
      select id as org_id, slug, live_book_id, coalesce(legal_name, name) as name, billing_country as country,
             billing_currency as currency, gstin, billing_address as address, billing_email as email,
             case when billing_country <> 'IN' then 'overseas'
                  when tax_status = 'sez' then 'sez'
                  when gstin is not null then 'gst_registered'
                  else 'unregistered' end as tax_status
        from org where id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** What can be changed of an organization's billing facts; null is none. */
export interface BillingChange {
  readonly legal_name?: string | null;
  readonly billing_currency?: string;
  readonly gstin?: string | null;
  readonly tax_status?: TaxStatus;
  readonly billing_address?: BillingAddress | null;
  readonly billing_email?: string | null;
}

/** Sets the billing facts that `change` names; what is left out stays. The caller has checked them. */
export async function setBilling(
  db: Db,
  { org_id, at, ...change }: BillingChange & { readonly org_id: Id<'org'>; readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_billing',
    text: `
      update org
         set legal_name = case when $2::jsonb ? 'legal_name' then $2::jsonb ->> 'legal_name' else legal_name end,
             billing_currency = coalesce($2::jsonb ->> 'billing_currency', billing_currency),
             gstin = case when $2::jsonb ? 'gstin' then $2::jsonb ->> 'gstin' else gstin end,
             tax_status = coalesce($2::jsonb ->> 'tax_status', tax_status),
             billing_address = case when $2::jsonb ? 'billing_address' then nullif($2::jsonb -> 'billing_address', 'null')
                                    else billing_address end,
             billing_email = case when $2::jsonb ? 'billing_email' then $2::jsonb ->> 'billing_email' else billing_email end,
             updated_at = $3
       where id = $1`,
    values: [org_id, JSON.stringify(change), at],
  });
}
