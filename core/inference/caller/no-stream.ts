// The writer of dialects that have no streams.
import type { StreamWriter } from '../canonical/contract.ts';

/** @throws Error always: such a dialect refuses `stream` when it reads, so nobody can ask. */
export function noStream(): StreamWriter {
  throw new Error('this dialect has no streams');
}
