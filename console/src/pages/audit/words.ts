// What an entry of the audit log says, in words. Pure.

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What changed: each member with the values before and after. */
export function changeText(before: unknown, after: unknown): string {
  const old = (before ?? {}) as Record<string, unknown>;
  const next = (after ?? {}) as Record<string, unknown>;
  return [...new Set([...Object.keys(old), ...Object.keys(next)])]
    .map((name) =>
      name in old
        ? `${name}: ${valueText(old[name])} → ${valueText(next[name])}`
        : `${name}: ${valueText(next[name])}`,
    )
    .join('; ');
}
