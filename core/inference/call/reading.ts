// Reads the request once more from its bytes, for an attempt after the first and for the log. No canonical form of a
// prompt is kept in memory beside its bytes.
import type { CanonicalRequest } from '../canonical/types.ts';
import { parseExact } from '../wire/exact.ts';
import type { Incoming } from './types.ts';

/**
 * The request of a body that was read before. Numbers keep all digits, because the canonical lane writes them anew.
 */
export function readAgain({
  dialect,
  body,
  headers,
}: Pick<Incoming, 'dialect' | 'body' | 'headers'>): CanonicalRequest {
  return dialect.read(parseExact(body.toString('utf8')), headers);
}
