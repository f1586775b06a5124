// Writes the caller's reasoning preference for this family, by what the model allows to control
// (docs/fidelity.md#effort-and-budget).
import type { Target } from '../../../canonical/contract.ts';
import { budgetToEffort, effortToBudget } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest, Effort, Loss } from '../../../canonical/types.ts';
import { FORMAT } from './reasoning.ts';

export interface ThinkingPlan {
  /** JSON text of `thinking`; null when nothing is sent. */
  thinking: string | null;
  effort: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
  /** Thinking is on: the family then accepts no temperature, top_k or forced tool. */
  on: boolean;
  losses: Loss[];
}

/** The smallest thinking budget that the family accepts. */
const BUDGET_MIN = 1_024;

/** Output cap to plan with when the call sets none: the caller's, otherwise the model's. */
export function capOf(request: CanonicalRequest, target: Target): number {
  return request.generation.max_tokens ?? target.capabilities.max_output;
}

function loss(code: string, message: string): Loss {
  return { class: 'behaviour', code, param: 'reasoning', message };
}

function none(losses: Loss[] = []): ThinkingPlan {
  return { thinking: null, effort: null, on: false, losses };
}

// With a fixed budget, the turn that is being continued must begin with its own signed thinking.
function continuesUnsigned(request: CanonicalRequest): boolean {
  const { messages } = request;
  if (messages.at(-1)?.role !== 'tool') return false;
  const turn = messages.findLast((message) => message.role === 'assistant');
  if (turn === undefined || !turn.content.some((part) => part.type === 'tool_call')) return false;
  return !turn.content.some(
    (part) =>
      part.type === 'reasoning' &&
      part.format === FORMAT &&
      (part.signature !== undefined || part.data !== undefined),
  );
}

function display(request: CanonicalRequest, adaptive: boolean): string {
  const preferences = request.reasoning?.display;
  if (preferences === 'omitted') return ',"display":"omitted"';
  // Adaptive models may hide thinking unless asked; a caller of another dialect who asks for reasoning wants to read
  // it.
  return preferences !== undefined || (adaptive && request.dialect !== 'messages')
    ? ',"display":"summarized"'
    : '';
}

function level(effort: Effort, losses: Loss[]): Exclude<ThinkingPlan['effort'], null> {
  if (effort === 'none' || effort === 'minimal') {
    losses.push(loss('effort_adjusted', `Effort '${effort}' is not offered by this model; 'low' is used.`));
    return 'low';
  }
  return effort;
}

function switchedOff(controls: readonly string[]): ThinkingPlan {
  if (controls.includes('off')) return { ...none(), thinking: '{"type":"disabled"}' };
  // Models with fixed budgets only think when told to.
  if (!controls.includes('adaptive') && !controls.includes('effort')) return none();
  const losses = [
    loss('reasoning_not_disabled', 'This model cannot switch reasoning off; its lowest effort is used.'),
  ];
  return { ...none(losses), effort: controls.includes('effort') ? 'low' : null };
}

function withBudget(
  request: CanonicalRequest,
  budget: number,
  max_tokens: number,
  plan: ThinkingPlan,
): ThinkingPlan {
  if (continuesUnsigned(request)) {
    return none([
      loss(
        'reasoning_dropped',
        'The turn being continued has no signed reasoning, so the model cannot reason in it.',
      ),
    ]);
  }
  if (max_tokens <= BUDGET_MIN) {
    return none([loss('reasoning_dropped', `Reasoning on this model needs max_tokens above ${BUDGET_MIN}.`)]);
  }
  const tokens = Math.min(Math.max(BUDGET_MIN, budget), max_tokens - 1);
  return {
    ...plan,
    on: true,
    thinking: `{"type":"enabled","budget_tokens":${tokens}${display(request, false)}}`,
  };
}

/** What to send for the reasoning preferences of `request` with an output cap of `max_tokens`, and what is lost. */
export function planThinking(request: CanonicalRequest, target: Target, max_tokens: number): ThinkingPlan {
  const preferences = request.reasoning;
  if (preferences === undefined || Object.keys(preferences).length === 0) return none();
  const controls = target.capabilities.reasoning_controls;
  if (preferences.mode === 'off' || preferences.effort === 'none') return switchedOff(controls);
  if (controls.length === 0) return none([loss('reasoning_dropped', 'This model does not reason.')]);
  const { tool_choice } = request;
  if (tool_choice !== undefined && tool_choice.type !== 'auto' && tool_choice.type !== 'none') {
    return none([loss('reasoning_dropped', 'This model does not reason when a tool call is forced.')]);
  }
  const has = (control: 'effort' | 'budget' | 'adaptive'): boolean => controls.includes(control);
  const losses: Loss[] = [];
  const plan: ThinkingPlan = { ...none(losses) };
  if (preferences.max_tokens !== undefined && has('budget')) {
    if (has('effort') && preferences.effort !== undefined) plan.effort = level(preferences.effort, losses);
    return withBudget(request, preferences.max_tokens, max_tokens, plan);
  }
  const effort =
    preferences.effort ??
    (preferences.max_tokens === undefined ? undefined : budgetToEffort(preferences.max_tokens, max_tokens));
  if (effort !== undefined && has('effort')) plan.effort = level(effort, losses);
  // In this dialect an effort alone does not switch thinking on.
  if (request.dialect === 'messages' && preferences.mode === undefined) return plan;
  if (preferences.mode === 'between_tools' && request.dialect === 'messages') {
    return { ...plan, on: true, thinking: '{"type":"between_tools"}' };
  }
  if (has('adaptive')) {
    if (effort !== undefined && plan.effort === null) {
      losses.push(loss('effort_adjusted', 'This model decides by itself how much it reasons.'));
    }
    return { ...plan, on: true, thinking: `{"type":"adaptive"${display(request, true)}}` };
  }
  if (has('budget'))
    return withBudget(request, effortToBudget(effort ?? 'medium', max_tokens), max_tokens, plan);
  return plan;
}
