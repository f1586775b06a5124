// SQL of what an organisation's invoices say about it.
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

/** Whom an organisation's documents are made out to, and where it is taxed. */
export interface Billing {
  readonly org_id: Id<'org'>;
  readonly slug: string;
  readonly live_book_id: number;
  /** Legal name, else the organisation's. */
  readonly name: string;
  readonly country: string;
  readonly currency: string;
  readonly gstin: string | null;
  readonly tax_status: TaxStatus;
  readonly address: BillingAddress | null;
  readonly email: string | null;
}

/** The billing facts of an organisation; null when there is none. `tax_status` follows from the fields. */
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

/** Sets the billing facts that are named; what is left out stays. The caller has checked them. */
export async function setBilling(
  db: Db,
  args: {
    readonly org_id: Id<'org'>;
    readonly at: Date;
    readonly legal_name?: string;
    readonly currency?: string;
    readonly gstin?: string;
    readonly tax_status?: TaxStatus;
    readonly address?: BillingAddress;
    readonly email?: string;
  },
): Promise<void> {
  await db.query({
    name: 'orgs.set_billing',
    text: `
      update org
         set legal_name = coalesce($2, legal_name), billing_currency = coalesce($3, billing_currency),
             gstin = coalesce($4, gstin), tax_status = coalesce($5, tax_status),
             billing_address = coalesce($6::jsonb, billing_address), billing_email = coalesce($7, billing_email),
             updated_at = $8
       where id = $1`,
    values: [
      args.org_id,
      args.legal_name ?? null,
      args.currency ?? null,
      args.gstin ?? null,
      args.tax_status ?? null,
      args.address === undefined ? null : JSON.stringify(args.address),
      args.email ?? null,
      args.at,
    ],
  });
}
