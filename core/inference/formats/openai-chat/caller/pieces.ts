// JSON texts of pieces of an answer, which are the same in a whole message and in a delta.

import { wrapState } from '../../../canonical/reasoning.ts';
import type {
  AudioPart,
  Citation,
  ImagePart,
  Logprob,
  MediaSource,
  ReasoningPart,
  Stop,
  ToolCallPart,
  Warning,
} from '../../../canonical/types.ts';
import { stopOf } from '../words/stop.ts';

/** The dialect's finish reason; `null` counts as an ordinary end. */
export function finishReason(stop: Stop | null, legacy: boolean): string {
  switch (stop?.reason) {
    case 'max_tokens':
    case 'context_window':
      return 'length';
    case 'tool_use':
      return legacy ? 'function_call' : 'tool_calls';
    case 'content_filter':
      return 'content_filter';
    default:
      return 'stop';
  }
}

const FINISHES: ReadonlySet<string> = new Set([
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
]);

/**
 * A compatible server's finish reason in the raw lane: unchanged, or the dialect's own when clients would not know
 * it.
 */
export function chatFinish(raw: string, seen: { refusal: boolean; calls: boolean }): string {
  return FINISHES.has(raw) ? raw : finishReason(stopOf(raw, seen), false);
}

/** A warning for what the finish reason cannot express (docs/compatibility.md#answers). */
export function stopWarning(stop: Stop | null): Warning | null {
  switch (stop?.reason) {
    case 'pause':
    case 'compaction':
      return { code: 'turn_paused', message: 'The provider paused the turn; send the answer back to go on.' };
    case 'malformed':
      return { code: 'malformed_output', message: 'The model produced a malformed answer.' };
    default:
      return null;
  }
}

/** Position of a citation in the message's text, in UTF-16 units. */
interface TextSpan {
  from: number;
  to: number;
}

/** An annotation; null for a kind that the dialect cannot express. Clients require all four members. */
export function annotationText(citation: Citation, span: TextSpan): string | null {
  if (citation.kind !== 'url') return null;
  const start_index = citation.start === undefined ? span.from : span.from + citation.start;
  const end_index = citation.end === undefined ? span.to : span.from + citation.end;
  const { url, title = citation.url } = citation;
  return JSON.stringify({ type: 'url_citation', url_citation: { start_index, end_index, url, title } });
}

/** `logprobs` of a choice. */
export function logprobsText(logprobs: readonly Logprob[]): string {
  const content = logprobs.map(({ top, ...token }) => ({ ...token, top_logprobs: top }));
  return JSON.stringify({ content, refusal: null });
}

function urlOf(src: MediaSource): string {
  if ('base64' in src) return `data:${src.media_type};base64,${src.base64}`;
  return 'url' in src ? src.url : '';
}

/** One generated image. */
export function imageText(part: ImagePart): string {
  return JSON.stringify({ type: 'image_url', image_url: { url: urlOf(part.src) } });
}

/** `audio` of a message or delta. */
export function audioText(part: AudioPart): string {
  const data = 'base64' in part.src ? part.src.base64 : '';
  return JSON.stringify({ ...part.ext, data, transcript: part.transcript ?? '' });
}

/**
 * One entry of `reasoning_details` with a piece of its text and, when it is whole, the signature. State whose format
 * has no name of its own is put in an envelope that records the model which made it.
 */
export function detailText(
  part: ReasoningPart,
  piece: { index: number; text: string; signature?: string | undefined; upstream_model: string },
): string {
  const { format } = part;
  const id = part.id === undefined ? {} : { id: part.id };
  const wrap = (state: { s?: string; d?: string }): string =>
    wrapState({ f: format, m: piece.upstream_model, ...state });
  if (part.kind === 'encrypted') {
    const plain = part.data ?? '';
    const data = format === 'unknown' && plain !== '' ? wrap({ d: plain }) : plain;
    return JSON.stringify({ type: 'reasoning.encrypted', data, ...id, format, index: piece.index });
  }
  if (part.kind === 'summary' && piece.signature === undefined) {
    return JSON.stringify({
      type: 'reasoning.summary',
      summary: piece.text,
      ...id,
      format,
      index: piece.index,
    });
  }
  const signed =
    piece.signature === undefined
      ? {}
      : { signature: format === 'unknown' ? wrap({ s: piece.signature }) : piece.signature };
  return JSON.stringify({
    type: 'reasoning.text',
    text: piece.text,
    ...signed,
    ...id,
    format,
    index: piece.index,
  });
}

/** `,"extra_content":…` of a signed call, or ''. */
export function callExtra(part: ToolCallPart): string {
  if (part.signature === undefined || part.format !== 'google-gemini-v1') return '';
  return `,"extra_content":{"google":{"thought_signature":${JSON.stringify(part.signature)}}}`;
}

/** The call's id; a call that came without one gets an id made from the request's. */
export function callId(part: ToolCallPart, request_id: string, n: number): string {
  return part.id === '' ? `call_${request_id}_${n}` : part.id;
}
