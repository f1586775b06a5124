// The request once more, from its bytes: for an attempt after the first, and for the log. Nobody keeps the canonical
// form of a prompt beside its bytes.
import type { CanonicalRequest } from '../canonical/types.ts';
import { parseExact } from '../wire/exact.ts';
import type { Incoming } from './types.ts';

/** The request of a body that was read before, with every number keeping its digits: the canonical lane writes it anew. */
export function readAgain({
  dialect,
  body,
  headers,
}: Pick<Incoming, 'dialect' | 'body' | 'headers'>): CanonicalRequest {
  return dialect.read(parseExact(body.toString('utf8')), headers);
}
