// A budget as a person types it.

/** "25" or "0.5" dollars as micro-USD; undefined when it is not an amount. */
export function microOf(text: string): string | undefined {
  // Commas stand between thousands alone: elsewhere one is somebody's decimal point.
  const match = /^\s*\$?\s*(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(?:\.(\d{1,6}))?\s*$/.exec(text);
  if (match === null) return undefined;
  const dollars = (match[1] as string).replaceAll(',', '');
  return (BigInt(dollars) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'))).toString();
}
