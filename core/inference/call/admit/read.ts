// The body of a call becomes a request: at once, or in the slices of a turn that large bodies wait for.
import type { Steps } from '../../../kernel/index.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';
import { mayLoseDigits } from '../../wire/exact.ts';
import { readAgain, readAgainInSteps, requestInSteps } from '../reading.ts';
import { parseInSteps } from '../sliced-json.ts';
import type { Incoming } from '../types.ts';
import { parseText } from './parse.ts';

/** A body as it was read. */
export interface Read {
  /** The decoded body; undefined for one that was read in slices, which is never one text. */
  readonly text?: string;
  readonly body: unknown;
  readonly request: CanonicalRequest;
}

/** The whole body in one go. @throws ServiceError what reading refuses. */
export function readAtOnce(incoming: Incoming): Read {
  const { body: bytes, members, dialect, headers } = incoming;
  const text = bytes.toString('utf8');
  const body = parseText(text, members);
  const request = dialect.read(body, headers);
  return { text, body, request };
}

/** The body in steps. @throws ServiceError what reading refuses. */
export function* readInSteps(incoming: Incoming): Steps<Read> {
  const { body: bytes } = incoming;
  const body = yield* parseInSteps(bytes);
  const request = yield* requestInSteps(incoming, body);
  yield;
  return { body, request };
}

/** The request of `read` with all digits of its numbers, for a lane that writes them anew. */
export function* exactRequest(incoming: Incoming, { text, request }: Read): Steps<CanonicalRequest> {
  if (text !== undefined) return mayLoseDigits(text) ? readAgain(incoming) : request;
  if (!(yield* mayLoseDigitsIn(incoming.body))) return request;
  return yield* readAgainInSteps(incoming);
}

/** Bytes that are looked at in one step. */
const LOOK_BYTES = 262_144;
/** Whatever may lose digits is recognized within so many bytes: one of two neighbours has it whole. */
const OVERLAP_BYTES = 32;

function* mayLoseDigitsIn(bytes: Buffer): Steps<boolean> {
  for (let at = 0; at < bytes.length; at += LOOK_BYTES) {
    if (mayLoseDigits(bytes.toString('latin1', at, at + LOOK_BYTES + OVERLAP_BYTES))) return true;
    yield;
  }
  return false;
}
