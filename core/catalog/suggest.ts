// Which model was probably meant. Pure.

/** Levenshtein distance of two short texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, swap));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** At most three of `ids`, nearest first, that differ from `wanted` in less than half of its characters. */
export function suggest(wanted: string, ids: Iterable<string>): string[] {
  const near: { id: string; d: number }[] = [];
  for (const id of ids) {
    const d = Math.min(distance(wanted, id), distance(wanted, id.slice(id.indexOf('/') + 1)));
    if (d < wanted.length / 2) near.push({ id, d });
  }
  near.sort((a, b) => a.d - b.d || (a.id < b.id ? -1 : 1));
  return near.slice(0, 3).map((item) => item.id);
}
