// Reads the request once more from its bytes, for an attempt after the first and for the log. No canonical form of a
// prompt is kept in memory beside its bytes.
import type { Steps } from '../../kernel/index.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { parseExact } from '../wire/exact.ts';
import { parseExactInSteps } from './sliced-json.ts';
import type { Incoming } from './types.ts';

type Bytes = Pick<Incoming, 'dialect' | 'body' | 'headers'>;

/**
 * The request of a body that was read before. Numbers keep all digits, because the canonical lane writes them anew.
 */
export function readAgain({ dialect, body, headers }: Bytes): CanonicalRequest {
  return dialect.read(parseExact(body.toString('utf8')), headers);
}

/** The same in steps, for a large body. */
export function* readAgainInSteps({ dialect, body, headers }: Bytes): Steps<CanonicalRequest> {
  return yield* requestInSteps({ dialect, headers }, yield* parseExactInSteps(body));
}

/** The request of a parsed `body`, in as many steps as its dialect reads by. */
export function* requestInSteps(
  { dialect, headers }: Pick<Incoming, 'dialect' | 'headers'>,
  body: unknown,
): Steps<CanonicalRequest> {
  return dialect.readInSteps === null
    ? dialect.read(body, headers)
    : yield* dialect.readInSteps(body, headers);
}
