// Whose fault it is that a provider's bytes could not be read.
import { ProtocolFault } from '../wire/fault.ts';
import type { UpstreamFault } from './types.ts';

/**
 * Runs a step of reading what a provider sent. Only a `ProtocolFault` is the provider's and goes to `fail`. Anything else
 * is a defect of ours and is thrown on: booked as the provider's it would count against the endpoint's health, be tried
 * again elsewhere and stand in no log.
 */
export function guarded(step: () => void, fail: (fault: UpstreamFault) => void): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof ProtocolFault)) throw error;
    fail({ class: 'protocol', status: 200, message: error.message.slice(0, 2_000) });
  }
}
