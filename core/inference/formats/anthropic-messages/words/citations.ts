// Citations, in both directions: five wire forms, three canonical kinds.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Citation } from '../../../canonical/types.ts';

const SPANS = {
  char_location: { kind: 'char', start: 'start_char_index', end: 'end_char_index' },
  page_location: { kind: 'page', start: 'start_page_number', end: 'end_page_number' },
  content_block_location: { kind: 'block', start: 'start_block_index', end: 'end_block_index' },
} as const;
const WORD = { char: 'char_location', page: 'page_location', block: 'content_block_location' } as const;

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function integer(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}

/** The citation of a wire object; null when its type is not known. */
export function readCitation(wire: unknown): Citation | null {
  if (!isObject(wire)) return null;
  const type = wire['type'];
  if (type === 'char_location' || type === 'page_location' || type === 'content_block_location') {
    const span = SPANS[type];
    return {
      kind: span.kind,
      document: integer(wire['document_index']),
      ...(typeof wire['document_title'] === 'string' ? { title: wire['document_title'] } : {}),
      start: integer(wire[span.start]),
      end: integer(wire[span.end]),
      cited_text: text(wire['cited_text']),
      ...(typeof wire['file_id'] === 'string' ? { file_id: wire['file_id'] } : {}),
    };
  }
  const title = typeof wire['title'] === 'string' ? { title: wire['title'] } : {};
  if (type === 'search_result_location') {
    return {
      kind: 'search_result',
      index: integer(wire['search_result_index']),
      source: text(wire['source']),
      ...title,
      start: integer(wire['start_block_index']),
      end: integer(wire['end_block_index']),
      cited_text: text(wire['cited_text']),
    };
  }
  if (type !== 'web_search_result_location') return null;
  return {
    kind: 'url',
    url: text(wire['url']),
    ...title,
    cited_text: text(wire['cited_text']),
    opaque: text(wire['encrypted_index']),
  };
}

/** The wire object for a citation in an answer; every nullable key is present. */
export function writeCitation(citation: Citation): JsonObject {
  switch (citation.kind) {
    case 'url':
      return {
        type: 'web_search_result_location',
        cited_text: citation.cited_text ?? '',
        encrypted_index: citation.opaque ?? '',
        title: citation.title ?? null,
        url: citation.url,
      };
    case 'search_result':
      return {
        type: 'search_result_location',
        cited_text: citation.cited_text,
        search_result_index: citation.index,
        source: citation.source,
        title: citation.title ?? null,
        start_block_index: citation.start,
        end_block_index: citation.end,
      };
    default: {
      const type = WORD[citation.kind];
      return {
        type,
        cited_text: citation.cited_text,
        document_index: citation.document,
        document_title: citation.title ?? null,
        [SPANS[type].start]: citation.start,
        [SPANS[type].end]: citation.end,
        file_id: citation.file_id ?? null,
      };
    }
  }
}

/**
 * The wire object for a citation in a request; null when the family accepts it only from its own answers (a web
 * citation without its opaque index).
 */
export function writeCitationParam(citation: Citation): JsonObject | null {
  if (citation.kind === 'url' && (citation.opaque ?? '') === '') return null;
  const { file_id: _file, ...param } = writeCitation(citation);
  return param;
}
