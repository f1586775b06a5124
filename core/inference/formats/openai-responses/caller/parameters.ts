// Which members of a responses request ask for each parameter.
import {
  membersOf,
  type Reading,
  type Readings,
  readNumber,
  said,
  UNSAID,
} from '../../../caller/parameters.ts';
import { parameterSchema, parameters } from '../../../canonical/parameters.ts';

/** In `include`, it asks for the probabilities of the chosen tokens. */
export const LOGPROBS = 'message.output_text.logprobs';

const logprobs: Reading<number> = {
  members: { top_logprobs: parameterSchema('logprobs') },
  read({ top_logprobs, include }) {
    const top = readNumber(top_logprobs, 'top_logprobs', parameters.logprobs.schema) ?? 0;
    const asked = Array.isArray(include) && include.includes(LOGPROBS);
    return asked || top > 0 ? top : undefined;
  },
};

export const READINGS = {
  logprobs,
  max_tokens: said('max_tokens', 'max_output_tokens'),
  temperature: said('temperature'),
  top_p: said('top_p'),
  top_k: UNSAID,
  min_p: UNSAID,
  top_a: UNSAID,
  stop: UNSAID,
  seed: UNSAID,
  frequency_penalty: UNSAID,
  presence_penalty: UNSAID,
  repetition_penalty: UNSAID,
  logit_bias: UNSAID,
  candidates: UNSAID,
} as const satisfies Readings;

/** The members of a responses request that ask for parameters, with their schemas. */
export const parameterMembers = membersOf(READINGS);
