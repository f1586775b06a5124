// The supplier and the rate of tax, as staff have set them (`supplier-change.ts`).
import { readSetting } from '../db/index.ts';
import type { Context, Db, Id } from '../kernel/index.ts';
import { type Billing, findOrg } from '../orgs/index.ts';
import { dayInKolkata } from './number.ts';
import { findGstRate } from './rate-store.ts';
import { findIdentity, type SellerIdentity } from './sellers/identity-store.ts';
import { decideTax, taxOn } from './tax.ts';
import type { Supplier, TaxTerms } from './types.ts';

/** Integrated GST on online services (SAC 998315). */
const GST_RATE_BPS = 1_800;

/** Stands in until the setting `supplier` names a real one. The GSTIN is made up, its check character right. */
export const DEMO_SUPPLIER: Supplier = {
  supplier_id: 'platform',
  legal_name: 'Demo Supplier Private Limited',
  address: ['1 Example Road', 'Bengaluru 560001', 'Karnataka, India'],
  state_code: '29',
  gstin: '29AAACD0000A1ZR',
  pan: 'AAACD0000A',
  lut: 'AD290426000000A',
  series: 'INV',
  sac: '998315',
  e_invoicing: false,
};

/**
 * The supplier of setting `supplier`, or the demo one: `is_demo` then, and a live rail must not sell in its name. Its
 * documents are registered where `make up` runs a simulated portal (setting `demo_e_invoices`).
 */
export async function readSupplier(db: Db): Promise<{ supplier: Supplier; is_demo: boolean }> {
  const set = await readSetting<Partial<Supplier>>(db, 'supplier');
  if (set === null) {
    const e_invoicing = (await readSetting<boolean>(db, 'demo_e_invoices')) === true;
    return { supplier: { ...DEMO_SUPPLIER, e_invoicing }, is_demo: true };
  }
  // A field that a real supplier leaves out is absent, and never filled from the demo supplier.
  const bare = {
    ...{ gstin: null, pan: null, lut: null },
    ...{ series: 'INV', sac: '998315', e_invoicing: false },
  };
  return { supplier: { ...bare, ...(set as Supplier), supplier_id: 'platform' }, is_demo: false };
}

/** A reseller as supplier. Its documents are registered by itself, because a portal knows one supplier by its password. */
function supplierOf(identity: SellerIdentity): Supplier {
  const { org_id: supplier_id, enabled: _, email, website, ...rest } = identity;
  return {
    ...{ supplier_id, ...rest, e_invoicing: false },
    ...(email === null ? {} : { email }),
    ...(website === null ? {} : { website }),
  };
}

/**
 * Who sells to an organization: its reseller where that sells in its own name, else the platform. `is_demo` is said of the
 * platform, over whose rails everybody pays.
 */
export async function readSupplierOf(
  { acrossOrgs }: Pick<Context, 'acrossOrgs'>,
  org_id: Id<'org'>,
): Promise<{ supplier: Supplier; is_demo: boolean }> {
  const { db } = acrossOrgs;
  const platform = await readSupplier(db);
  const parent = (await findOrg(db, org_id))?.parent_org_id ?? null;
  const reseller = parent === null ? null : await readResellerSupplier({ acrossOrgs }, parent);
  return reseller === null ? platform : { ...platform, supplier: reseller };
}

/** A reseller as the supplier of its customers; null: it does not sell in its own name. */
export async function readResellerSupplier(
  { acrossOrgs: { db } }: Pick<Context, 'acrossOrgs'>,
  reseller_id: Id<'org'>,
): Promise<Supplier | null> {
  const identity = await findIdentity(db, reseller_id);
  return identity?.enabled === true ? supplierOf(identity) : null;
}

/** Rate of GST in basis points on the day, in Kolkata, that holds `at`: as it was set, else 18 %. */
export async function readGstRate(db: Db, at: Date): Promise<number> {
  return (await findGstRate(db, dayInKolkata(at))) ?? GST_RATE_BPS;
}

/** The terms under which `supplier` sells `amount_minor` to `billing`. Pure. */
export function taxTerms(args: {
  supplier: Supplier;
  billing: Billing;
  amount_minor: number;
  gst_rate_bps: number;
  /** Rupees for one unit of the currency; null for rupees. */
  inr_rate: string | null;
}): TaxTerms {
  const { supplier, billing } = args;
  const decision = decideTax(supplier, billing, args.gst_rate_bps);
  return {
    decision,
    ...taxOn(args.amount_minor, decision),
    supplier,
    inr_rate: args.inr_rate,
    recipient: {
      org_id: billing.org_id,
      name: billing.name,
      address: billing.address,
      country: billing.country,
      state_code: decision.state_known ? (decision.state_code ?? billing.address?.state_code ?? null) : null,
      gstin: billing.gstin,
      tax_status: billing.tax_status,
    },
  };
}
