// Writes the caller's reasoning preference for each maker's models (docs/fidelity.md#effort-and-budget).
import type { Target } from '../../../canonical/contract.ts';
import { budgetToEffort } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest, Effort, Loss } from '../../../canonical/types.ts';
import { planThinking } from '../../anthropic-messages/words/thinking.ts';
import { makerOf } from './model.ts';

export interface ReasoningPlan {
  /** Members of `additionalModelRequestFields` as JSON text, or null. */
  field: readonly [name: string, json: string] | null;
  /** `outputConfig.effort`, or null. */
  effort: string | null;
  /**
   * Reasoning is on, with a fixed budget or by the model's own choice: Anthropic's models then accept no sampling.
   */
  on: boolean;
  /** A fixed budget was written; the output cap must exceed it. */
  budget: boolean;
  losses: Loss[];
}

const NOTHING: ReasoningPlan = { field: null, effort: null, on: false, budget: false, losses: [] };

function lost(code: string, message: string): Loss[] {
  return [{ class: 'behaviour', code, param: 'reasoning', message }];
}

/** The levels of models that only have three: minimal becomes low, anything above high becomes high. */
function threeLevels(effort: Effort): 'low' | 'medium' | 'high' {
  if (effort === 'medium') return 'medium';
  return effort === 'high' || effort === 'xhigh' || effort === 'max' ? 'high' : 'low';
}

function adjusted(asked: Effort, used: string): Loss[] {
  return asked === used
    ? []
    : lost('effort_adjusted', `Effort '${asked}' is not offered by this model; '${used}' is used.`);
}

function byEffort(target: Target, effort: Effort): ReasoningPlan {
  const level = threeLevels(effort);
  switch (makerOf(target)) {
    case 'openai': {
      const losses = adjusted(effort, level);
      return { ...NOTHING, field: ['reasoning_effort', `"${level}"`], losses };
    }
    case 'amazon': {
      // With `high` these models refuse an output cap, and without a cap nothing limits the bill.
      const used = level === 'high' ? 'medium' : level;
      const field = ['reasoningConfig', `{"type":"enabled","maxReasoningEffort":"${used}"}`] as const;
      return { ...NOTHING, field, on: true, losses: adjusted(effort, used) };
    }
    default:
      return { ...NOTHING, effort: level, losses: adjusted(effort, level) };
  }
}

function switchedOff(target: Target): ReasoningPlan {
  const controls = target.capabilities.reasoning_controls;
  const maker = makerOf(target);
  if (controls.includes('off')) {
    return maker === 'amazon' ? { ...NOTHING, field: ['reasoningConfig', '{"type":"disabled"}'] } : NOTHING;
  }
  if (!target.capabilities.reasoning) return NOTHING;
  const losses = lost('reasoning_not_disabled', 'This model cannot switch reasoning off.');
  if (!controls.includes('effort')) return { ...NOTHING, losses };
  return { ...byEffort(target, 'low'), losses };
}

/** What to send for the reasoning preferences of `request` with an output cap of `max_tokens`, and what is lost. */
export function planReasoning(request: CanonicalRequest, target: Target, max_tokens: number): ReasoningPlan {
  const preferences = request.reasoning;
  if (preferences === undefined || Object.keys(preferences).length === 0) return NOTHING;
  if (makerOf(target) === 'anthropic') {
    const { thinking, effort, on, losses } = planThinking(request, target, max_tokens);
    const budget = thinking?.includes('budget_tokens') === true;
    return { field: thinking === null ? null : ['thinking', thinking], effort, on, budget, losses };
  }
  if (preferences.mode === 'off' || preferences.effort === 'none') return switchedOff(target);
  const effort =
    preferences.effort ??
    (preferences.max_tokens === undefined ? null : budgetToEffort(preferences.max_tokens, max_tokens));
  const controls = target.capabilities.reasoning_controls;
  if (controls.includes('effort')) {
    if (effort !== null) return byEffort(target, effort);
    return preferences.mode === 'enabled' ? byEffort(target, 'medium') : NOTHING;
  }
  if (target.capabilities.reasoning && effort === null) return NOTHING;
  return {
    ...NOTHING,
    losses: lost('reasoning_dropped', 'This model does not accept reasoning parameters.'),
  };
}
