// Reads pieces of OpenAI-type messages and deltas into the canonical form.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { reasoningFormat, unwrapState } from '../../../canonical/reasoning.ts';
import type { Citation, ImagePart, Logprob, MediaSource, ReasoningPart } from '../../../canonical/types.ts';
import type { CallDelta } from './calls.ts';

/** A non-empty string, or null. */
export function nonEmpty(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** One piece of reasoning in a delta. */
export interface Detail {
  kind: ReasoningPart['kind'];
  /** The block that it belongs to. */
  index: number;
  text: string;
  signature: string | null;
  /** The part that it opens when none of its kind and index is open; whole when it is encrypted. */
  part: ReasoningPart;
}

/**
 * Reasoning of a message or delta: `reasoning_details` when a server sends them (they carry signatures), otherwise
 * the plain text under either of its names.
 */
export function reasoningDetails(message: JsonObject): Detail[] {
  const listed = message['reasoning_details'];
  if (Array.isArray(listed) && listed.length > 0) {
    return listed.map((item, at) => detailOf(item, at)).filter((detail) => detail !== null);
  }
  const text = nonEmpty(message['reasoning_content']) ?? nonEmpty(message['reasoning']);
  return text === null ? [] : [thought(text)];
}

/** A piece of plain reasoning. */
export function thought(text: string): Detail {
  const part: ReasoningPart = { type: 'reasoning', text: '', kind: 'full', format: 'unknown' };
  return { kind: 'full', index: 0, text, signature: null, part };
}

/** The content of one entry of a `content` list: text, or thinking, itself a list of texts; null when neither. */
export function contentChunk(value: unknown): { kind: 'text' | 'thinking'; text: string } | null {
  if (!isObject(value)) return null;
  if (value['type'] === 'text') {
    const text = nonEmpty(value['text']);
    return text === null ? null : { kind: 'text', text };
  }
  if (value['type'] !== 'thinking') return null;
  const { thinking } = value;
  const texts = Array.isArray(thinking) ? thinking : [{ text: thinking }];
  const text = texts.map((item) => (isObject(item) ? (nonEmpty(item['text']) ?? '') : '')).join('');
  return text === '' ? null : { kind: 'thinking', text };
}

function detailOf(value: unknown, at: number): Detail | null {
  if (!isObject(value)) return null;
  const index = typeof value['index'] === 'number' ? value['index'] : at;
  const id = nonEmpty(value['id']);
  const format = reasoningFormat(value['format']);
  const part: ReasoningPart = { type: 'reasoning', text: '', kind: 'full', format };
  if (id !== null) part.id = id;
  if (value['type'] === 'reasoning.encrypted') {
    const data = nonEmpty(value['data']);
    if (data === null) return null;
    part.kind = 'encrypted';
    part.data = data;
    unwrapInto(part);
    return { kind: 'encrypted', index, text: '', signature: null, part };
  }
  if (value['type'] === 'reasoning.summary') {
    part.kind = 'summary';
    return { kind: 'summary', index, text: nonEmpty(value['summary']) ?? '', signature: null, part };
  }
  if (value['type'] !== 'reasoning.text') return null;
  const signature = nonEmpty(value['signature']);
  const state = signature === null ? null : unwrapState(signature);
  if (state !== null) part.format = state.f;
  const text = nonEmpty(value['text']) ?? '';
  return { kind: 'full', index, text, signature: state === null ? signature : (state.s ?? null), part };
}

/**
 * `message`, or a delta, with its content list as plain text and `reasoning_content`, as the dialect's clients read
 * it; unchanged when its content is not a list.
 */
export function plainContent(message: JsonObject): JsonObject {
  if (!Array.isArray(message['content'])) return message;
  const pieces = message['content'].map(contentChunk).filter((piece) => piece !== null);
  const said = (kind: 'text' | 'thinking'): string =>
    pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join('');
  const thinking = said('thinking');
  return { ...message, content: said('text'), ...(thinking === '' ? {} : { reasoning_content: thinking }) };
}

/** Opens a `svc1.` envelope in `part.data`; anything else is unchanged. */
function unwrapInto(part: ReasoningPart): void {
  const state = part.data === undefined ? null : unwrapState(part.data);
  if (state === null) return;
  part.format = state.f;
  if (state.d !== undefined) part.data = state.d;
  if (state.s !== undefined) part.signature = state.s;
  if (state.i !== undefined) part.id = state.i;
}

/** The content of one entry of `tool_calls`; an entry that is not an object has none. */
export function callDelta(value: unknown): CallDelta {
  const entry = isObject(value) ? value : {};
  const custom = entry['type'] === 'custom' || isObject(entry['custom']);
  const body = custom ? entry['custom'] : entry['function'];
  const inner: JsonObject = isObject(body) ? body : {};
  const given = custom ? inner['input'] : inner['arguments'];
  return {
    index: typeof entry['index'] === 'number' ? entry['index'] : undefined,
    id: nonEmpty(entry['id']) ?? undefined,
    name: nonEmpty(inner['name']) ?? undefined,
    kind: custom ? 'custom' : 'function',
    text: argumentsText(given),
    signature: thoughtSignature(entry),
  };
}

/** Some servers send the arguments as an object instead of as text. */
function argumentsText(given: unknown): string {
  if (typeof given === 'string') return given;
  return isObject(given) ? JSON.stringify(given) : '';
}

/** Where Google's compatible servers put the signature of a call. */
export function thoughtSignature(entry: JsonObject): string | null {
  const extra = entry['extra_content'];
  const google = isObject(extra) ? extra['google'] : undefined;
  return isObject(google) ? nonEmpty(google['thought_signature']) : null;
}

/** The single call of the older `function_call` form. */
export function legacyCall(call: JsonObject): CallDelta {
  const name = nonEmpty(call['name']) ?? undefined;
  return {
    index: 0,
    id: name === undefined ? undefined : `call_${name}_0`,
    name,
    kind: 'function',
    text: typeof call['arguments'] === 'string' ? call['arguments'] : '',
    signature: null,
  };
}

/** A url annotation as a citation, or null. */
export function citationOf(value: unknown): Citation | null {
  const cited = isObject(value) ? value['url_citation'] : undefined;
  if (!isObject(cited) || typeof cited['url'] !== 'string') return null;
  const citation: Citation = { kind: 'url', url: cited['url'] };
  const title = nonEmpty(cited['title']);
  if (title !== null) citation.title = title;
  if (typeof cited['start_index'] === 'number') citation.start = cited['start_index'];
  if (typeof cited['end_index'] === 'number') citation.end = cited['end_index'];
  return citation;
}

/** A data URL as base64, anything else as an address. */
export function sourceOf(url: string): MediaSource {
  const match = /^data:([^;,]*)(?:;[^,]*)?;base64,/.exec(url.slice(0, 256));
  if (match === null) return { url };
  return { base64: url.slice(match[0].length), media_type: match[1] === '' ? 'text/plain' : match[1]! };
}

/** A generated image (`images[]` entry of type image_url), or null. */
export function imageOf(value: unknown): ImagePart | null {
  const image = isObject(value) ? value['image_url'] : undefined;
  const url = isObject(image) ? nonEmpty(image['url']) : null;
  return url === null ? null : { type: 'image', src: sourceOf(url) };
}

/** Token log probabilities of a choice, or null when none were sent. */
export function logprobsOf(value: unknown): Logprob[] | null {
  const content = isObject(value) ? value['content'] : undefined;
  if (!Array.isArray(content) || content.length === 0) return isObject(value) ? listedLogprobs(value) : null;
  return content.filter(isObject).map((item) => ({
    ...tokenOf(item),
    top: Array.isArray(item['top_logprobs']) ? item['top_logprobs'].filter(isObject).map(tokenOf) : [],
  }));
}

/** The form of the completions path: lists side by side. What has no probability (an echoed prompt's first token) is NaN. */
function listedLogprobs({ tokens, token_logprobs, top_logprobs }: JsonObject): Logprob[] | null {
  if (!Array.isArray(tokens) || tokens.length === 0) return null;
  const known: unknown[] = Array.isArray(token_logprobs) ? token_logprobs : [];
  const tops: unknown[] = Array.isArray(top_logprobs) ? top_logprobs : [];
  return tokens.map((token: unknown, i) => {
    const logprob = known[i];
    const top = tops[i];
    return {
      token: String(token),
      logprob: typeof logprob === 'number' ? logprob : Number.NaN,
      bytes: null,
      top: isObject(top)
        ? Object.entries(top).map(([name, value]) => tokenOf({ token: name, logprob: value }))
        : [],
    };
  });
}

function tokenOf(item: JsonObject): { token: string; logprob: number; bytes: number[] | null } {
  return {
    token: typeof item['token'] === 'string' ? item['token'] : '',
    logprob: typeof item['logprob'] === 'number' ? item['logprob'] : 0,
    bytes: Array.isArray(item['bytes']) ? (item['bytes'] as number[]) : null,
  };
}
