// JSON texts of output items and their parts, which are the same in a whole response and in a stream.
import { isObject } from '../../../../kernel/index.ts';
import type { Citation, Logprob, Part, ReplyMeta, ToolCallPart } from '../../../canonical/types.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** A text part at its start; clients index into its lists. */
export const EMPTY_TEXT = '{"type":"output_text","text":"","annotations":[],"logprobs":[]}';
export const EMPTY_REFUSAL = '{"type":"refusal","refusal":""}';

/** A text part; `annotations` and `logprobs` are JSON texts of list members. */
export function textPart(text: string, annotations: readonly string[], logprobs: readonly string[]): string {
  return (
    `{"type":"output_text","text":${JSON.stringify(text)},"annotations":[${annotations.join(',')}]` +
    `,"logprobs":[${logprobs.join(',')}]}`
  );
}

/** A refusal as a content part. */
export function refusalPart(text: string): string {
  return `{"type":"refusal","refusal":${JSON.stringify(text)}}`;
}

/** `phase` of the message that `part` belongs to, '' for none. */
export function phaseOf(part: Part): string {
  const phase = part.ext?.['phase'];
  return phase === 'commentary' || phase === 'final_answer' ? phase : '';
}

/** A message of the model; `parts` are JSON texts, `phase` is '' for none. */
export function messageItem(id: string, status: ItemStatus, parts: readonly string[], phase: string): string {
  const shown = phase === '' ? '' : `,"phase":"${phase}"`;
  return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${parts.join(',')}]${shown}}`;
}

/**
 * A call of a function or custom tool with `text` as its arguments. A custom call is always `completed`, even when it
 * was cut off: a widely used client accepts no other status.
 */
export function callItem(
  part: ToolCallPart,
  facts: {
    id: string;
    call_id: string;
    status: ItemStatus;
    text: string;
    meta: Pick<ReplyMeta, 'namespaces'>;
  },
): string {
  const { id, call_id, text } = facts;
  const custom = part.kind === 'custom';
  const status = custom && facts.status === 'incomplete' ? 'completed' : facts.status;
  const [type, member] = custom ? ['custom_tool_call', 'input'] : ['function_call', 'arguments'];
  return (
    `{"id":${JSON.stringify(id)},"type":"${type}","status":"${status}","call_id":${JSON.stringify(call_id)}` +
    `${nameText(part.name, facts.meta)},"${member}":${JSON.stringify(text)}}`
  );
}

/** The name of a call as its caller has it, with its namespace; members with a comma before each. */
function nameText(flat: string, { namespaces = {} }: Pick<ReplyMeta, 'namespaces'>): string {
  const own = Object.hasOwn(namespaces, flat) ? namespaces[flat] : undefined;
  if (own === undefined) return `,"name":${JSON.stringify(flat)}`;
  return `,"namespace":${JSON.stringify(own.namespace)},"name":${JSON.stringify(own.name)}`;
}

/**
 * A reasoning item with its visible text as one summary, which every client shows. Raw text of models with open weights
 * too: as `content` most clients pass over it.
 */
export function reasoningItem(id: string, text: string, encrypted: string | null): string {
  const summary = text === '' ? '' : `{"type":"summary_text","text":${JSON.stringify(text)}}`;
  const sealed = encrypted === null ? '' : `,"encrypted_content":${JSON.stringify(encrypted)}`;
  return `{"id":${JSON.stringify(id)},"type":"reasoning","summary":[${summary}]${sealed}}`;
}

/** An item of this family, unchanged, for an answer that is sent again; null when `part` is none. */
export function ownItem(part: Part): { id: string | null; text: string } | null {
  if (part.type !== 'server_tool' || part.family !== 'openai_responses') return null;
  const { payload } = part;
  if (!isObject(payload) || typeof payload['type'] !== 'string') return null;
  return { id: typeof payload['id'] === 'string' ? payload['id'] : null, text: JSON.stringify(payload) };
}

/**
 * An annotation of a text of which `length` UTF-16 units have been written; null for a kind that cannot be expressed
 * here.
 */
export function annotationText(citation: Citation, length: number): string | null {
  if (citation.kind === 'url') {
    const { url, title = citation.url, start: start_index = 0, end: end_index = length } = citation;
    return JSON.stringify({ type: 'url_citation', start_index, end_index, url, title });
  }
  if (citation.kind === 'search_result' || citation.file_id === undefined) return null;
  const { file_id, title: filename = file_id } = citation;
  return JSON.stringify({ type: 'file_citation', file_id, filename, index: length });
}

/** Log probabilities as JSON texts, one per token. */
export function logprobTexts(logprobs: readonly Logprob[]): string[] {
  return logprobs.map(({ top, token, logprob, bytes }) =>
    JSON.stringify({
      token,
      logprob,
      bytes: bytes ?? [],
      top_logprobs: top.map((other) => ({ ...other, bytes: other.bytes ?? [] })),
    }),
  );
}

/** Call ids of one response: none is empty and none occurs twice, because clients identify calls by them. */
export class CallIds {
  readonly #seen = new Set<string>();
  readonly #request_id: string;

  constructor(request_id: string) {
    this.#request_id = request_id;
  }

  /** The id of the next call. */
  take(part: ToolCallPart): string {
    const own = part.id === '' || this.#seen.has(part.id);
    const id = own ? `call_${this.#request_id}_${this.#seen.size}` : part.id;
    this.#seen.add(id);
    return id;
  }
}

/** Ids of items. The provider's id is kept when it must be sent back to it; all ids are unique. */
export class ItemIds {
  readonly #seen = new Set<string>();

  /** `wanted` if it is free, otherwise `ours`. */
  take(wanted: string | null | undefined, ours: string): string {
    const id =
      wanted === null || wanted === undefined || wanted === '' || this.#seen.has(wanted) ? ours : wanted;
    this.#seen.add(id);
    return id;
  }
}
