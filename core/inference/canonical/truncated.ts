// How a stream that breaks off is told.
import type { UpstreamFault } from './types.ts';

/** The connection closed before a finish reason was told. */
export const TRUNCATED: UpstreamFault = {
  class: 'truncated',
  status: 200,
  message: 'The stream ended without a finish reason.',
};
