// The next attempt, written: the first one was with the draft, the rare later one reads the bytes again; and where its
// family wants media as bytes, they are fetched first.
import { ServiceError } from '../../../kernel/index.ts';
import { readAgain } from '../reading.ts';
import { endAttempt, tellLost } from '../record.ts';
import type { AttemptRecord, CallDeps, CallRecord, Incoming } from '../types.ts';
import type { Tries } from './failover.ts';
import { type Lane, newAttempt, prepare } from './lane.ts';
import { lostOn } from './losses.ts';
import { type FetchedMedia, fetchMedia, pathOfUrl, wantedMedia } from './media.ts';
import { refusalOf } from './outcome.ts';
import type { AttemptTerms, Planned } from './terms.ts';

/** What is ready, or under way, for the next attempt. */
export interface Begun extends AttemptTerms {
  /** The first attempt, written before the hold; null where it must be written now. */
  first: Lane | null;
  /** The fetching of media, which ends with the call, and the attempt that it is for; null where none are fetched. */
  fetching: { readonly attempt: AttemptRecord; abort(): void } | null;
}

/**
 * The lane of the next attempt, what is lost in it told in `record`; or, where `media` lacks some that its family wants
 * as bytes, a promise of all of them, with which this is to be asked again.
 * @throws ServiceError what reading refuses; the promise fails with media_fetch_failed or invalid_media.
 */
export function nextLane(
  deps: CallDeps,
  incoming: Incoming,
  admitted: Begun,
  facts: { planned: Planned; record: CallRecord; media: FetchedMedia | null },
): Lane | Promise<FetchedMedia> {
  const { first, keep, prompt_bytes } = admitted;
  const { planned, record, media } = facts;
  const attempt = record.attempts.length + 1;
  admitted.first = null;
  if (first !== null) {
    tellLost(record, first.lost);
    return first;
  }
  const request = readAgain(incoming);
  const wanted = wantedMedia(request, deps.adapters.get(planned.endpoint.family), media);
  if (wanted.length > 0) {
    const controller = new AbortController();
    const began = newAttempt(planned.endpoint, attempt);
    admitted.fetching = { attempt: began, abort: () => controller.abort() };
    return fetchMedia(deps.egress, wanted, media, {
      paramOf: (url) => pathOfUrl(JSON.parse(incoming.body.toString('utf8')), url),
      signal: controller.signal,
    });
  }
  const lost = lostOn(deps, request, planned.endpoint);
  tellLost(record, lost);
  return prepare(deps, incoming, request, { planned, attempt, keep, prompt_bytes, media, lost });
}

/** Why what an address names will not be had later either: the address itself, or what is there, is at fault. */
const LASTING: ReadonlySet<unknown> = new Set(['address', 'kind', 'too_large', 'too_many']);

function isLasting(error: ServiceError): boolean {
  const { reason, status } = error.details;
  if (reason === 'status') return typeof status === 'number' && status >= 400 && status < 500;
  return LASTING.has(reason);
}

/**
 * After media of the present attempt could not be fetched: sets `tries` to the next endpoint that takes what is missing
 * by its address, and returns null; or returns what the caller is told. An attempt is counted only where there are
 * others, before or after it: a call that ends here never came as far as a provider.
 */
export function passUnfetched(
  deps: CallDeps,
  incoming: Incoming,
  tries: Tries,
  facts: { admitted: Begun; record: CallRecord; media: FetchedMedia | null; error: unknown },
): unknown {
  const { admitted, record, media, error } = facts;
  if (!(error instanceof ServiceError)) return error;
  const request = readAgain(incoming);
  const goes_on = tries.pass(
    deps,
    admitted,
    record.attempts.length + 1,
    ({ family }) => wantedMedia(request, deps.adapters.get(family), media).length === 0,
  );
  if (!goes_on && record.attempts.length === 0) return error;
  const attempt = admitted.fetching?.attempt;
  if (attempt !== undefined) {
    endAttempt(attempt, 'error', 'client');
    record.attempts.push(attempt);
  }
  if (goes_on) return null;
  // What a provider said of an earlier attempt may pass; an address at fault stays so.
  return isLasting(error) ? error : refusalOf(deps, tries.faults, record.attempts);
}
