// Secrets in the database that must be read again: encrypted under the key ring. This file has the only list of the
// columns that hold them, and only what is in it can be sealed, so a rotation misses none (core/keyring).
import { seal, unseal } from '../crypto.ts';
import { deriveFrom, findRootKey, type RootKey, type RootKeyRing, rootKeys } from './keyring.ts';

/** Begins a sealed value that names its key. Before there was one a value began with its nonce. */
const VERSION = 1;
const HEADER_BYTES = 8;

/** Part of what names a row: a text, or bytes. */
export type RowKey = string | Uint8Array;

interface SealedColumn {
  /** Columns that name a row, in the order of an index. */
  readonly key: readonly string[];
  /** What the key is derived for. */
  readonly purpose: string;
  /** What a value without a key's id is bound to. */
  bound(row: readonly string[]): string;
  /** Whether a value may have megabytes. */
  readonly large?: true;
  /** Column of the same table with what was not sealed once. */
  readonly plain?: string;
}

const totp = { key: ['id'], purpose: 'totp', bound: ([id]) => `totp ${id}` } satisfies SealedColumn;
const certificate = {
  ...{ key: ['domain'], purpose: 'certificate key' },
  bound: ([domain]) => `storefront_certificate ${domain} key`,
} satisfies SealedColumn;
const webhook = {
  ...{ key: ['id'], purpose: 'webhook secret' },
  bound: ([id]) => `webhook ${id} secret`,
} satisfies SealedColumn;

/** Every sealed column of the database, by table and column. */
export const sealedColumns = {
  'acme_account.private_key': {
    ...{ key: ['directory_url'], purpose: 'acme account key' },
    bound: ([directory]) => `acme_account ${directory} private_key`,
  },
  'byok_key.secret_sealed': {
    ...{ key: ['id'], purpose: 'byok secret' },
    bound: ([id]) => `byok_key ${id} secret`,
  },
  'idempotency.body': {
    ...{ key: ['org_id', 'environment', 'path', 'key_hash'], purpose: 'idempotency' },
    bound: (row) => `idempotency ${row.join(' ')}`,
    large: true,
  },
  'mail_sender.private_key': {
    ...{ key: ['org_id'], purpose: 'mail sender key' },
    bound: ([org_id]) => `mail_sender ${org_id} private_key`,
  },
  'mail.sealed': { key: ['id'], purpose: 'mail link', bound: ([id]) => `mail ${id} link` },
  'org.pepper_sealed': {
    ...{ key: ['id'], purpose: 'org pepper', plain: 'pepper' },
    // Without a key's id it was never sealed.
    bound: ([id]) => `org ${id} pepper_sealed`,
  },
  'person.totp_pending': totp,
  'person.totp_secret': totp,
  'request_payload.sealed': {
    ...{ key: ['request_id'], purpose: 'request payload' },
    bound: ([id]) => `request_payload ${id} sealed`,
    large: true,
  },
  'sso_connection.client_secret': {
    ...{ key: ['org_id'], purpose: 'sso client secret' },
    bound: ([org_id]) => `sso_connection ${org_id} client_secret`,
  },
  'sso_flow.sealed': {
    ...{ key: ['org_id', 'hash'], purpose: 'sso flow' },
    bound: ([org_id, hash]) => `sso_flow ${org_id} ${hash} sealed`,
  },
  'sso_signing_key.private_key': {
    ...{ key: ['org_id'], purpose: 'sso signing key' },
    bound: ([org_id]) => `sso_signing_key ${org_id} private_key`,
  },
  'staff.totp_secret': totp,
  'storefront_certificate.order_key': certificate,
  'storefront_certificate.private_key': certificate,
  'webhook.previous_secret_sealed': webhook,
  'webhook.secret_sealed': webhook,
} as const satisfies Readonly<Record<string, SealedColumn>>;

export type SealedColumnName = keyof typeof sealedColumns;

/** What is said of a sealed column. */
export function sealedColumn(name: SealedColumnName): SealedColumn & { table: string; column: string } {
  const [table, column] = name.split('.') as [string, string];
  const said: SealedColumn = sealedColumns[name];
  return { ...said, table, column };
}

function textsOf(row: readonly RowKey[]): string[] {
  return row.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString('hex')));
}

/** The first eight bytes of what is sealed under a key: the version and the key's id. */
export function headerOf({ id }: Pick<RootKey, 'id'>): Buffer {
  return Buffer.concat([Buffer.of(VERSION), id]);
}

/** Table, column and row: a value that is copied to another place does not open there. */
function boundTo(column: SealedColumnName, row: readonly string[], header: Buffer): string {
  return `${header.toString('hex')} ${column} ${row.join(' ')}`;
}

/** `plain` as it is stored in `column` of the row that `row` names: its key's id, and what `seal` returns. */
export function sealColumn(
  root_key: RootKeyRing,
  column: SealedColumnName,
  row: readonly RowKey[],
  plain: Uint8Array,
): Buffer {
  const [current] = rootKeys(root_key);
  const header = headerOf(current);
  const key = deriveFrom(current.bytes, sealedColumns[column].purpose);
  return Buffer.concat([header, seal(key, plain, boundTo(column, textsOf(row), header))]);
}

/** Whether a value is sealed under the current key. */
export function isSealedUnderCurrent(root_key: RootKeyRing, sealed: Uint8Array): boolean {
  return headerOf(rootKeys(root_key)[0]).equals(sealed.subarray(0, HEADER_BYTES));
}

function opened(key: Uint8Array, sealed: Uint8Array, bound: string): Buffer | null {
  try {
    return unseal(key, sealed, bound);
  } catch {
    return null;
  }
}

/**
 * What `sealColumn` sealed, or what was sealed before values named their key. @throws Error when no key of the ring opens
 * it: another ring, row or column, or other bytes. It says which value, never what is in it.
 */
export function openColumn(
  root_key: RootKeyRing,
  column: SealedColumnName,
  row: readonly RowKey[],
  sealed: Uint8Array,
): Buffer {
  const { purpose, bound } = sealedColumns[column];
  const texts = textsOf(row);
  if (sealed[0] === VERSION) {
    const header = Buffer.from(sealed.subarray(0, HEADER_BYTES));
    const key = findRootKey(root_key, header.subarray(1));
    const body = sealed.subarray(HEADER_BYTES);
    const plain =
      key === null ? null : opened(deriveFrom(key.bytes, purpose), body, boundTo(column, texts, header));
    if (plain !== null) return plain;
  }
  // Of old values one in 256 begins as new ones do, so this is tried for both.
  for (const { bytes } of rootKeys(root_key)) {
    const plain = opened(deriveFrom(bytes, purpose), sealed, bound(texts));
    if (plain !== null) return plain;
  }
  throw new Error(`no key of the ring opens ${column} of ${texts.join(' ')}`);
}
