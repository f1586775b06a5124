// Writes the caller's reasoning preference for this family, by what the model allows to control
// (docs/fidelity.md#effort-and-budget): models with `effort` get a level, models with `budget` a number of tokens.
import type { Target } from '../../../canonical/contract.ts';
import { budgetToEffort, effortToBudget } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest, Effort, Loss } from '../../../canonical/types.ts';

export interface ThinkingPlan {
  /** JSON text of `thinkingConfig`; null when nothing is sent. */
  config: string | null;
  losses: Loss[];
}

/**
 * Range of budgets that all models with budgets accept.
 * @see https://ai.google.dev/gemini-api/docs/thinking (Flash ends at 24,576, Flash-Lite begins at 512)
 */
const BUDGET_MIN = 512;
const BUDGET_MAX = 24_576;
/** The model chooses. */
const DYNAMIC = -1;

function loss(code: string, message: string): Loss {
  return { class: 'behaviour', code, param: 'reasoning', message };
}

function plan(members: readonly string[], losses: Loss[] = []): ThinkingPlan {
  return { config: members.length === 0 ? null : `{${members.join(',')}}`, losses };
}

/** Whether the model accepts a level; when it has both controls the level is sent, as its maker recommends. */
export function takesLevel(target: Target): boolean {
  return target.capabilities.reasoning_controls.includes('effort');
}

function levelOf(effort: Exclude<Effort, 'none'>, target: Target, losses: Loss[]): string {
  const adjusted = (used: string): string => {
    losses.push(
      loss('effort_adjusted', `Effort '${effort}' is not offered by this model; '${used}' is used.`),
    );
    return used.toUpperCase();
  };
  if (effort === 'xhigh' || effort === 'max') return adjusted('high');
  if (effort === 'minimal' && !target.capabilities.parameters.includes('minimal_thinking'))
    return adjusted('low');
  return effort.toUpperCase();
}

function switchedOff(target: Target): ThinkingPlan {
  const controls = target.capabilities.reasoning_controls;
  if (controls.includes('off')) return plan(['"thinkingBudget":0']);
  if (controls.length === 0) return plan([]);
  const losses = [
    loss('reasoning_not_disabled', 'This model cannot switch reasoning off; its lowest effort is used.'),
  ];
  if (!takesLevel(target)) return plan([`"thinkingBudget":${BUDGET_MIN}`], losses);
  const level = target.capabilities.parameters.includes('minimal_thinking') ? 'MINIMAL' : 'LOW';
  return plan([`"thinkingLevel":"${level}"`], losses);
}

function budgetOf(tokens: number, max_tokens: number): number {
  return Math.max(BUDGET_MIN, Math.min(tokens, BUDGET_MAX, max_tokens - 1));
}

/** What to send for the reasoning preferences of `request` with an output cap of `max_tokens`, and what is lost. */
export function planThinking(request: CanonicalRequest, target: Target, max_tokens: number): ThinkingPlan {
  const preferences = request.reasoning;
  if (preferences === undefined || Object.keys(preferences).length === 0) return plan([]);
  if (preferences.mode === 'off' || preferences.effort === 'none') return switchedOff(target);
  const controls = target.capabilities.reasoning_controls;
  if (!target.capabilities.reasoning && controls.length === 0) {
    return plan([], [loss('reasoning_dropped', 'This model does not reason.')]);
  }
  const losses: Loss[] = [];
  const members = preferences.display === 'omitted' ? [] : ['"includeThoughts":true'];
  const { effort, max_tokens: budget } = preferences;
  if (takesLevel(target)) {
    const asked = effort ?? (budget === undefined ? undefined : budgetToEffort(budget, max_tokens));
    if (asked !== undefined && asked !== 'none') {
      members.unshift(`"thinkingLevel":"${levelOf(asked, target, losses)}"`);
    }
  } else if (controls.includes('budget')) {
    const asked = budget ?? (effort === undefined ? undefined : effortToBudget(effort, max_tokens));
    const tokens = asked === undefined ? DYNAMIC : budgetOf(asked, max_tokens);
    if (budget !== undefined && tokens !== budget) {
      losses.push(loss('effort_adjusted', `A thinking budget of ${tokens} tokens is used.`));
    }
    members.unshift(`"thinkingBudget":${tokens}`);
  } else if (effort !== undefined || budget !== undefined) {
    losses.push(loss('reasoning_dropped', 'How much this model reasons cannot be set.'));
  }
  return plan(members, losses);
}
