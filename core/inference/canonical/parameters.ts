// The parameters of generation: each is declared here once, with what its value may be, what it means and what it is
// where a provider has no place for it. Callers' formats read by this table, providers' formats say for every row what
// becomes of it, and the documents (OpenAPI, docs/compatibility.md) are made of it. A member of `Generation` without a
// row does not compile, nor does a format that forgets one (`rules.ts`, `caller/parameters.ts`).
import type { Loss } from './loss.ts';

export interface Generation {
  max_tokens?: number;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  min_p?: number;
  top_a?: number;
  stop?: string[];
  seed?: number;
  frequency_penalty?: number;
  presence_penalty?: number;
  repetition_penalty?: number;
  logit_bias?: Record<string, number>;
  /** Number of alternatives per token asked for; 0 = only the chosen token's own. */
  logprobs?: number;
  candidates?: number;
}

export type ParameterName = keyof Generation;

/** JSON Schemas of the values; bounds are inclusive. */
export interface NumberSchema {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
}
export interface StringsSchema {
  readonly type: 'array';
  readonly items: { readonly type: 'string' };
  readonly maxItems?: number;
}
export interface WeightsSchema {
  readonly type: 'object';
  readonly additionalProperties: NumberSchema;
}

/** The schema that a value of type `V` can have. */
type SchemaFor<V> = V extends number
  ? NumberSchema
  : V extends readonly string[]
    ? StringsSchema
    : V extends Readonly<Record<string, number>>
      ? WeightsSchema
      : never;

interface Parameter<V> {
  /** Bounds as callers' formats enforce them; a format that enforces others says so in its own table. */
  readonly schema: SchemaFor<V>;
  readonly description: string;
  readonly example: V;
  /** What it is to a caller that an endpoint has no place for it, and the word by which the loss names it. */
  readonly loss: Pick<Loss, 'class' | 'code' | 'param'>;
  /** Whether `value` asks for what is done unasked: then there is nothing to send and nothing to lose. */
  isDefault?(value: V): boolean;
}

type Table = { readonly [K in ParameterName]-?: Parameter<NonNullable<Generation[K]>> };

function sampling(param: ParameterName): Parameter<never>['loss'] {
  return { class: 'behaviour', code: 'sampling_dropped', param };
}

export const parameters = {
  max_tokens: {
    schema: { type: 'integer', minimum: 1 },
    description: 'The most tokens that the answer may have, reasoning included.',
    example: 1024,
    // Without the cap of 0 that warms a cache there would be an answer that nobody asked for.
    loss: { class: 'content', code: 'cache_warmup_unsupported', param: 'max_tokens' },
  },
  temperature: {
    schema: { type: 'number', minimum: 0, maximum: 2 },
    description: 'How freely tokens are drawn: 0 takes the likeliest, higher values vary more.',
    example: 0.7,
    loss: sampling('temperature'),
  },
  top_p: {
    schema: { type: 'number', minimum: 0, maximum: 1 },
    description: 'Draws only from the likeliest tokens whose probabilities together reach this share.',
    example: 0.9,
    loss: sampling('top_p'),
  },
  top_k: {
    schema: { type: 'integer', minimum: 0 },
    description: 'Draws only from this many of the likeliest tokens.',
    example: 40,
    loss: sampling('top_k'),
  },
  min_p: {
    schema: { type: 'number', minimum: 0, maximum: 1 },
    description: 'Draws only from tokens that are at least this probable in relation to the likeliest.',
    example: 0.05,
    loss: sampling('min_p'),
  },
  top_a: {
    schema: { type: 'number', minimum: 0, maximum: 1 },
    description:
      'Draws only from tokens that are at least as probable as this times the square of the likeliest.',
    example: 0.1,
    loss: sampling('top_a'),
  },
  stop: {
    schema: { type: 'array', items: { type: 'string' }, maxItems: 16 },
    description: 'Texts at which the answer ends; they are no part of it.',
    example: ['END'],
    loss: { class: 'content', code: 'stop_unsupported', param: 'stop' },
    isDefault: (list) => list.length === 0,
  },
  seed: {
    schema: { type: 'integer' },
    description:
      'The same seed with the same request asks for the same answer; providers promise no more than to try.',
    example: 7,
    loss: sampling('seed'),
  },
  frequency_penalty: {
    schema: { type: 'number', minimum: -2, maximum: 2 },
    description: 'Makes a token less likely the more often it stands in the text already.',
    example: 0.5,
    loss: sampling('frequency_penalty'),
  },
  presence_penalty: {
    schema: { type: 'number', minimum: -2, maximum: 2 },
    description: 'Makes a token less likely once it stands in the text at all.',
    example: 0.5,
    loss: sampling('presence_penalty'),
  },
  repetition_penalty: {
    schema: { type: 'number', minimum: 0, maximum: 2 },
    description: 'Divides the likelihood of tokens that stand in the prompt or the text; 1 changes nothing.',
    example: 1.1,
    loss: sampling('repetition_penalty'),
  },
  logit_bias: {
    schema: { type: 'object', additionalProperties: { type: 'number', minimum: -100, maximum: 100 } },
    description: 'By token id, what is added to its logit: -100 bans the token, 100 forces it.',
    example: { '50256': -100 },
    loss: sampling('logit_bias'),
  },
  logprobs: {
    schema: { type: 'integer', minimum: 0, maximum: 20 },
    description:
      'Asks for log probabilities of the tokens, with so many alternatives of each; 0 for the chosen tokens alone.',
    example: 2,
    loss: { class: 'content', code: 'logprobs_unsupported', param: 'logprobs' },
  },
  candidates: {
    schema: { type: 'integer', minimum: 1, maximum: 8 },
    description: 'How many answers are made; each is charged.',
    example: 2,
    loss: { class: 'content', code: 'candidates_unsupported', param: 'n' },
    isDefault: (count) => count <= 1,
  },
} as const satisfies Table;

/** All of them, in the order of the table. */
export const parameterNames = Object.keys(parameters) as readonly ParameterName[];

/** The JSON Schema of parameter `name` with its meaning and an example, as documents show it. */
export function parameterSchema(name: ParameterName): Readonly<Record<string, unknown>> {
  const { schema, description, example } = parameters[name];
  return { ...schema, description, examples: [example] };
}

/** `generation` with the output cap that the call has decided on in place of the caller's; null: none. */
export function withCap(generation: Generation, cap: number | null): Generation {
  const { max_tokens: _asked, ...rest } = generation;
  return cap === null ? rest : { ...rest, max_tokens: cap };
}
