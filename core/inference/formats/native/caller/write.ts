// Writes a canonical answer as the JSON text of a native answer.
import type { Candidate, CanonicalAnswer, ReplyEnd, ReplyMeta } from '../../../canonical/types.ts';
import { endMembers, shownPart, stopText } from './pieces.ts';

const NOTHING: Candidate = { index: 0, content: [], stop: null };

/**
 * The whole answer as JSON text. A stop reason set by one of our limits applies to the candidates that had not
 * stopped by themselves.
 */
export function writeNative(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const all = answer.candidates.length > 0 ? answer.candidates : [NOTHING];
  const candidates = all.map((candidate) => candidateText(candidate, meta, end));
  const id = JSON.stringify(meta.request_id);
  return (
    `{"id":${id},"request_id":${id},"model":${JSON.stringify(meta.model)},"created":${meta.created},` +
    `"candidates":[${candidates.join(',')}],${endMembers(meta, end, answer.upstream_model)}}`
  );
}

function candidateText({ index, content, stop }: Candidate, meta: ReplyMeta, end: ReplyEnd): string {
  const parts: string[] = [];
  let calls = 0;
  for (const part of content) {
    // A decoder may skip an index; the indexes of an answer have no gaps.
    if (part === undefined || (part.type === 'reasoning' && meta.reasoning === 'exclude')) continue;
    parts.push(JSON.stringify(shownPart(part, meta.request_id, calls)));
    if (part.type === 'tool_call') calls++;
  }
  return `{"index":${index},"content":[${parts.join(',')}],"stop":${stopText(stop ?? end.stop ?? null)}}`;
}
