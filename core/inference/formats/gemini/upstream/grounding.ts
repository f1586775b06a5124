// Sources of an answer as citations. The provider counts in bytes of UTF-8, the canonical form in UTF-16 units of the
// text part.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Citation } from '../../../canonical/types.ts';

type UrlCitation = Extract<Citation, { kind: 'url' }>;

/**
 * Number of UTF-16 units of `text` within its first `bytes` bytes of UTF-8; a character that is cut in two does not
 * count.
 */
export function utf16At(text: string, bytes: number): number {
  let left = bytes;
  let at = 0;
  while (at < text.length) {
    const point = text.codePointAt(at) as number;
    const units = point > 0xffff ? 2 : 1;
    left -= byteLength(point);
    if (left < 0) break;
    at += units;
  }
  return at;
}

function byteLength(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function offset(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function sourceOf(chunk: unknown): { url: string; title?: string } | null {
  if (!isObject(chunk)) return null;
  for (const kind of ['web', 'retrievedContext', 'maps', 'image'] as const) {
    const source = chunk[kind];
    if (!isObject(source)) continue;
    const url = source['uri'] ?? source['sourceUri'];
    if (typeof url !== 'string' || url === '') return null;
    const { title } = source;
    return typeof title === 'string' && title !== '' ? { url, title } : { url };
  }
  return null;
}

/** The cited text: all of it, or null when it was not kept. */
export interface CitedText {
  readonly text: string | null;
  /** Bytes of the text before each of the chunk's parts; an offset counts from the beginning of its part. */
  baseOf(part: number): number;
  /** Whether all of it is ASCII, so that bytes equal units. */
  readonly ascii: boolean;
}

function spanOf(from: number | undefined, to: number | undefined, base: number, cited: CitedText) {
  if (to === undefined) return {};
  const unit = (bytes: number): number | null => {
    if (cited.ascii) return bytes;
    return cited.text === null ? null : utf16At(cited.text, bytes);
  };
  const start = unit(base + (from ?? 0));
  const end = unit(base + to);
  return start === null || end === null || end < start ? {} : { start, end };
}

/** Citations in `groundingMetadata`; sources that support no segment refer to the text as a whole. */
export function groundingCitations(metadata: JsonObject, cited: CitedText): UrlCitation[] {
  const chunks = Array.isArray(metadata['groundingChunks']) ? metadata['groundingChunks'] : [];
  const sources = chunks.map(sourceOf);
  const supports = Array.isArray(metadata['groundingSupports']) ? metadata['groundingSupports'] : [];
  const citations: UrlCitation[] = [];
  for (const support of supports) {
    if (!isObject(support) || !Array.isArray(support['groundingChunkIndices'])) continue;
    const segment = isObject(support['segment']) ? support['segment'] : {};
    const base = cited.baseOf(offset(segment['partIndex']) ?? 0);
    const span = spanOf(offset(segment['startIndex']), offset(segment['endIndex']), base, cited);
    const text = typeof segment['text'] === 'string' ? { cited_text: segment['text'] } : {};
    for (const index of support['groundingChunkIndices']) {
      const source = typeof index === 'number' ? sources[index] : null;
      if (source !== null && source !== undefined)
        citations.push({ kind: 'url', ...source, ...span, ...text });
    }
  }
  if (citations.length > 0) return citations;
  return sources.filter((source) => source !== null).map((source) => ({ kind: 'url', ...source }));
}

/** Citations in `citationMetadata`: passages of the answer that repeat known texts. */
export function recitations(metadata: JsonObject, cited: CitedText): UrlCitation[] {
  const list = metadata['citations'] ?? metadata['citationSources'];
  if (!Array.isArray(list)) return [];
  const citations: UrlCitation[] = [];
  for (const item of list) {
    if (!isObject(item) || typeof item['uri'] !== 'string' || item['uri'] === '') continue;
    const title = typeof item['title'] === 'string' && item['title'] !== '' ? { title: item['title'] } : {};
    const span = spanOf(offset(item['startIndex']), offset(item['endIndex']), 0, cited);
    citations.push({ kind: 'url', url: item['uri'], ...title, ...span });
  }
  return citations;
}
