// A text signed by Ed25519 in the form that transparency logs use (C2SP signed-note), so that tools of others check it
// too: the text, an empty line, and a line `— name base64(key id, signature)`.
import { Ed25519Key, ed25519Verify, sha256 } from '../../kernel/index.ts';

const ALGORITHM = Buffer.from([1]);

/** The first four bytes of the hash that identifies a key, as the form defines it. */
function keyIdOf(name: string, public_key: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), ALGORITHM, public_key])).subarray(0, 4);
}

export interface NoteSigner {
  /** `name+key id+public key`: what others need to check a note. */
  readonly verifier_key: string;
  /** The signed note of `text`, which ends with a line feed. */
  sign(text: string): string;
}

/** A signer by the private key that `seed` (32 bytes) is; `name` has neither spaces nor `+`. */
export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  const key = new Ed25519Key(seed);
  const key_id = keyIdOf(name, key.public_key);
  const encoded = Buffer.concat([ALGORITHM, key.public_key]).toString('base64');
  return {
    verifier_key: `${name}+${key_id.toString('hex')}+${encoded}`,
    sign(text) {
      const signature = Buffer.concat([key_id, key.sign(Buffer.from(text))]).toString('base64');
      return `${text}\n— ${name} ${signature}\n`;
    },
  };
}

/** The text of a note that the key of `verifier_key` signed. @throws Error that says what is wrong with it. */
export function openNote(note: string, verifier_key: string): string {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(verifier_key.trim()) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64');
  const public_key = key.subarray(1);
  if (name === undefined || key[0] !== ALGORITHM[0] || key.length !== 33)
    throw new Error('the key is no verifier key of an Ed25519 signature (name+id+key)');
  const key_id = keyIdOf(name, public_key);
  if (key_id.toString('hex') !== id)
    throw new Error('the verifier key is damaged: its id is not that of the key');
  const end = note.lastIndexOf('\n\n');
  if (end < 0) throw new Error('this is no signed note: it has no empty line before its signatures');
  const text = note.slice(0, end + 1);
  for (const line of note.slice(end + 2).split('\n')) {
    const parts = /^— (\S+) (\S+)$/.exec(line);
    if (parts === null || parts[1] !== name) continue;
    const signed = Buffer.from(parts[2]!, 'base64');
    if (!signed.subarray(0, 4).equals(key_id)) continue;
    // The decoder passes over bits that stand for nothing: a signature has one way to be written.
    if (
      signed.toString('base64') === parts[2] &&
      ed25519Verify(public_key, Buffer.from(text), signed.subarray(4))
    )
      return text;
    throw new Error('the signature does not belong to this text: one of them was changed');
  }
  throw new Error(`the note is not signed by the key ${name}+${id}`);
}
