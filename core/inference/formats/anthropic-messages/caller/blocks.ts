// Writes canonical parts as content blocks of an answer; used for whole answers and for streams.

import { isObject } from '../../../../kernel/index.ts';
import { type ForeignState, wrapState } from '../../../canonical/reasoning.ts';
import type { Citation, ReasoningPart, ToolCallPart } from '../../../canonical/types.ts';
import { writeCitation } from '../words/citations.ts';
import { FORMAT } from '../words/reasoning.ts';

/** JSON text of `citations`: an array, or null when there are none. */
export function citationsText(citations: readonly Citation[] | undefined): string {
  if (citations === undefined || citations.length === 0) return 'null';
  return JSON.stringify(citations.map(writeCitation));
}

/** What must be sent back with the next turn for reasoning of another family; `model` made it. */
function foreignState(part: ReasoningPart, model: string): ForeignState {
  return {
    f: part.format,
    m: model,
    ...(part.signature === undefined ? {} : { s: part.signature }),
    ...(part.data === undefined ? {} : { d: part.data }),
    ...(part.id === undefined ? {} : { i: part.id }),
  };
}

/**
 * The signature of a thinking block: that of this family byte for byte; for other reasoning an envelope with its
 * state, so that a later turn knows whose it is. '' for reasoning of this family that came without a signature.
 */
export function signatureOf(part: ReasoningPart, model: string): string {
  return part.format === FORMAT ? (part.signature ?? '') : wrapState(foreignState(part, model));
}

/** The `data` of a redacted_thinking block. */
export function sealedData(part: ReasoningPart, model: string): string {
  return part.format === FORMAT ? (part.data ?? '') : wrapState(foreignState(part, model));
}

/** Signature of the empty thinking block that carries the signature of a tool call. */
export function callSignature(part: ToolCallPart, signature: string, model: string): string {
  return wrapState({ f: part.format ?? 'unknown', m: model, s: signature, t: part.id });
}

/** The `n`th call, with an id: a call that came without one gets an id made from the request's. */
export function withId(part: ToolCallPart, request_id: string, n: number): ToolCallPart {
  return part.id === '' ? { ...part, id: `call_${request_id}_${n}` } : part;
}

/** `tool_use` block with `input` as JSON text. */
export function toolUse(part: ToolCallPart, input: string): string {
  return (
    `{"type":"tool_use","id":${JSON.stringify(part.id)},"name":${JSON.stringify(part.name)}` +
    `,"input":${input},"caller":{"type":"direct"}}`
  );
}

/** Arguments as the JSON text of an object: a value that is not an object is put under the key `arguments`. */
export function inputOf(part: ToolCallPart): string {
  if (part.kind === 'custom') return `{"input":${JSON.stringify(part.arguments)}}`;
  if (part.arguments.trim() === '') return '{}';
  try {
    if (isObject(JSON.parse(part.arguments))) return part.arguments;
  } catch {
    // Cut off by the output cap, or not JSON: the caller sees what there is.
  }
  return `{"arguments":${JSON.stringify(part.arguments)}}`;
}
