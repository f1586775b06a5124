// Prepares an attempt that was not prepared with the draft, as the first one usually is, from the request as it was read
// again; media are fetched first if the family needs them as bytes.
import { ServiceError } from '../../../kernel/index.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';
import { endAttempt, tellLost } from '../record.ts';
import type { AttemptRecord, CallDeps, CallRecord, Incoming } from '../types.ts';
import type { Tries } from './failover.ts';
import { type Lane, newAttempt, prepare } from './lane.ts';
import { lostOn } from './losses.ts';
import { type FetchedMedia, fetchMedia, pathOfUrl, wantedMedia } from './media.ts';
import { refusalOf } from './outcome.ts';
import type { AttemptTerms, Planned } from './terms.ts';

/** Media being fetched for an attempt; `media` rejects with media_fetch_failed or invalid_media. */
export interface Fetch {
  /** The attempt they are fetched for; its time includes the fetching. */
  readonly attempt: AttemptRecord;
  readonly media: Promise<FetchedMedia>;
  /** The call is over, or continues without them. */
  abort(): void;
}

/**
 * The lane of an attempt at `planned`; its losses are noted in `record`. When the family needs media as bytes that
 * `media` does not contain, returns the fetch of all missing ones instead; this function is then called again with
 * its result. @throws ServiceError when the request cannot be written for the endpoint.
 */
export function nextLane(
  deps: CallDeps,
  incoming: Incoming,
  { keep, prompt_bytes }: Pick<AttemptTerms, 'keep' | 'prompt_bytes'>,
  facts: {
    request: CanonicalRequest;
    planned: Planned;
    record: CallRecord;
    media: FetchedMedia | null;
  },
): Lane | Fetch {
  const { request, planned, record, media } = facts;
  const attempt = record.attempts.length + 1;
  const wanted = wantedMedia(request, deps.adapters.get(planned.endpoint.family), media);
  if (wanted.length > 0) {
    const began = newAttempt(deps.clock, planned.endpoint, attempt);
    const controller = new AbortController();
    const fetched = fetchMedia(deps, wanted, media, {
      paramOf: (url) => pathOfUrl(JSON.parse(incoming.body.toString('utf8')), url),
      signal: controller.signal,
    });
    return { attempt: began, media: fetched, abort: () => controller.abort() };
  }
  const lost = lostOn(deps, request, planned.endpoint);
  tellLost(record, lost);
  return prepare(deps, incoming, request, { planned, attempt, keep, prompt_bytes, media, lost });
}

/** Reasons for which a fetch would fail again: the address itself, or what is there, is at fault. */
const LASTING: ReadonlySet<unknown> = new Set(['address', 'kind', 'too_large', 'too_many']);

function isLasting(error: ServiceError): boolean {
  const { reason, status } = error.details;
  if (reason === 'status') return typeof status === 'number' && status >= 400 && status < 500;
  return LASTING.has(reason);
}

/**
 * After media of the current attempt could not be fetched: moves `tries` to the next endpoint that accepts the
 * address itself and returns null, or returns the refusal for the caller. The attempt counts only when there are
 * others before or after it: a call that ends here never reached a provider.
 */
export function passUnfetched(
  deps: CallDeps,
  request: CanonicalRequest,
  tries: Tries,
  facts: { attempt: AttemptRecord; record: CallRecord; media: FetchedMedia | null; error: unknown },
): unknown {
  const { attempt, record, media, error } = facts;
  if (!(error instanceof ServiceError)) return error;
  const goes_on = tries.pass(
    deps,
    record.attempts.length + 1,
    ({ family }) => wantedMedia(request, deps.adapters.get(family), media).length === 0,
  );
  if (!goes_on && record.attempts.length === 0) return error;
  endAttempt(attempt, 'error', 'client');
  record.attempts.push(attempt);
  if (goes_on) return null;
  // An earlier provider fault may be temporary, but a bad address stays bad.
  return isLasting(error) ? error : refusalOf(deps, tries.faults, record.attempts);
}
