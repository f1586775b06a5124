// Which wire names an endpoint takes, read from its capabilities and flags.
import type { Target } from '../../canonical/contract.ts';
import type { CanonicalRequest, Effort } from '../../canonical/types.ts';
import { budgetToEffort } from '../../dialects/shared/reasoning.ts';

/** Whether `target` lists `parameter` among those it takes beyond the common ones. */
export function takes(target: Target, parameter: string): boolean {
  return target.capabilities.parameters.includes(parameter);
}

/** Name of the output cap: what the endpoint lists, else what the caller wrote, else the older name. */
export function capName(target: Target, written?: string): 'max_tokens' | 'max_completion_tokens' {
  if (takes(target, 'max_completion_tokens')) return 'max_completion_tokens';
  if (takes(target, 'max_tokens')) return 'max_tokens';
  return written === 'max_completion_tokens' ? written : 'max_tokens';
}

/** Whether `tier` is the ordinary one. */
export function isDefaultTier(tier: string | undefined): boolean {
  return tier === undefined || tier === 'auto' || tier === 'default';
}

/** Whether the endpoint refuses sampling parameters (reasoning models). */
export function rejectsSampling(target: Target): boolean {
  return target.flags.includes('rejects_sampling');
}

/**
 * The `reasoning_effort` for the request's wish, or null to leave it out; `lost` names what the wish becomes where
 * it cannot be met.
 */
export function effortFor(
  request: CanonicalRequest,
  target: Target,
): { effort: Effort | null; lost: 'reasoning_dropped' | 'reasoning_not_disabled' | null } {
  const wish = request.reasoning;
  if (wish === undefined) return { effort: null, lost: null };
  const { reasoning, reasoning_controls: controls, max_output } = target.capabilities;
  const off = wish.mode === 'off' || wish.effort === 'none';
  if (!reasoning) return { effort: null, lost: off ? null : 'reasoning_dropped' };
  if (off) {
    if (controls.includes('off')) return { effort: 'none', lost: null };
    return { effort: controls.includes('effort') ? 'minimal' : null, lost: 'reasoning_not_disabled' };
  }
  if (!controls.includes('effort'))
    return { effort: null, lost: hasStrength(request) ? 'reasoning_dropped' : null };
  if (wish.effort !== undefined) return { effort: wish.effort, lost: null };
  if (wish.max_tokens !== undefined) {
    return {
      effort: budgetToEffort(wish.max_tokens, request.generation.max_tokens ?? max_output),
      lost: null,
    };
  }
  return { effort: wish.mode === 'enabled' ? 'medium' : null, lost: null };
}

function hasStrength(request: CanonicalRequest): boolean {
  return request.reasoning?.effort !== undefined || request.reasoning?.max_tokens !== undefined;
}
