// The next attempt, written: the first one was with the draft, the rare later one reads the bytes again; and where its
// family wants media as bytes, they are fetched first.
import type { Admitted } from './admit.ts';
import { lostOn, readAgain } from './draft.ts';
import { type Lane, prepare } from './lane.ts';
import { type FetchedMedia, fetchMedia, pathOfUrl, wantedMedia } from './media.ts';
import type { Planned } from './plan.ts';
import { tellLost } from './record.ts';
import type { CallDeps, CallRecord, Incoming } from './types.ts';

/**
 * The lane of the next attempt, what is lost in it told in `record`; or, where `media` lacks some that its family wants
 * as bytes, a promise of all of them, with which this is to be asked again.
 * @throws ServiceError what reading refuses; the promise fails with media_fetch_failed or invalid_media.
 */
export function nextLane(
  deps: CallDeps,
  incoming: Incoming,
  admitted: Admitted,
  facts: { planned: Planned; record: CallRecord; media: FetchedMedia | null },
): Lane | Promise<FetchedMedia> {
  const { first, keep, prompt_bytes } = admitted;
  const { planned, record, media } = facts;
  admitted.first = null;
  if (first !== null) {
    tellLost(record, first.lost);
    return first;
  }
  const request = readAgain(incoming);
  const wanted = wantedMedia(request, deps.adapters.get(planned.endpoint.family), media);
  if (wanted.length > 0) {
    admitted.fetching = new AbortController();
    return fetchMedia(deps.egress, wanted, media, {
      paramOf: (url) => pathOfUrl(JSON.parse(incoming.body.toString('utf8')), url),
      signal: admitted.fetching.signal,
    });
  }
  const attempt = record.attempts.length + 1;
  const lost = lostOn(deps, request, planned.endpoint);
  tellLost(record, lost);
  return prepare(deps, incoming, request, { planned, attempt, keep, prompt_bytes, media, lost });
}
