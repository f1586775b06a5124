// What Anthropic's models do with parameters and preferences, both behind their own API and behind Bedrock.
import type { Target } from '../../../canonical/contract.ts';
import { modalitiesBesideText } from '../../../canonical/preferences.ts';
import { type Fate, lost, type Rule, UNASKED } from '../../../canonical/rules.ts';
import type { OutputPreferences } from '../../../canonical/types.ts';

const JSON_INSTRUCTION = 'Answer with one JSON object and nothing else.';

export interface Facts {
  readonly target: Target;
  /**
   * The caller uses this format: its sampling is sent unchanged, and the API itself refuses what it does not support.
   */
  readonly own: boolean;
  /** Reasoning is on; the models then support hardly any sampling. */
  readonly thinks: boolean;
}

const NO_FIELD = 'This provider has no such field.';
const NO_SAMPLING = { message: 'This model does not accept sampling fields.' };
const WHILE_REASONING = { message: 'This model does not accept this field while it reasons.' };

/** Why the models refuse a sampling field; `beside` says whether they accept the value while they reason. */
export function refusal({ target, own, thinks }: Facts, beside: boolean): { message: string } | null {
  if (target.flags.includes('rejects_sampling')) return NO_SAMPLING;
  return thinks && !own && !beside ? WHILE_REASONING : null;
}

/** `temperature` as `member`, from 0 to 1. */
export function temperatureAs(member: string): Rule<number, Facts> {
  return {
    members: [member],
    decide(temperature, facts): Fate {
      const refused = refusal(facts, temperature === 1);
      if (refused !== null) return { lost: refused };
      const send = [[member, Math.min(1, Math.max(0, temperature))]] as const;
      if (facts.own || temperature <= 1) return { send };
      const message = 'This provider accepts 0 to 1; 1 is used.';
      return { send, reported: { code: 'temperature_clamped', message } };
    },
  };
}

/** `top_p` as `member`. */
export function topPAs(member: string): Rule<number, Facts> {
  return {
    members: [member],
    decide(top_p, facts): Fate {
      const refused = refusal(facts, top_p >= 0.95);
      return refused === null ? { send: [[member, top_p]] } : { lost: refused };
    },
  };
}

/** What no model behind this API, here or at Bedrock, supports. */
export const LACKING = {
  frequency_penalty: lost(NO_FIELD),
  presence_penalty: lost(NO_FIELD),
  repetition_penalty: lost(NO_FIELD),
  seed: lost(NO_FIELD),
  logit_bias: lost(NO_FIELD),
  min_p: lost(NO_FIELD),
  top_a: lost(NO_FIELD),
  logprobs: lost(NO_FIELD),
  candidates: lost('One answer at a time only.'),
} as const;

/** The output format: a schema as `member`, a JSON object by an instruction. */
export function formatAs(
  member: string,
  schemaOf: (format: NonNullable<OutputPreferences['format']>) => unknown,
): Rule<NonNullable<OutputPreferences['format']>, { readonly target: Target }> {
  return {
    members: [member, 'system'],
    decide(format, { target }): Fate {
      switch (format.type) {
        case 'text':
          return UNASKED;
        case 'json':
          return {
            send: [['system', JSON_INSTRUCTION]],
            reported: {
              class: 'behaviour',
              code: 'json_object_as_instruction',
              message: 'An instruction asks for it instead.',
            },
          };
        case 'json_schema':
          if (target.capabilities.json_schema) return { send: [[member, schemaOf(format)]] };
          return { lost: { message: 'This model cannot follow a schema.' } };
      }
    },
  };
}

/** These models only output text, here and at Bedrock. */
export const TEXT_ALONE = {
  modalities: {
    members: [],
    decide(modalities: readonly string[]): Fate {
      const [first, ...others] = modalitiesBesideText(modalities).map((kind) => ({
        message: `No ${kind} output on this provider.`,
      }));
      return first === undefined ? UNASKED : { lost: [first, ...others] };
    },
  },
  audio: lost('No audio output on this provider.'),
  verbosity: lost(NO_FIELD),
} as const;
