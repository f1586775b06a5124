// The fault of a stream that breaks off early.
import type { UpstreamFault } from './types.ts';

/** The connection closed before the provider sent a finish reason. */
export const TRUNCATED: UpstreamFault = {
  class: 'truncated',
  status: 200,
  message: 'The stream ended without a finish reason.',
};
