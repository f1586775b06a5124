// The stream writer of dialects that do not stream.
import type { StreamWriter } from '../canonical/contract.ts';

/** @throws Error always: such a dialect refuses `stream` when it reads the request, so this is never called. */
export function noStream(): StreamWriter {
  throw new Error('this dialect has no streams');
}
