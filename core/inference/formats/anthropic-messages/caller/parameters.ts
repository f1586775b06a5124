// Which members of a messages request ask for each parameter.
import {
  membersOf,
  type Reading,
  type Readings,
  readNumber,
  said,
  UNSAID,
} from '../../../caller/parameters.ts';
import { fail, optionalArray, requireString } from '../../../caller/read.ts';
import { parameterSchema, parameters } from '../../../canonical/parameters.ts';

/** Required; 0 only warms the cache. */
const max_tokens: Reading<number> = {
  members: { max_tokens: { ...parameterSchema('max_tokens'), minimum: 0 } },
  read: (body) =>
    readNumber(body['max_tokens'], 'max_tokens', { ...parameters.max_tokens.schema, minimum: 0 }) ??
    fail('max_tokens', "'max_tokens' is required."),
};

const { maxItems: _ofOthers, ...stops } = parameterSchema('stop');

/** Any number of stop sequences. */
const stop: Reading<string[]> = {
  members: { stop_sequences: stops },
  read({ stop_sequences }) {
    const list = optionalArray(stop_sequences, 'stop_sequences');
    if (list === undefined || list.length === 0) return undefined;
    return list.map((item, i) => requireString(item, `stop_sequences[${i}]`));
  },
};

export const READINGS = {
  max_tokens,
  temperature: said('temperature'),
  top_p: said('top_p'),
  top_k: said('top_k'),
  stop,
  min_p: UNSAID,
  top_a: UNSAID,
  seed: UNSAID,
  frequency_penalty: UNSAID,
  presence_penalty: UNSAID,
  repetition_penalty: UNSAID,
  logit_bias: UNSAID,
  logprobs: UNSAID,
  candidates: UNSAID,
} as const satisfies Readings;

/** The members of a messages request that ask for parameters, with their schemas. */
export const parameterMembers = membersOf(READINGS);
