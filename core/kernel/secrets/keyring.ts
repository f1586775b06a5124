// The key ring file: the only secret that an installation keeps outside its database. Every use derives its own key
// from it (`deriveKey`). A ring has one current key, under which everything new is made, and former ones, which open and
// check what was made under them (docs/operate/key-ring.md).
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { monotonicMs } from '../clock.ts';
import { hkdfSha256, hmacSha256 } from '../crypto.ts';
import { newUlid } from '../ids.ts';
import { isObject } from '../json.ts';
import { secureBytes } from '../random.ts';

const KEY_BYTES = 32;
/** Two keys of one ring have the same id once in 10^16 rings. */
const ID_BYTES = 7;
/** How old what a process knows of the file may be; so long after a change a program works with the new ring. */
const REREAD_MS = 5_000;
/** An unknown id makes the file be looked at sooner, but no more often than this. */
const REREAD_UNKNOWN_MS = 250;

interface RingFile {
  readonly version: 1;
  /** Name of the current key. */
  readonly current: string;
  /** Name → 32 bytes in base64. */
  readonly keys: Readonly<Record<string, string>>;
  /** Purpose → 32 bytes in base64 that stay the same whichever key is current. Absent in a ring that never changed. */
  readonly fixed?: Readonly<Record<string, string>>;
}

export interface RootKey {
  /** As the file names it. */
  readonly name: string;
  /** Follows from the key itself, so that two keys of one name are never taken for each other. 7 bytes. */
  readonly id: Buffer;
  readonly bytes: Uint8Array;
}

interface Ring {
  /** The current one first. */
  readonly keys: readonly [RootKey, ...RootKey[]];
  readonly fixed: ReadonlyMap<string, Buffer>;
}

/**
 * What must not change with the key, because it was told to others or ties a run to what it paid for: numbers of webhook
 * deliveries, the ledger's signature, and the marks of evaluation runs.
 */
const FIXED: Readonly<Record<string, (key: Uint8Array) => Buffer>> = {
  'delivery numbers': (key) => hmacSha256(key, 'svc delivery numbers'),
  'eval call keys': (key) => hmacSha256(key, 'svc eval call keys'),
  'eval delimiters': (key) => hmacSha256(key, 'svc eval delimiters'),
  'run answers': (key) => hmacSha256(key, 'svc run answers'),
  'ledger checkpoint': (key) => hkdfSha256(key, 'svc ledger checkpoint'),
};
/** What somebody could forge who has read the old key; after a leak it begins anew. */
const FORGEABLE = ['ledger checkpoint', 'run answers'];

function keyOf(name: string, bytes: Uint8Array): RootKey {
  return { name, bytes, id: hmacSha256(bytes, 'svc key id').subarray(0, ID_BYTES) };
}

function bytesOf(text: unknown): Buffer | null {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : null;
  return bytes?.length === KEY_BYTES ? bytes : null;
}

function readFile(path: string): RingFile {
  const file: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const { current, keys, fixed = {} } = (isObject(file) ? file : {}) as Partial<RingFile>;
  if (current === undefined || !isObject(keys) || bytesOf(keys[current]) === null)
    throw new Error(`${path} is not a key ring with a current key of 32 bytes`);
  for (const [name, text] of [...Object.entries(keys), ...Object.entries(fixed)])
    if (bytesOf(text) === null) throw new Error(`${path}: ${name} is not a key of 32 bytes`);
  return { version: 1, current, keys, fixed };
}

function ringOf({ current, keys, fixed = {} }: RingFile): Ring {
  const named = (name: string) => keyOf(name, bytesOf(keys[name]) as Buffer);
  const former = Object.keys(keys).filter((name) => name !== current);
  return {
    keys: [named(current), ...former.map(named)],
    fixed: new Map(Object.entries(fixed).map(([purpose, text]) => [purpose, bytesOf(text) as Buffer])),
  };
}

/** Changes whenever the file is another one. */
function stampOf(path: string): string {
  const { ino, mtimeMs, size } = statSync(path);
  return `${ino} ${mtimeMs} ${size}`;
}

/**
 * The ring of a running process. It follows its file: a key that was added or made current counts within seconds, without
 * a restart. A file that cannot be read meanwhile changes nothing.
 */
export class RootKeys {
  readonly #path: string;
  #ring: Ring;
  #stamp: string;
  #looked_ms: number;

  /** @throws Error when the file cannot be read or is not a key ring. */
  constructor(path: string) {
    this.#path = path;
    this.#stamp = stampOf(path);
    this.#ring = ringOf(readFile(path));
    this.#looked_ms = monotonicMs();
  }

  #follow(age_ms: number): void {
    const now_ms = monotonicMs();
    if (now_ms - this.#looked_ms < age_ms) return;
    this.#looked_ms = now_ms;
    try {
      const stamp = stampOf(this.#path);
      if (stamp === this.#stamp) return;
      this.#ring = ringOf(readFile(this.#path));
      this.#stamp = stamp;
    } catch {
      // It is being replaced, or damaged: who replaces it finds out by `svcctl keyring status`.
    }
  }

  get ring(): Ring {
    this.#follow(REREAD_MS);
    return this.#ring;
  }

  /** The key with this id; the file is looked at again where it is not known. */
  find(id: Uint8Array): RootKey | null {
    const among = () => this.#ring.keys.find((key) => key.id.equals(id)) ?? null;
    const known = among();
    if (known !== null) return known;
    this.#follow(REREAD_UNKNOWN_MS);
    return among();
  }
}

/** The root keys of an installation; bytes alone are a ring of one key. */
export type RootKeyRing = RootKeys | Uint8Array;

const NOTHING_FIXED: ReadonlyMap<string, Buffer> = new Map();

function ringBehind(root_key: RootKeyRing): Ring {
  if (root_key instanceof RootKeys) return root_key.ring;
  return { keys: [keyOf('key', root_key)], fixed: NOTHING_FIXED };
}

/** The keys of a ring, the current one first. */
export function rootKeys(root_key: RootKeyRing): readonly [RootKey, ...RootKey[]] {
  return ringBehind(root_key).keys;
}

/** The key of a ring with this id, or null. */
export function findRootKey(root_key: RootKeyRing, id: Uint8Array): RootKey | null {
  if (root_key instanceof RootKeys) return root_key.find(id);
  return rootKeys(root_key).find((key) => key.id.equals(id)) ?? null;
}

/**
 * The ring at `path`. A missing file is created with a new key; processes that start at the same time agree on one,
 * because the complete file is linked to its name and only one link succeeds.
 * @throws Error when the file cannot be read or is not a key ring.
 */
export function loadRootKey(path: string): RootKeys {
  try {
    return new RootKeys(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(dirname(path), { recursive: true });
  const name = newUlid();
  const keys = { [name]: secureBytes(KEY_BYTES).toString('base64') };
  const draft = writeDraft(path, { version: 1, current: name, keys });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return new RootKeys(path);
}

function writeDraft(path: string, file: RingFile): string {
  const draft = `${path}.${newUlid()}`;
  writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flush: true });
  return draft;
}

/**
 * Changes the ring at `path` in one step: a reader sees the whole file of before or of after.
 * @throws Error when the file cannot be read or written, or is not a key ring.
 */
function changeRing(path: string, change: (file: RingFile) => RingFile): void {
  const draft = writeDraft(path, change(readFile(path)));
  try {
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Adds a key to the ring at `path`, which opens and does not yet seal, and returns its name. What may not change with the
 * key is kept in the file from now on; after a leak, without what could be forged. @throws Error.
 */
export function addRootKey(path: string, { leaked }: { leaked: boolean }): string {
  const name = newUlid();
  changeRing(path, (file) => {
    const current = ringOf(file).keys[0].bytes;
    const made = Object.entries(FIXED).map(([purpose, of]) => [purpose, of(current).toString('base64')]);
    const fixed: Record<string, string> = { ...Object.fromEntries(made), ...file.fixed };
    if (leaked) for (const purpose of FORGEABLE) fixed[purpose] = secureBytes(KEY_BYTES).toString('base64');
    return { ...file, keys: { ...file.keys, [name]: secureBytes(KEY_BYTES).toString('base64') }, fixed };
  });
  return name;
}

/** Makes a key of the ring at `path` the current one. @throws Error when it has none of this name. */
export function promoteRootKey(path: string, name: string): void {
  changeRing(path, (file) => {
    if (!Object.hasOwn(file.keys, name)) throw new Error(`the key ring has no key ${name}`);
    return { ...file, current: name };
  });
}

/** Takes a former key out of the ring at `path`. @throws Error when it has none of this name, or it is the current one. */
export function removeRootKey(path: string, name: string): void {
  changeRing(path, (file) => {
    if (!Object.hasOwn(file.keys, name)) throw new Error(`the key ring has no key ${name}`);
    if (file.current === name) throw new Error(`${name} is the current key: promote another one first`);
    const { [name]: _, ...keys } = file.keys;
    return { ...file, keys };
  });
}

/** A 32-byte key for one purpose, so that no key serves two purposes: what everything new is made under. */
export function deriveKey(root_key: RootKeyRing, purpose: string): Buffer {
  const { keys, fixed } = ringBehind(root_key);
  return fixed.get(purpose) ?? deriveFrom(keys[0].bytes, purpose);
}

/** The keys for one purpose under each key of the ring, the current one first: what may have been made under them counts. */
export function deriveKeys(root_key: RootKeyRing, purpose: string): Buffer[] {
  return rootKeys(root_key).map(({ bytes }) => deriveFrom(bytes, purpose));
}

/** The key of one purpose under one root key. */
export function deriveFrom(bytes: Uint8Array, purpose: string): Buffer {
  return hmacSha256(bytes, `svc ${purpose}`);
}

/** What the key is derived from that signs checkpoints of the ledger. */
export function checkpointSeed(root_key: RootKeyRing): Buffer {
  const { keys, fixed } = ringBehind(root_key);
  return fixed.get('ledger checkpoint') ?? hkdfSha256(keys[0].bytes, 'svc ledger checkpoint');
}
