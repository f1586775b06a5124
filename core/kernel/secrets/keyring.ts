// The key ring file: the only secret that an installation keeps outside its database. Every use derives its own key
// from it (`deriveKey`).
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hmacSha256 } from '../crypto.ts';
import { newUlid } from '../ids.ts';
import { isObject } from '../json.ts';
import { secureBytes } from '../random.ts';

const KEY_BYTES = 32;

interface RingFile {
  readonly version: 1;
  readonly current: string;
  /** Id → 32 bytes in base64. */
  readonly keys: Readonly<Record<string, string>>;
}

function parse(path: string): Buffer {
  const ring: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const { current, keys } = (isObject(ring) ? ring : {}) as Partial<RingFile>;
  const key = Buffer.from((current === undefined ? undefined : keys?.[current]) ?? '', 'base64');
  if (key.length !== KEY_BYTES) throw new Error(`${path} is not a key ring with a current key of 32 bytes`);
  return key;
}

/**
 * The current root key (32 bytes) of the ring at `path`. A missing ring is created with a new key; processes that
 * start at the same time agree on one, because the complete file is linked to its name and only one link succeeds.
 * @throws Error when the file cannot be read or is not a key ring.
 */
export function loadRootKey(path: string): Buffer {
  try {
    return parse(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(dirname(path), { recursive: true });
  const id = newUlid();
  const ring: RingFile = {
    version: 1,
    current: id,
    keys: { [id]: secureBytes(KEY_BYTES).toString('base64') },
  };
  const draft = `${path}.${id}`;
  writeFileSync(draft, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return parse(path);
}

/** A 32-byte key for one purpose, so that no key serves two purposes. */
export function deriveKey(root_key: Uint8Array, purpose: string): Buffer {
  return hmacSha256(root_key, `svc ${purpose}`);
}
