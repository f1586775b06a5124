// Whether a fault lets another endpoint be tried (docs/outcomes.md#faults-of-a-provider,
// docs/policies.md#failover).
import type { Endpoint } from '../../catalog/index.ts';

const STANDARD: readonly string[] = [];

/**
 * Whether `next` may be tried after `failed` ended with `fault_class`; `on` is the policy's `failover.on`. A prompt that
 * was too long goes to a larger context alone, a body that was too large to another provider, because the limit is the
 * provider's; the policy's `context_length` sends the prompt to any endpoint.
 */
export function mayFollow(
  failed: Endpoint,
  next: Endpoint,
  fault_class: string,
  on: readonly string[] = STANDARD,
): boolean {
  if (on.includes(`-${fault_class}`)) return false;
  switch (fault_class) {
    case 'content_filter':
      return on.includes('content_filtered');
    case 'context_length':
      return next.context_length > failed.context_length || on.includes(fault_class);
    case 'too_large':
      return next.provider !== failed.provider;
    default:
      return true;
  }
}
