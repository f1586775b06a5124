// Which members of a chat request ask for each parameter.
import type { JsonObject } from '../../../../kernel/index.ts';
import {
  membersOf,
  type Reading,
  type Readings,
  readNumber,
  readStrings,
  said,
} from '../../../caller/parameters.ts';
import { fail, optionalBoolean } from '../../../caller/read.ts';
import { parameterSchema, parameters } from '../../../canonical/parameters.ts';

const cap = { ...parameterSchema('max_tokens') };

/** The output cap, under its older and its newer name. */
export const max_tokens: Reading<number> = {
  members: { max_tokens: cap, max_completion_tokens: cap },
  read(body) {
    const { schema } = parameters.max_tokens;
    const older = readNumber(body['max_tokens'], 'max_tokens', schema);
    const newer = readNumber(body['max_completion_tokens'], 'max_completion_tokens', schema);
    if (older !== undefined && newer !== undefined && older !== newer) {
      fail('max_tokens', "'max_tokens' and 'max_completion_tokens' differ.");
    }
    return newer ?? older;
  },
};

const { description, examples, ...stops } = parameterSchema('stop');

/** One text or a list of texts. */
const stop: Reading<string[]> = {
  members: { stop: { anyOf: [{ type: 'string' }, stops], description, examples } },
  read({ stop: value }) {
    return typeof value === 'string' ? [value] : readStrings(value, 'stop', parameters.stop.schema);
  },
};

/** A switch, and a second member with the number of alternatives. */
const logprobs: Reading<number> = {
  members: {
    logprobs: { type: 'boolean', description: 'Asks for log probabilities of the tokens.' },
    top_logprobs: parameterSchema('logprobs'),
  },
  read(body: JsonObject) {
    const asked = optionalBoolean(body['logprobs'], 'logprobs') ?? false;
    const top = readNumber(body['top_logprobs'], 'top_logprobs', parameters.logprobs.schema);
    if (!asked && top !== undefined && top > 0)
      fail('top_logprobs', "'top_logprobs' needs 'logprobs': true.");
    return asked ? (top ?? 0) : undefined;
  },
};

export const READINGS = {
  max_tokens,
  temperature: said('temperature'),
  top_p: said('top_p'),
  top_k: said('top_k'),
  min_p: said('min_p'),
  top_a: said('top_a'),
  repetition_penalty: said('repetition_penalty'),
  frequency_penalty: said('frequency_penalty'),
  presence_penalty: said('presence_penalty'),
  seed: said('seed'),
  stop,
  logit_bias: said('logit_bias'),
  logprobs,
  candidates: said('candidates', 'n'),
} as const satisfies Readings;

/** The members of a chat request that ask for parameters, with their schemas. */
export const parameterMembers = membersOf(READINGS);
