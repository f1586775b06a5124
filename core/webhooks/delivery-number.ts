// The number of a delivery as its organization sees it. The table counts over all organizations; shown as it is, the
// count would tell each of them how much the others are sent. A keyed permutation of all 52-bit numbers (a Feistel
// network of four rounds) hides it, and takes neither a column nor a lock.
import { type Context, deriveKey, hmacSha256, type RootKeyRing } from '../kernel/index.ts';

const HALF = 2 ** 26;
const ROUNDS = [0, 1, 2, 3];
/** The largest number that can be shown. */
export const LARGEST_DELIVERY_NUMBER = HALF * HALF - 1;

function scrambled(key: Uint8Array, round: number, half: number): number {
  return hmacSha256(key, `${round} ${half}`).readUInt32BE(0) % HALF;
}

/** Numbers of deliveries in this installation. */
export interface DeliveryNumbers {
  /** From the row's id. */
  shown(id: number): number;
  /** Back to the row's id. */
  stored(number: number): number;
}

/** The numbering under `root_key`. */
export function deliveryNumbers(root_key: RootKeyRing): DeliveryNumbers {
  const key = deriveKey(root_key, 'delivery numbers');
  return {
    shown(id) {
      let left = Math.floor(id / HALF);
      let right = id % HALF;
      for (const round of ROUNDS) [left, right] = [right, left ^ scrambled(key, round, right)];
      return left * HALF + right;
    },
    stored(number) {
      let left = Math.floor(number / HALF);
      let right = number % HALF;
      for (const round of ROUNDS.toReversed()) [left, right] = [right ^ scrambled(key, round, left), left];
      return left * HALF + right;
    },
  };
}

/** The numbering of the installation that `context` runs in. */
export function numbersOf({ services }: Context): DeliveryNumbers {
  return deliveryNumbers(services.root_key);
}
