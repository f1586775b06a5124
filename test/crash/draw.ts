// Seeded draws: a failing round is replayed by its seed. What the machine's scheduling adds cannot be seeded.

export interface Draw {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  unit(): number;
  /** An integer from `min` to `max`, both inclusive. */
  int(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  /** One of the keys of `weights`, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K;
}

/** Draws that follow from `seed` alone (mulberry32). */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number): number => min + Math.floor(unit() * (max - min + 1));
  return {
    unit,
    int,
    pick: (items) => items[int(0, items.length - 1)] as (typeof items)[number],
    weighted: (weights) => {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = unit() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      return (entries[0] as [keyof typeof weights, number])[0];
    },
  };
}
