// SQL of the names in which resellers sell.
import type { Db, Id } from '../../kernel/index.ts';

/** A reseller as its customers' documents name it. */
export interface SellerIdentity {
  /** The reseller. */
  readonly org_id: Id<'org'>;
  readonly legal_name: string;
  readonly address: readonly string[];
  /** Two digits of GST. */
  readonly state_code: string;
  /** Null: not registered; its documents are receipts without tax. */
  readonly gstin: string | null;
  readonly pan: string | null;
  readonly lut: string | null;
  readonly sac: string;
  readonly email: string | null;
  readonly website: string | null;
  /** One to three of `[A-Z0-9]`, first a letter. */
  readonly series: string;
  /** Whether its customers are sold to in its name. */
  readonly enabled: boolean;
}

const IDENTITY = `
  org_id, legal_name, address, state_code, gstin, pan, lut, sac, email, website, series, enabled`;

/** The identity of a reseller; null when it has said none. */
export async function findIdentity(db: Db, org_id: Id<'org'>): Promise<SellerIdentity | null> {
  const { rows } = await db.query<SellerIdentity>({
    name: 'invoices.find_identity',
    text: `select ${IDENTITY} from reseller_invoicing where org_id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/**
 * The series of a reseller now. It stays that until the transaction ends: a change waits, and then sees that it was used.
 */
export async function holdSeries(db: Db, org_id: string): Promise<string | null> {
  const { rows } = await db.query<{ series: string }>({
    name: 'invoices.hold_series',
    text: 'select series from reseller_invoicing where org_id = $1 for share',
    values: [org_id],
  });
  return rows[0]?.series ?? null;
}

/** The identity of a reseller, locked until the transaction ends. */
export async function lockIdentity(db: Db, org_id: Id<'org'>): Promise<SellerIdentity | null> {
  const { rows } = await db.query<SellerIdentity>({
    name: 'invoices.lock_identity',
    text: `select ${IDENTITY} from reseller_invoicing where org_id = $1 for update`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Sets the identity of a reseller, whose organization is locked. */
export async function putIdentity(db: Db, made: SellerIdentity & { readonly at: Date }): Promise<void> {
  await db.query({
    name: 'invoices.put_identity',
    text: `
      insert into reseller_invoicing (${IDENTITY}, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      on conflict (org_id) do update
         set legal_name = $2, address = $3, state_code = $4, gstin = $5, pan = $6, lut = $7, sac = $8, email = $9,
             website = $10, series = $11, enabled = $12, updated_at = $13`,
    values: [
      ...[made.org_id, made.legal_name, JSON.stringify(made.address), made.state_code, made.gstin, made.pan],
      ...[made.lut, made.sac, made.email, made.website, made.series, made.enabled, made.at],
    ],
  });
}
