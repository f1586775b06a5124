// What the raw lane reads of a choice of text, whole or in a stream.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { stopOf } from '../../openai-chat/words/stop.ts';
import { finishText } from '../caller/text.ts';

/** No text completion holds a refusal or a call. */
export const PLAIN = { refusal: false, calls: false };

const FINISHES: ReadonlySet<string> = new Set(['stop', 'length', 'content_filter']);

/** A server's finish word as it came, or this dialect's own where clients would not know it. */
export function finishWord(raw: string): string {
  return FINISHES.has(raw) ? raw : finishText(stopOf(raw, PLAIN));
}

/** The text of `choice`, '' where it has none. @throws ProtocolFault for a choice of another wire */
export function textOf(choice: JsonObject): string {
  const { text } = choice;
  if (typeof text === 'string') return text;
  const other = 'delta' in choice || 'message' in choice;
  if (other || (text !== undefined && text !== null)) throw new ProtocolFault('a choice has no text');
  return '';
}

/** How many choices `request` asks for. */
export function choicesOf({
  generation,
  completion,
}: Pick<CanonicalRequest, 'generation' | 'completion'>): number {
  return (generation.candidates ?? 1) * (completion?.prompts ?? 1);
}

/** Bytes of the prompt with which choice `index` begins: with `echo` it is repeated, and is no output. */
export function echoedBytes(
  { generation, completion }: Pick<CanonicalRequest, 'generation' | 'completion'>,
  index: number,
): number {
  return completion?.echo?.[Math.floor(index / (generation.candidates ?? 1))] ?? 0;
}
