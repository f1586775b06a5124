// The only source of randomness. Bytes are read from the operating system 4 KiB at a time: a system call per id would
// cost 30 µs; shared by 256 ids it costs 0.1 µs.
import { randomBytes } from 'node:crypto';

const SLAB = 4096;
let source: (n: number) => Buffer = randomBytes;
let slab = source(SLAB);
let at = 0;

function nextByte(): number {
  if (at === SLAB) {
    slab = source(SLAB);
    at = 0;
  }
  return slab[at++] as number;
}

/**
 * Takes all further bytes from `bytes` and forgets those that were read ahead. For the simulation alone
 * (test/simulation), which repeats a run by its seed: what the product does is otherwise decided by the time and by what
 * others answer, so with the bytes every id, nonce and draw is the same again. No program of the product calls it.
 */
export function drawFrom(bytes: (n: number) => Buffer): void {
  source = bytes;
  slab = source(SLAB);
  at = 0;
}

/** `n` new random bytes. */
export function secureBytes(n: number): Buffer {
  return source(n);
}

/** A uniform number in [0, 1) with 48 random bits, for the `ulid` package. */
export function secureUnit(): number {
  let x = 0;
  for (let i = 0; i < 6; i++) x = x * 256 + nextByte();
  return x / 2 ** 48;
}

/** `length` characters drawn uniformly from `alphabet` (at most 256 characters). */
export function secureText(alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    const byte = nextByte();
    if (byte < limit) text += alphabet[byte % alphabet.length];
  }
  return text;
}
