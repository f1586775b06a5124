// Counts, shares and durations as text.

const grouped = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** "16,384"; unknown is a dash. */
export function countText(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : grouped.format(count);
}

/** "16,384"; from a million on "1.2M". */
export function tileText(count: number): string {
  return count < 1_000_000 ? grouped.format(count) : compact.format(count);
}

/** A share of 0..1: "75%", "0.4%". */
export function shareText(share: number): string {
  return percent.format(share);
}

/** "402 ms", from ten seconds on "12.4 s"; below ten with one decimal, so that a gateway's part is seen. */
export function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${grouped.format(ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms))} ms`;
}

/** "1 call", "2 calls". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped.format(count)} ${count === 1 ? one : many}`;
}
