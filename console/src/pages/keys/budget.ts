// A budget as a person types it.

/** "25" or "0.5" dollars as micro-USD; undefined when it is not an amount. */
export function microOf(text: string): string | undefined {
  const match = /^\s*\$?\s*(\d{1,9})(?:\.(\d{1,6}))?\s*$/.exec(text.replaceAll(',', ''));
  if (match === null) return undefined;
  return (BigInt(match[1] as string) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'))).toString();
}
