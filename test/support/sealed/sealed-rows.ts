// Rows with a value in every sealed column, for tests of the key ring. Rows of other tables that they belong to are left out.
import type { Pool } from '@svc/core/db/index.ts';
import {
  type Db,
  newId,
  newRequestId,
  openColumn,
  type RootKeyRing,
  type RowKey,
  type SealedColumnName,
  sealColumn,
  sealedColumn,
  sealedColumns,
  sha256,
} from '@svc/core/kernel/index.ts';

export const sealedNames = Object.keys(sealedColumns) as SealedColumnName[];

/** How a value is sealed for a place: as the product does, or as an earlier release did. */
type Sealing = (column: SealedColumnName, row: readonly RowKey[]) => Buffer;

const AT = new Date('2026-11-27T06:00:00Z');
const LATER = new Date('2027-11-27T06:00:00Z');
const times = { created_at: AT, updated_at: AT };

const person = (id: string) => ({
  id,
  email: `${id}@a.example`,
  email_key: `${id}@a.example`,
  password_hash: '',
});

/** The row of `table` number `n`: its sealed columns, whose values `seal` makes, and what else must be there. */
function rowOf(table: string, n: number, seal: Sealing): Record<string, unknown> {
  const of = (column: string, ...row: RowKey[]) => seal(`${table}.${column}` as SealedColumnName, row);
  const [org_id, user, wh, byok, mail, staff] = (
    ['org', 'user', 'webhook', 'byok', 'mail', 'staff'] as const
  ).map((kind) => newId(kind)) as [string, string, string, string, string, string];
  const hash = sha256(`${table} ${n} ${org_id}`);
  const request_id = newRequestId();
  const rows: Record<string, () => Record<string, unknown>> = {
    acme_account: () => ({
      ...{ directory_url: org_id, created_at: AT, private_key: of('private_key', org_id) },
    }),
    byok_key: () => ({
      ...{ id: byok, org_id, provider_id: 'p', label: '', hint: '...', fallback_to_pool: false, ...times },
      secret_sealed: of('secret_sealed', byok),
    }),
    idempotency: () => ({
      ...{ org_id, environment: 'live', path: '/v1/keys', key_hash: hash, fingerprint: hash, status: 200 },
      ...{ started_at: AT, expires_at: LATER, body: of('body', org_id, 'live', '/v1/keys', hash) },
    }),
    mail: () => ({
      ...{ id: mail, template: 'verify_email', reference: mail, recipient: 'a@a.example', data: {} },
      ...{ recipient_key: 'a@a.example', next_at: LATER, created_at: AT, expires_at: LATER },
      sealed: of('sealed', mail),
    }),
    mail_sender: () => ({
      ...{ org_id, domain: 'a.example', from_local: 'a', public_key: '', return_host: 'b.example' },
      ...{ created_at: AT, private_key: of('private_key', org_id) },
    }),
    org: () => ({
      ...{
        id: org_id,
        slug: `o-${n}-${org_id.slice(-12).toLowerCase()}`,
        name: 'O',
        kind: 'team',
        plan_id: 'payg',
      },
      ...{ billing_country: 'US', billing_currency: 'USD', data_policy: {}, shard: 'main', ...times },
      pepper_sealed: of('pepper_sealed', org_id),
    }),
    person: () => ({
      ...{ ...person(user), password_changed_at: AT, totp_confirmed_at: AT, ...times },
      ...{ totp_pending: of('totp_pending', user), totp_secret: of('totp_secret', user) },
    }),
    request_payload: () => ({ request_id, ts: AT, org_id, sealed: of('sealed', request_id) }),
    sso_connection: () => ({
      ...{ org_id, kind: 'oidc', display_name: 'O', status: 'draft', enforce: false, default_role: 'viewer' },
      ...{ role_map: {}, config: {}, metadata: {}, ...times, client_secret: of('client_secret', org_id) },
    }),
    sso_flow: () => ({ hash, org_id, browser: hash, expires_at: LATER, sealed: of('sealed', org_id, hash) }),
    sso_signing_key: () => ({
      ...{ org_id, certificate: '', created_at: AT, private_key: of('private_key', org_id) },
    }),
    staff: () => ({
      ...{ ...person(staff), roles: ['super'], ...times },
      totp_secret: of('totp_secret', staff),
    }),
    storefront_certificate: () => ({
      ...{ domain: `${n}.${org_id}`.toLowerCase(), org_id, next_at: AT, created_at: AT },
      ...{ chain: '', issuer: '', not_before: AT, not_after: LATER },
      order_key: of('order_key', `${n}.${org_id}`.toLowerCase()),
      private_key: of('private_key', `${n}.${org_id}`.toLowerCase()),
    }),
    webhook: () => ({
      ...{ id: wh, org_id, url: 'https://a.example', events: ['*'], secret_hint: '', ...times },
      ...{ secret_sealed: of('secret_sealed', wh), previous_secret_expires_at: LATER },
      previous_secret_sealed: of('previous_secret_sealed', wh),
    }),
  };
  return rows[table]!();
}

/** Inserts `count` rows into every table with a sealed column. */
export async function insertSealedRows(pool: Pool, count: number, seal: Sealing): Promise<void> {
  const tables = new Set(sealedNames.map((name) => sealedColumn(name).table));
  await pool.transaction(async (db) => {
    // Without the rows that they belong to, and without what the product would do at their insertion.
    await db.query({ name: '', text: "set local session_replication_role = 'replica'", values: [] });
    for (const table of tables) {
      for (let n = 0; n < count; n++) {
        const row = rowOf(table, n, seal);
        const names = Object.keys(row);
        await db.query({
          name: '',
          text: `insert into ${table} (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
          values: Object.values(row),
        });
      }
    }
  });
}

/** A value of a sealed column as the database has it. */
interface SealedValue {
  readonly column: SealedColumnName;
  readonly row: readonly RowKey[];
  readonly sealed: Buffer;
}

/** All sealed values of the database. */
export async function readSealed(db: Db): Promise<SealedValue[]> {
  const all: SealedValue[] = [];
  for (const name of sealedNames) {
    const { table, column, key } = sealedColumn(name);
    const { rows } = await db.query<Record<string, unknown>>({
      name: '',
      text: `select ${key.join(', ')}, ${column} as sealed from ${table} where ${column} is not null`,
      values: [],
    });
    for (const found of rows)
      all.push({
        column: name,
        row: key.map((part) => found[part] as RowKey),
        sealed: found['sealed'] as Buffer,
      });
  }
  return all;
}

/** What is sealed for a place in these tests: the place itself, so that each value proves where it belongs. */
export function plainOf(column: SealedColumnName, row: readonly RowKey[]): Buffer {
  return sha256(
    [column, ...row.map((part) => (typeof part === 'string' ? part : part.toString()))].join(' '),
  );
}

/** Seals under the current key of `root_key`. */
export function sealingUnder(root_key: RootKeyRing): Sealing {
  return (column, row) => sealColumn(root_key, column, row, plainOf(column, row));
}

/** Those of `values` that do not open under `root_key` to what was sealed. */
export function damaged(values: readonly SealedValue[], root_key: RootKeyRing): SealedValue[] {
  return values.filter(({ column, row, sealed }) => {
    try {
      return !openColumn(root_key, column, row, sealed).equals(plainOf(column, row));
    } catch {
      return true;
    }
  });
}
