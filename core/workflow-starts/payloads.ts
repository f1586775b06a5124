// What workflows are about, encrypted before Temporal has it (docs/operate/workflows.md): a payload as Temporal keeps one, in
// whose place another stands that names the root key it is sealed under.
import { readSetting, writeSetting } from '../db/index.ts';
import {
  type Db,
  deriveFrom,
  findRootKey,
  isObject,
  type RootKeyRing,
  rootKeys,
  seal,
  unseal,
} from '../kernel/index.ts';

/** A payload in Temporal's JSON form: bytes in base64. */
export interface PayloadText {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly data?: string;
}

const PURPOSE = 'workflow payload';
/** As other codecs of Temporal name it, so that tools show what it is. */
export const ENCRYPTED = 'binary/encrypted';
export const KEY_ID = 'encryption-key-id';

/** Bytes with the key's id in hex: who copies them to another key's id gets nothing. */
function boundTo(key_id: string): string {
  return `${PURPOSE} ${key_id}`;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const plainOf = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();

/** `payload`, sealed under the current key of the ring. */
export function sealPayload(root_key: RootKeyRing, payload: PayloadText): PayloadText {
  const [{ id, bytes }] = rootKeys(root_key);
  const key_id = id.toString('hex');
  const sealed = seal(deriveFrom(bytes, PURPOSE), Buffer.from(JSON.stringify(payload)), boundTo(key_id));
  return {
    metadata: { encoding: base64(ENCRYPTED), [KEY_ID]: base64(key_id) },
    data: sealed.toString('base64'),
  };
}

/** Whether `sealPayload` made it. */
export function isSealedPayload({ metadata }: PayloadText): boolean {
  return metadata !== undefined && plainOf(metadata['encoding']) === ENCRYPTED;
}

/**
 * The payload that `sealPayload` sealed. @throws Error naming the key when no key of the ring opens it: it is not in the ring, or
 * bytes were changed.
 */
export function openPayload(root_key: RootKeyRing, { metadata, data }: PayloadText): PayloadText {
  const key_id = plainOf(metadata?.[KEY_ID]);
  const key = findRootKey(root_key, Buffer.from(key_id, 'hex'));
  let plain: unknown = null;
  try {
    if (key !== null) {
      const sealed = Buffer.from(data ?? '', 'base64');
      plain = JSON.parse(unseal(deriveFrom(key.bytes, PURPOSE), sealed, boundTo(key_id)).toString());
    }
  } catch {
    // Not this key's, or not what was sealed: said below, without a byte of it.
  }
  if (isObject(plain)) return plain as PayloadText;
  const name = /^[0-9a-f]{14}$/.test(key_id) ? key_id : 'no id';
  throw new Error(`no key of the ring opens a payload of a workflow (key ${name})`);
}

const settingOf = (key_id: string) => `workflows.payload_key.${key_id}`;

/** What is known of a root key under which payloads were sealed. */
export interface PayloadKey {
  /** When a worker last had it as the one to seal under. */
  readonly sealed_at: string;
  /** Open workflows that began before that, as a worker counted them at Temporal; null: never counted. */
  readonly open: number | null;
  /** When that was. */
  readonly counted_at: string | null;
}

/** What is known of the root key with this id; null: no payload was sealed under it. */
export function readPayloadKey(db: Db, key_id: string): Promise<PayloadKey | null> {
  return readSetting<PayloadKey>(db, settingOf(key_id));
}

/** Notes that payloads are sealed under this key at `at`: histories need it from now on. */
export async function notePayloadKey(db: Db, { key_id, at }: { key_id: string; at: Date }): Promise<void> {
  const value: PayloadKey = { sealed_at: at.toISOString(), open: null, counted_at: null };
  await writeSetting(db, { name: settingOf(key_id), value, at });
}

/** Notes how many open workflows may have payloads under a key that nothing is sealed under any more. */
export async function notePayloadsOpen(
  db: Db,
  counted: { key_id: string; sealed_at: string; open: number; at: Date },
): Promise<void> {
  const { key_id, sealed_at, open, at } = counted;
  const value: PayloadKey = { sealed_at, open, counted_at: at.toISOString() };
  await writeSetting(db, { name: settingOf(key_id), value, at });
}
