// A refusal that only the stop tells of. Dialects without a stop word for it tell it by the refusal of the message;
// an ordinary end would pass what was cut off for an answer.
import { isObject } from '../../kernel/index.ts';
import type { RefusalPart, Stop } from './types.ts';

const SAID = 'The model refused to go on.';

/** A refusal part for a `stop` of that reason that came without one, in the provider's words where it gave any; else null. */
export function impliedRefusal(stop: Stop | null | undefined, shown: boolean): RefusalPart | null {
  if (stop?.reason !== 'refusal' || shown) return null;
  const why = isObject(stop.detail) ? stop.detail['explanation'] : undefined;
  return { type: 'refusal', text: typeof why === 'string' && why !== '' ? why : SAID };
}
