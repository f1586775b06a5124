// What Google's API does with each parameter and preference.
import type { Target } from '../../../canonical/contract.ts';
import type { Generation } from '../../../canonical/parameters.ts';
import { modalitiesBesideText } from '../../../canonical/preferences.ts';
import {
  as,
  type Fate,
  lost,
  type Member,
  type Rule,
  type Rules,
  UNASKED,
  where,
} from '../../../canonical/rules.ts';
import type { OutputPreferences } from '../../../canonical/types.ts';

/** Google's limit on stop sequences. */
const STOP_MAX = 5;

interface Facts {
  readonly target: Target;
}

const NO_FIELD = 'This provider has no such field.';

/** Whether the endpoint lists output other than text. */
function takesModalities({ target }: Facts): boolean {
  return target.capabilities.parameters.includes('modalities');
}

function ofSampling(member: string): Rule<number, Facts> {
  return where(
    ({ target }: Facts) => !target.flags.includes('rejects_sampling'),
    as<number>(`generationConfig.${member}`),
    'This model does not accept sampling fields.',
  );
}

export const GENERATION = {
  max_tokens: {
    members: ['generationConfig.maxOutputTokens'],
    decide(cap): Fate {
      const send = [['generationConfig.maxOutputTokens', cap]] as const;
      return cap === 0
        ? { send, reported: { message: 'This endpoint cannot warm its cache without an answer.' } }
        : { send };
    },
  },
  temperature: ofSampling('temperature'),
  top_p: ofSampling('topP'),
  top_k: ofSampling('topK'),
  presence_penalty: ofSampling('presencePenalty'),
  frequency_penalty: ofSampling('frequencyPenalty'),
  seed: where(
    (_facts: Facts, seed) => seed === (seed | 0),
    as<number>('generationConfig.seed'),
    'A seed is a whole number of 32 bits here.',
  ),
  stop: {
    members: ['generationConfig.stopSequences'],
    decide(list) {
      const message = `This endpoint takes at most ${STOP_MAX} stop sequences.`;
      const reported = list.length > STOP_MAX ? { code: 'stop_too_many', message } : undefined;
      return { send: [['generationConfig.stopSequences', list.slice(0, STOP_MAX)]], reported };
    },
  },
  candidates: as('generationConfig.candidateCount'),
  logprobs: {
    members: ['generationConfig.responseLogprobs', 'generationConfig.logprobs'],
    decide(count) {
      const asked: Member = ['generationConfig.responseLogprobs', true];
      return { send: count > 0 ? [asked, ['generationConfig.logprobs', count]] : [asked] };
    },
  },
  min_p: lost(NO_FIELD),
  top_a: lost(NO_FIELD),
  repetition_penalty: lost(NO_FIELD),
  logit_bias: lost(NO_FIELD),
} as const satisfies Rules<Generation, Facts>;

export const OUTPUT = {
  format: {
    members: ['generationConfig.responseMimeType', 'generationConfig.responseJsonSchema'],
    decide({ type, schema = {} }, { target }): Fate {
      if (type === 'text') return UNASKED;
      const json: Member = ['generationConfig.responseMimeType', 'application/json'];
      if (type === 'json') return { send: [json] };
      if (target.capabilities.json_schema) {
        return { send: [json, ['generationConfig.responseJsonSchema', schema]] };
      }
      return { lost: { message: 'This model cannot follow a schema.' } };
    },
  },
  modalities: {
    members: ['generationConfig.responseModalities'],
    decide(modalities, facts): Fate {
      if (takesModalities(facts)) {
        const words = modalities.map((name) => name.toUpperCase());
        return { send: [['generationConfig.responseModalities', words]] };
      }
      const [first, ...others] = modalitiesBesideText(modalities).map((kind) => ({
        message: `This endpoint does not produce ${kind}.`,
      }));
      return first === undefined ? UNASKED : { lost: [first, ...others] };
    },
  },
  audio: {
    members: ['generationConfig.speechConfig'],
    decide(audio, facts): Fate {
      // When there is no audio, the loss is that of the modality.
      if (!takesModalities(facts)) return UNASKED;
      const reported =
        audio['format'] === undefined
          ? undefined
          : ({
              class: 'behaviour',
              code: 'audio_format_dropped',
              param: 'audio.format',
              message: 'This provider chooses the format of its audio.',
            } as const);
      const voiceName = audio['voice'];
      if (facts.output?.modalities !== undefined && typeof voiceName === 'string') {
        const voiceConfig = { prebuiltVoiceConfig: { voiceName } };
        return { send: [['generationConfig.speechConfig', { voiceConfig }]], reported };
      }
      return reported === undefined ? UNASKED : { lost: reported };
    },
  },
  verbosity: lost(NO_FIELD),
} as const satisfies Rules<OutputPreferences, Facts & { readonly output?: OutputPreferences | undefined }>;
