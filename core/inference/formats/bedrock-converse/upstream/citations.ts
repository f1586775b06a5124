// Citations of Converse, in both directions: a location is a union of five forms, with the cited text beside it.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Citation } from '../../../canonical/types.ts';

const SPANS = { documentChar: 'char', documentPage: 'page', documentChunk: 'block' } as const;
const WORD = { char: 'documentChar', page: 'documentPage', block: 'documentChunk' } as const;

function integer(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}

function citedText(wire: JsonObject): string {
  const content = wire['sourceContent'];
  if (!Array.isArray(content)) return '';
  return content
    .map((item) => (isObject(item) && typeof item['text'] === 'string' ? item['text'] : ''))
    .join('');
}

/** The citation of a wire object; null when its location has an unknown form. */
export function readCitation(wire: unknown): Citation | null {
  if (!isObject(wire) || !isObject(wire['location'])) return null;
  const { location } = wire as { location: JsonObject };
  const title = typeof wire['title'] === 'string' ? { title: wire['title'] } : {};
  const cited_text = citedText(wire);
  for (const [word, kind] of Object.entries(SPANS)) {
    const span = location[word];
    if (!isObject(span)) continue;
    const place = { start: integer(span['start']), end: integer(span['end']) };
    return { kind, document: integer(span['documentIndex']), ...title, ...place, cited_text };
  }
  const { searchResultLocation: result, web } = location;
  if (isObject(result)) {
    const place = { start: integer(result['start']), end: integer(result['end']) };
    const source = typeof wire['source'] === 'string' ? wire['source'] : '';
    const index = integer(result['searchResultIndex']);
    return { kind: 'search_result', index, source, ...title, ...place, cited_text };
  }
  if (!isObject(web) || typeof web['url'] !== 'string') return null;
  return { kind: 'url', url: web['url'], ...title, ...(cited_text === '' ? {} : { cited_text }) };
}

function locationOf(citation: Citation): JsonObject {
  switch (citation.kind) {
    case 'url':
      return { web: { url: citation.url } };
    case 'search_result': {
      const { index: searchResultIndex, start, end } = citation;
      return { searchResultLocation: { searchResultIndex, start, end } };
    }
    default: {
      const { document: documentIndex, start, end } = citation;
      return { [WORD[citation.kind]]: { documentIndex, start, end } };
    }
  }
}

/** The wire object of a citation of an earlier answer. */
export function writeCitation(citation: Citation): JsonObject {
  return {
    ...(citation.title === undefined ? {} : { title: citation.title }),
    ...(citation.kind === 'search_result' ? { source: citation.source } : {}),
    sourceContent: [{ text: citation.cited_text ?? '' }],
    location: locationOf(citation),
  };
}
