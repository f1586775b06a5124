// What an OpenAI-type chat endpoint does with each parameter and preference.
import type { Target } from '../../../canonical/contract.ts';
import type { Generation, ParameterName } from '../../../canonical/parameters.ts';
import { modalitiesBesideText } from '../../../canonical/preferences.ts';
import { as, type Fate, type Rule, type Rules, UNASKED, where } from '../../../canonical/rules.ts';
import type { OutputPreferences } from '../../../canonical/types.ts';
import { capName, has, rejectsSampling, takes } from '../words/fields.ts';

/** OpenAI's limit on stop sequences. */
const STOP_MAX = 4;

interface Facts {
  readonly target: Target;
}

/** Reasoning models refuse it. */
function ofSampling(name: ParameterName): Rule<number, Facts> {
  const message = `'${name}' is not taken by this model.`;
  return where(({ target }: Facts) => !rejectsSampling(target), as<number>(name), message);
}

/** Servers that accept it list it. */
function listed(name: ParameterName): Rule<number, Facts> {
  const message = `'${name}' is not taken by this endpoint.`;
  return where(({ target }: Facts) => takes(target, name), as<number>(name), message);
}

export const GENERATION = {
  max_tokens: {
    members: ['max_tokens', 'max_completion_tokens'],
    decide(cap, { target }) {
      const send = [[capName(target), cap]] as const;
      // Without the cap the model would produce an answer that nobody asked for and no money is held for.
      return cap === 0
        ? { send, reported: { message: 'This endpoint cannot warm its cache without an answer.' } }
        : { send };
    },
  },
  temperature: ofSampling('temperature'),
  top_p: ofSampling('top_p'),
  frequency_penalty: ofSampling('frequency_penalty'),
  presence_penalty: ofSampling('presence_penalty'),
  top_k: listed('top_k'),
  min_p: listed('min_p'),
  top_a: listed('top_a'),
  repetition_penalty: listed('repetition_penalty'),
  seed: {
    members: ['seed', 'random_seed'],
    decide: (seed, { target }) => ({ send: [[has(target, 'random_seed') ? 'random_seed' : 'seed', seed]] }),
  },
  logit_bias: as('logit_bias'),
  stop: {
    members: ['stop'],
    decide(list) {
      const message = `This endpoint takes at most ${STOP_MAX} stop sequences.`;
      const reported = list.length > STOP_MAX ? { code: 'stop_too_many', message } : undefined;
      return { send: [['stop', list.slice(0, STOP_MAX)]], reported };
    },
  },
  logprobs: {
    members: ['logprobs', 'top_logprobs'],
    decide: (count) => ({
      send:
        count > 0
          ? [
              ['logprobs', true],
              ['top_logprobs', count],
            ]
          : [['logprobs', true]],
    }),
  },
  candidates: as('n'),
} as const satisfies Rules<Generation, Facts>;

export const OUTPUT = {
  format: {
    members: ['response_format'],
    decide({ type, name = 'answer', schema = {}, strict }): Fate {
      if (type === 'text') return UNASKED;
      if (type === 'json') return { send: [['response_format', { type: 'json_object' }]] };
      const json_schema = { name, schema, ...(strict === undefined ? {} : { strict }) };
      return { send: [['response_format', { type: 'json_schema', json_schema }]] };
    },
  },
  verbosity: as('verbosity'),
  modalities: {
    members: ['modalities'],
    decide(modalities, { target }): Fate {
      if (takes(target, 'modalities')) return { send: [['modalities', modalities]] };
      const others = modalitiesBesideText(modalities);
      if (others.length === 0) return UNASKED;
      return { lost: { message: `This endpoint cannot give ${others.join(', ')}.` } };
    },
  },
  audio: {
    members: ['audio'],
    // How audio sounds; without the modality, whose loss is reported separately, there is no audio.
    decide: (audio, { target, output }): Fate =>
      output?.modalities !== undefined && takes(target, 'modalities')
        ? { send: [['audio', audio]] }
        : UNASKED,
  },
} as const satisfies Rules<OutputPreferences, Facts & { readonly output?: OutputPreferences | undefined }>;
