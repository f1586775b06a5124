// Parts of an answer that a dialect has no place for.
import { isObject } from '../../kernel/index.ts';
import type { Part, Warning } from '../canonical/types.ts';

/** The warning for a part that is not in the caller's answer. */
export function droppedPart(part: Part): Warning {
  return {
    code: 'content_dropped',
    message: `A part of type '${part.type}' cannot be shown in this dialect.`,
  };
}

/** Whether `part` is a step of a web search, whose pages are citations of the text that follows. */
export function isSearchStep(part: Part): boolean {
  if (part.type !== 'server_tool') return false;
  const { name, payload } = part;
  const words = isObject(payload) ? [name, payload['name'], payload['type']] : [name];
  return words.some((word) => typeof word === 'string' && word.startsWith('web_search'));
}
