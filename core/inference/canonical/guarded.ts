// Decides whether the provider or this program is at fault when a provider's bytes cannot be read.
import { ProtocolFault } from '../wire/fault.ts';
import type { UpstreamFault } from './types.ts';

/**
 * Runs a step that reads what a provider sent. Only a `ProtocolFault` is the provider's fault and is passed to
 * `fail`. Anything else is a defect of ours and is thrown: treated as the provider's fault, it would count against
 * the endpoint's health, be retried elsewhere, and never be logged.
 */
export function guarded(step: () => void, fail: (fault: UpstreamFault) => void): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof ProtocolFault)) throw error;
    fail({ class: 'protocol', status: 200, message: error.message.slice(0, 2_000) });
  }
}
