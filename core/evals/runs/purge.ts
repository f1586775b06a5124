// Forgets the text of answers when the organization's data policy keeps it no longer.
import type { Db } from '../../kernel/index.ts';
import { forgetOutputs } from './store.ts';

const BATCH = 1_000;

/** Forgets all that is due at `at`; returns how many answers. */
export async function purgeEvalOutputs(db: Db, at: Date): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const n = await forgetOutputs(db, { at, limit: BATCH });
    forgotten += n;
    if (n < BATCH) return forgotten;
  }
}
