// What a Converse call does with each parameter and preference.
import type { Target } from '../../../canonical/contract.ts';
import type { Generation } from '../../../canonical/parameters.ts';
import { as, type Fate, type Rules } from '../../../canonical/rules.ts';
import type { OutputPreferences } from '../../../canonical/types.ts';
import {
  type Facts,
  formatAs,
  LACKING,
  refusal,
  TEXT_ALONE,
  temperatureAs,
  topPAs,
} from '../../anthropic-messages/words/parameters.ts';
import { makerOf } from './model.ts';
import type { ReasoningPlan } from './reasoning.ts';

/** The facts that the rules depend on: only Anthropic's models ignore sampling while they reason. */
export function factsOf(target: Target, plan: ReasoningPlan): Facts {
  return { target, own: false, thinks: plan.on && makerOf(target) === 'anthropic' };
}

/** The endpoint's name for `top_k` among the additional fields; null when it has none. */
function topKField(target: Target): 'top_k' | 'inferenceConfig' | null {
  const maker = makerOf(target);
  if (maker === 'amazon') return 'inferenceConfig';
  return maker === 'anthropic' || target.capabilities.parameters.includes('top_k') ? 'top_k' : null;
}

export const GENERATION = {
  max_tokens: {
    members: ['inferenceConfig.maxTokens'],
    decide(cap): Fate {
      const send = [['inferenceConfig.maxTokens', cap]] as const;
      return cap === 0
        ? { send, reported: { message: 'This provider cannot warm its cache without an answer.' } }
        : { send };
    },
  },
  stop: as('inferenceConfig.stopSequences'),
  temperature: temperatureAs('inferenceConfig.temperature'),
  top_p: topPAs('inferenceConfig.topP'),
  top_k: {
    members: ['additionalModelRequestFields.top_k', 'additionalModelRequestFields.inferenceConfig'],
    decide(top_k, facts): Fate {
      const refused = refusal(facts, false);
      if (refused !== null) return { lost: refused };
      const field = topKField(facts.target);
      if (field === null) return { lost: { message: 'This model does not accept this field.' } };
      const value = field === 'top_k' ? top_k : { topK: top_k };
      return { send: [[`additionalModelRequestFields.${field}`, value]] };
    },
  },
  ...LACKING,
} as const satisfies Rules<Generation, Facts>;

export const OUTPUT = {
  ...TEXT_ALONE,
  format: formatAs('outputConfig.textFormat', ({ name, schema = {} }) => {
    // The schema is sent as text inside the JSON.
    const jsonSchema = { schema: JSON.stringify(schema), ...(name === undefined ? {} : { name }) };
    return { type: 'json_schema', structure: { jsonSchema } };
  }),
} as const satisfies Rules<OutputPreferences, { readonly target: Target }>;
