// An attempt that was not written with the draft, as most first ones are: the bytes are read again, and where its family
// wants media as bytes, they are fetched first.
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

/** Media under way for an attempt; `media` fails with media_fetch_failed or invalid_media. */
export interface Fetch {
  /** The attempt that they are for, begun with the fetching. */
  readonly attempt: AttemptRecord;
  readonly media: Promise<FetchedMedia>;
  /** The call is over, or goes on without them. */
  abort(): void;
}

/**
 * The lane of an attempt at `planned`; what it loses of the request is noted in `record`. Where the family wants media as
 * bytes that `media` does not have, the fetch of all that are missing instead: this is called again with its result.
 * @throws ServiceError what reading the request refuses.
 */
export function nextLane(
  deps: CallDeps,
  incoming: Incoming,
  { keep, prompt_bytes }: Pick<AttemptTerms, 'keep' | 'prompt_bytes'>,
  facts: { planned: Planned; record: CallRecord; media: FetchedMedia | null },
): Lane | Fetch {
  const { planned, record, media } = facts;
  const attempt = record.attempts.length + 1;
  const request = readAgain(incoming);
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

/** Reasons for which a fetch would fail again: the address itself, or what it leads to, is at fault. */
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
  facts: { attempt: AttemptRecord; record: CallRecord; media: FetchedMedia | null; error: unknown },
): unknown {
  const { attempt, record, media, error } = facts;
  if (!(error instanceof ServiceError)) return error;
  const request = readAgain(incoming);
  const goes_on = tries.pass(
    deps,
    record.attempts.length + 1,
    ({ family }) => wantedMedia(request, deps.adapters.get(family), media).length === 0,
  );
  if (!goes_on && record.attempts.length === 0) return error;
  endAttempt(attempt, 'error', 'client');
  record.attempts.push(attempt);
  if (goes_on) return null;
  // What a provider said of an earlier attempt may pass; an address at fault stays so.
  return isLasting(error) ? error : refusalOf(deps, tries.faults, record.attempts);
}
