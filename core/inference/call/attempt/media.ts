// Fetches media that a caller names by address, for families that accept only bytes. It uses the guarded client of
// core/egress, and only after the hold, so nobody who cannot pay can make us fetch. A replayed answer fetches
// nothing.

import type { Egress, EgressResponse } from '../../../egress/index.ts';
import { isObject, ServiceError } from '../../../kernel/index.ts';
import type { Adapter, MediaType } from '../../canonical/contract.ts';
import { isContent } from '../../canonical/tasks/inputs.ts';
import type { CanonicalRequest, EmbedPart, Part } from '../../canonical/types.ts';
import type { Clock } from '../clock.ts';
import { mediaTypeOf } from './media-type.ts';

/** Limit in bytes of one item. */
export const MEDIA_BYTES_MAX = 20 * 1_024 * 1_024;
/**
 * Limit in bytes of a text: the hold for a document given by address (prompt.ts) covers no more, however dense it is.
 */
const TEXT_BYTES_MAX = 450_000;
/** Limit in bytes of all media of one call, to protect the memory of the process. */
const TOTAL_BYTES_MAX = 64 * 1_024 * 1_024;
const ITEMS_MAX = 20;
const TIME_MS = 10_000;
const CONNECT_MS = 5_000;
const REDIRECTS_MAX = 3;
const AT_ONCE = 4;

interface WantedMedia {
  readonly type: MediaType;
  readonly url: string;
}

export interface Media {
  readonly base64: string;
  readonly media_type: string;
}

/** Fetched media by kind and address. */
export type FetchedMedia = Map<string, Media>;

function keyOf({ type, url }: WantedMedia): string {
  return `${type} ${url}`;
}

function* wantedMediaOf(parts: readonly (Part | EmbedPart)[], adapter: Adapter): Generator<WantedMedia> {
  for (const part of parts) {
    if (part.type === 'tool_result' || part.type === 'search_result')
      yield* wantedMediaOf(part.content, adapter);
    else if ('src' in part && 'url' in part.src && adapter.inlines(part.type, part.src.url)) {
      yield { type: part.type, url: part.src.url };
    }
  }
}

/** What must be fetched for `adapter` and is not in `have`, each address once; empty for most requests. */
export function wantedMedia(
  request: CanonicalRequest,
  adapter: Adapter | undefined,
  have: FetchedMedia | null,
): WantedMedia[] {
  if (adapter === undefined) return [];
  const wanted = new Map<string, WantedMedia>();
  for (const content of contentsOf(request)) {
    for (const needed of wantedMediaOf(content, adapter)) {
      if (have?.has(keyOf(needed)) !== true) wanted.set(keyOf(needed), needed);
    }
  }
  return [...wanted.values()];
}

/** Everything that may contain media: messages, or the inputs of an embed task. */
function contentsOf({ messages, task }: CanonicalRequest): (readonly (Part | EmbedPart)[])[] {
  if (task?.kind !== 'embed') return messages.map(({ content }) => content);
  return task.input.filter(isContent).map(({ content }) => content);
}

function withBytes<P extends Part | EmbedPart>(part: P, adapter: Adapter, media: FetchedMedia): P {
  if (part.type === 'tool_result' || part.type === 'search_result') {
    return { ...part, content: part.content.map((inner) => withBytes(inner, adapter, media)) };
  }
  if (!('src' in part) || !('url' in part.src)) return part;
  const { url } = part.src;
  const found = adapter.inlines(part.type, url) ? media.get(keyOf({ type: part.type, url })) : undefined;
  return found === undefined ? part : { ...part, src: found };
}

/** `request` with the fetched media in place of the addresses that `adapter` cannot use. */
export function withMedia(
  request: CanonicalRequest,
  adapter: Adapter | undefined,
  media: FetchedMedia | null,
): CanonicalRequest {
  if (media === null || adapter === undefined) return request;
  if (request.task?.kind === 'embed') {
    const input = request.task.input.map((item) =>
      isContent(item) ? { content: item.content.map((part) => withBytes(part, adapter, media)) } : item,
    );
    return { ...request, task: { ...request.task, input } };
  }
  const messages = request.messages.map((message) => ({
    ...message,
    content: message.content.map((part) => withBytes(part, adapter, media)),
  }));
  return { ...request, messages };
}

/** Members that hold a media address, in all dialects. */
const ADDRESS = new Set(['url', 'image_url', 'video_url', 'file_url']);

/** Path of the member of `value` (a parsed body) whose media address is `url`; null when there is none. */
export function pathOfUrl(value: unknown, url: string, path = ''): string | null {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = pathOfUrl(value[i], url, `${path}[${i}]`);
      if (found !== null) return found;
    }
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const at = path === '' ? name : `${path}.${name}`;
      if (member === url && ADDRESS.has(name)) return at;
      const found = pathOfUrl(member, url, at);
      if (found !== null) return found;
    }
  }
  return null;
}

/** Finds the faulty member in the caller's body; called only when a fetch failed. */
type ParamOf = (url: string) => string | null;

/** How the media of one call are fetched. */
export interface Fetching {
  readonly paramOf: ParamOf;
  /** Aborted when the call is over: running fetches end, and no new one begins. */
  readonly signal: AbortSignal;
}

interface Item extends WantedMedia, Fetching {}

function refuse(
  code: 'media_fetch_failed' | 'invalid_media',
  item: Item,
  message: string,
  facts: { reason: string; status?: number },
): never {
  const param = item.paramOf(item.url);
  throw new ServiceError(code, message, {
    ...(param === null ? {} : { param }),
    details: { ...facts, media: item.type },
  });
}

function redirectOf(answer: EgressResponse, url: string): string | null {
  if (answer.fault !== null || ![301, 302, 303, 307, 308].includes(answer.status)) return null;
  const { location } = answer.headers;
  return typeof location === 'string' && URL.canParse(location, url) ? new URL(location, url).href : null;
}

interface Guarded {
  readonly egress: Egress;
  readonly clock: Clock;
}

/** Fetches one address and follows redirects; the guard checks each as if the caller had named it. */
async function fetchOne({ egress, clock }: Guarded, item: Item): Promise<Media> {
  const deadline = clock.monotonicMs() + TIME_MS;
  let { url } = item;
  for (let hop = 0; ; hop++) {
    // The guard allows http in development; media must use https even there.
    const form = url.startsWith('https://') ? await egress.refusalOf(url) : 'must begin with https://';
    if (form !== null) {
      refuse('media_fetch_failed', item, `The media address ${form}.`, { reason: 'address' });
    }
    const left = Math.max(1, Math.ceil(deadline - clock.monotonicMs()));
    const answer = await egress.exchange({
      url,
      method: 'GET',
      headers: { 'user-agent': 'svc-media/1', accept: '*/*', 'accept-encoding': 'identity' },
      body: null,
      connect_ms: Math.min(CONNECT_MS, left),
      total_ms: left,
      body_bytes_max: MEDIA_BYTES_MAX,
      signal: item.signal,
    });
    const next = hop < REDIRECTS_MAX ? redirectOf(answer, url) : null;
    if (next === null) return mediaOf(answer, item, clock.monotonicMs() >= deadline);
    url = next;
  }
}

function mediaOf(answer: EgressResponse, item: Item, late: boolean): Media {
  if (answer.fault !== null) {
    refuse('media_fetch_failed', item, 'The media address could not be fetched.', { reason: answer.fault });
  }
  const { status, headers, body, complete } = answer;
  if (status !== 200) {
    const message = `The media address answered with status ${status}.`;
    refuse('media_fetch_failed', item, message, { reason: 'status', status });
  }
  if (!complete && body.length >= MEDIA_BYTES_MAX) {
    refuse('invalid_media', item, 'The media is larger than 20 MiB.', { reason: 'too_large' });
  }
  if (!complete) {
    const reason = late ? 'timeout' : 'cut';
    refuse('media_fetch_failed', item, 'The media was cut off while it was fetched.', { reason });
  }
  const declared = headers['content-type'];
  const media_type = mediaTypeOf(item.type, typeof declared === 'string' ? declared : '', body);
  if (media_type === null || body.length === 0) {
    refuse('invalid_media', item, `What was fetched is not of kind ${item.type}.`, { reason: 'kind' });
  }
  if (media_type.startsWith('text/') && body.length > TEXT_BYTES_MAX) {
    const message = `A text given by address may have at most ${TEXT_BYTES_MAX} bytes; send a longer one as text.`;
    refuse('invalid_media', item, message, { reason: 'too_large' });
  }
  return { base64: body.toString('base64'), media_type };
}

/**
 * Fetches what is in `missing`, a few at a time, and adds it to what is in `have`.
 * @throws ServiceError media_fetch_failed, invalid_media with the `param` from `how.paramOf`.
 */
export async function fetchMedia(
  deps: Guarded,
  missing: readonly WantedMedia[],
  have: FetchedMedia | null,
  how: Fetching,
): Promise<FetchedMedia> {
  const media: FetchedMedia = new Map(have);
  const extra = missing[ITEMS_MAX - media.size];
  if (extra !== undefined) {
    const message = `At most ${ITEMS_MAX} media of a call can be given by address.`;
    refuse('invalid_media', { ...extra, ...how }, message, { reason: 'too_many' });
  }
  let next = 0;
  let total = 0;
  let failed = false;
  const work = async (): Promise<void> => {
    while (!failed && !how.signal.aborted && next < missing.length) {
      const needed = missing[next++] as WantedMedia;
      const found = await fetchOne(deps, { ...needed, ...how });
      total += (found.base64.length * 3) >> 2;
      if (total > TOTAL_BYTES_MAX) {
        const message = 'The media given by address are larger than 64 MiB together.';
        refuse('invalid_media', { ...needed, ...how }, message, { reason: 'too_large' });
      }
      media.set(keyOf(needed), found);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, missing.length) }, work));
  } finally {
    // After a fault no further fetch begins.
    failed = true;
  }
  return media;
}
