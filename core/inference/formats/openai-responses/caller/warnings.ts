// Warnings for what this dialect cannot express of an answer.
import type { Part, Warning } from '../../../canonical/types.ts';

export const CITATION_DROPPED: Warning = {
  code: 'citation_dropped',
  message: 'Citations other than of web pages and files cannot be shown here.',
};

/** The warning for a part that this dialect has no item for. */
export function droppedPart(part: Part): Warning {
  return {
    code: 'content_dropped',
    message: `A part of type '${part.type}' cannot be shown in this dialect.`,
  };
}
