// Waiting for a condition, in tests that look at programs from outside.

/** Resolves with the first value of `look` that is not null, false or undefined. @throws Error after `patience_ms`. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  patience_ms = 30_000,
): Promise<T> {
  const deadline = performance.now() + patience_ms;
  let last: unknown = 'never so';
  while (performance.now() < deadline) {
    try {
      const found = await look();
      if (found !== null && found !== false && found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${what}: not within ${patience_ms} ms (${String(last)})`);
}
