// Bytes and latencies that follow from a seed.
import { drawFrom } from '../../crash/draw.ts';

/** A source of bytes for the product (core/kernel/random.ts). */
export function bytesFrom(seed: number): (n: number) => Buffer {
  const { int } = drawFrom(seed);
  return (n) => {
    const bytes = Buffer.allocUnsafe(n);
    for (let i = 0; i < n; i++) bytes[i] = int(0, 255);
    return bytes;
  };
}
