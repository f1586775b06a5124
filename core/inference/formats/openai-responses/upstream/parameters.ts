// What an endpoint of the Responses API does with each parameter and preference.
import type { Target } from '../../../canonical/contract.ts';
import type { Generation, ParameterName } from '../../../canonical/parameters.ts';
import { modalitiesBesideText } from '../../../canonical/preferences.ts';
import {
  as,
  type Fate,
  lost,
  type Reported,
  type Rule,
  type Rules,
  UNASKED,
  where,
} from '../../../canonical/rules.ts';
import type { OutputPreferences } from '../../../canonical/types.ts';
import { rejectsSampling, takes } from '../../openai-chat/words/fields.ts';

export const LOGPROBS = 'message.output_text.logprobs';

/**
 * OpenAI's minimum output cap: a smaller one is refused, and the caller would pay for a larger one than it asked for.
 */
const CAP_MIN = 16;

interface Facts {
  readonly target: Target;
  /** The caller uses this format: it knows what the API refuses, and gets the API's own errors. */
  readonly own: boolean;
}

/** Reasoning models refuse it. */
function ofSampling(name: ParameterName): Rule<number, Facts> {
  const message = `'${name}' is not taken by this model.`;
  return where(({ target }: Facts) => !rejectsSampling(target), as<number>(name), message);
}

/** The API has no such field; servers that accept one list it. */
function listed(name: ParameterName): Rule<unknown, Facts> {
  const message = `'${name}' is not taken by this endpoint.`;
  return where(({ target }: Facts) => takes(target, name), as(name), message);
}

function capReported(cap: number, { target, own }: Facts): Reported | undefined {
  if (own) return undefined;
  // Without the cap the model would produce an answer that nobody asked for and no money is held for.
  if (cap === 0) return { message: 'This endpoint cannot warm its cache without an answer.' };
  if (cap >= CAP_MIN || target.flags.includes('small_cap')) return undefined;
  return { code: 'max_tokens_too_small', message: `This endpoint takes no cap below ${CAP_MIN}.` };
}

export const GENERATION = {
  max_tokens: {
    members: ['max_output_tokens'],
    decide: (cap, facts) => ({ send: [['max_output_tokens', cap]], reported: capReported(cap, facts) }),
  },
  temperature: ofSampling('temperature'),
  top_p: ofSampling('top_p'),
  top_k: listed('top_k'),
  min_p: listed('min_p'),
  top_a: listed('top_a'),
  repetition_penalty: listed('repetition_penalty'),
  seed: listed('seed'),
  frequency_penalty: listed('frequency_penalty'),
  presence_penalty: listed('presence_penalty'),
  logit_bias: listed('logit_bias'),
  stop: where(
    ({ target }: Facts) => takes(target, 'stop'),
    as('stop'),
    'This endpoint knows no stop sequences.',
  ),
  logprobs: {
    members: ['include', 'top_logprobs'],
    decide: (count) => ({
      send:
        count > 0
          ? [
              ['include', LOGPROBS],
              ['top_logprobs', count],
            ]
          : [['include', LOGPROBS]],
    }),
  },
  candidates: lost('This endpoint gives one answer at a time.'),
} as const satisfies Rules<Generation, Facts>;

export const OUTPUT = {
  format: {
    members: ['text.format'],
    decide({ type, name = 'answer', schema = {}, strict }): Fate {
      if (type === 'text') return UNASKED;
      if (type === 'json') return { send: [['text.format', { type: 'json_object' }]] };
      const reported = strict === undefined ? {} : { strict };
      return { send: [['text.format', { type: 'json_schema', name, schema, ...reported }]] };
    },
  },
  verbosity: as('text.verbosity'),
  modalities: {
    members: [],
    decide(modalities): Fate {
      const others = modalitiesBesideText(modalities);
      if (others.length === 0) return UNASKED;
      return { lost: { message: `This endpoint cannot give ${others.join(', ')}.` } };
    },
  },
  // How audio sounds; its absence is the loss of the modality.
  audio: { members: [], decide: () => UNASKED },
} as const satisfies Rules<OutputPreferences, Facts>;
