// The only source of randomness. Bytes are read from the operating system 4 KiB at a time: a system call per id would
// cost 30 µs; shared by 256 ids it costs 0.1 µs.
import { randomBytes } from 'node:crypto';

const SLAB = 4096;
let slab = randomBytes(SLAB);
let at = 0;

function nextByte(): number {
  if (at === SLAB) {
    slab = randomBytes(SLAB);
    at = 0;
  }
  return slab[at++] as number;
}

/** `n` new random bytes. */
export function secureBytes(n: number): Buffer {
  return randomBytes(n);
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
