// Which members of `generation` in a native request ask for each parameter: the canonical names.
import { membersOf, type Readings, said, UNSAID } from '../../../caller/parameters.ts';

export const READINGS = {
  stop: said('stop'),
  max_tokens: said('max_tokens'),
  temperature: said('temperature'),
  top_p: said('top_p'),
  top_k: said('top_k'),
  min_p: said('min_p'),
  top_a: UNSAID,
  seed: said('seed'),
  frequency_penalty: said('frequency_penalty'),
  presence_penalty: said('presence_penalty'),
  repetition_penalty: said('repetition_penalty'),
  logit_bias: said('logit_bias'),
  candidates: said('candidates'),
  logprobs: said('logprobs'),
} as const satisfies Readings;

/** The members of `generation`, with their schemas. */
export const parameterMembers = membersOf(READINGS);
