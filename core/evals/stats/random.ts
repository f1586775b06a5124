// Numbers that look random and are the same for the same seed, so that an interval or a p-value can be computed again.

/** A source of uniform numbers in [0, 1) from 32 bits of seed (mulberry32). Not for secrets. */
export function seededUnit(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
