// The states of a mandate as one pure function: from its state and what happened to what it becomes.
import type { MandateFact } from '../topups/index.ts';
import type { MandateStatus } from './types.ts';

/** What a rail reports, what people ask for, and what the service decides. */
export type MandateChange =
  | Exclude<MandateFact['change'], 'completed'>
  /** After three failures in a row. */
  | 'failing'
  /** Another mandate has taken its place. */
  | 'replaced'
  /** The rail's leave is over. */
  | 'ended';

const IN_FORCE: readonly MandateStatus[] = ['active', 'paused'];

/** The status that `change` leads to; null when it changes nothing. An end is final. */
export function nextStatus(status: MandateStatus, change: MandateChange): MandateStatus | null {
  const in_force = IN_FORCE.includes(status);
  switch (change) {
    case 'confirmed':
      return status === 'pending' ? 'active' : null;
    case 'rejected':
      return status === 'pending' ? 'rejected' : null;
    case 'lapsed':
      return status === 'pending' ? 'expired' : null;
    case 'ended':
      return in_force ? 'expired' : null;
    case 'paused':
    case 'failing':
      return status === 'active' ? 'paused' : null;
    case 'resumed':
      return status === 'paused' ? 'active' : null;
    case 'replaced':
      return in_force ? 'cancelled' : null;
    case 'cancelled':
      return in_force || status === 'pending' ? 'cancelled' : null;
  }
}
