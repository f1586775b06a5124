// What Anthropic's API does with each parameter and preference.
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
} from '../words/parameters.ts';

export const GENERATION = {
  max_tokens: as('max_tokens'),
  stop: as('stop_sequences'),
  temperature: temperatureAs('temperature'),
  top_p: topPAs('top_p'),
  top_k: {
    members: ['top_k'],
    decide(top_k, facts): Fate {
      const refused = refusal(facts, false);
      return refused === null ? { send: [['top_k', top_k]] } : { lost: refused };
    },
  },
  ...LACKING,
} as const satisfies Rules<Generation, Facts>;

export const OUTPUT = {
  ...TEXT_ALONE,
  format: formatAs('output_config.format', ({ schema = {} }) => ({ type: 'json_schema', schema })),
} as const satisfies Rules<OutputPreferences, Facts>;
