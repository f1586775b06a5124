// A refusal that only the stop reason reports. Dialects without such a stop reason get a refusal part instead: a
// normal stop would make a cut-off answer look complete.
import { isObject } from '../../kernel/index.ts';
import type { RefusalPart, Stop } from './types.ts';

const SAID = 'The model refused to go on.';

/**
 * A refusal part for a `stop` that reports a refusal when none was `shown`, in the provider's words if it gave any;
 * otherwise null.
 */
export function impliedRefusal(stop: Stop | null | undefined, shown: boolean): RefusalPart | null {
  if (stop?.reason !== 'refusal' || shown) return null;
  const why = isObject(stop.detail) ? stop.detail['explanation'] : undefined;
  return { type: 'refusal', text: typeof why === 'string' && why !== '' ? why : SAID };
}
