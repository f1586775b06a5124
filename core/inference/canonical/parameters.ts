// The parameters of generation. Each is declared here once: its schema, its meaning, and the loss when a provider has
// no such parameter. Caller formats read requests by this table, provider formats say for every row what they do with
// it, and the documents (OpenAPI, docs/compatibility.md) are generated from it. A member of `Generation` without a
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
  /** Number of alternatives per token; 0: only the log probability of the chosen token. */
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

/** The schemas that fit values of type `V`. */
type SchemaFor<V> = V extends number
  ? NumberSchema
  : V extends readonly string[]
    ? StringsSchema
    : V extends Readonly<Record<string, number>>
      ? WeightsSchema
      : never;

interface Parameter<V> {
  /** Bounds that caller formats enforce; a format that enforces others says so in its own table. */
  readonly schema: SchemaFor<V>;
  readonly description: string;
  readonly example: V;
  /** The loss when an endpoint does not support the parameter: its class, code and name. */
  readonly loss: Pick<Loss, 'class' | 'code' | 'param'>;
  /** Whether `value` is what happens by default: then nothing is sent and nothing can be lost. */
  isDefault?(value: V): boolean;
}

type Table = { readonly [K in ParameterName]-?: Parameter<NonNullable<Generation[K]>> };

function sampling(param: ParameterName): Parameter<never>['loss'] {
  return { class: 'behaviour', code: 'sampling_dropped', param };
}

export const parameters = {
  max_tokens: {
    schema: { type: 'integer', minimum: 1 },
    description: 'Maximum number of tokens in the answer, including reasoning.',
    example: 1024,
    // A cap of 0 only warms a cache. Without the cap the model would produce an answer that nobody asked for.
    loss: { class: 'content', code: 'cache_warmup_unsupported', param: 'max_tokens' },
  },
  temperature: {
    schema: { type: 'number', minimum: 0, maximum: 2 },
    description:
      'How random the choice of tokens is: 0 takes the most likely token, higher values vary more.',
    example: 0.7,
    loss: sampling('temperature'),
  },
  top_p: {
    schema: { type: 'number', minimum: 0, maximum: 1 },
    description: 'Samples only from the most likely tokens whose probabilities add up to this value.',
    example: 0.9,
    loss: sampling('top_p'),
  },
  top_k: {
    schema: { type: 'integer', minimum: 0 },
    description: 'Samples only from this many of the most likely tokens.',
    example: 40,
    loss: sampling('top_k'),
  },
  min_p: {
    schema: { type: 'number', minimum: 0, maximum: 1 },
    description: 'Samples only from tokens at least this probable relative to the most likely one.',
    example: 0.05,
    loss: sampling('min_p'),
  },
  top_a: {
    schema: { type: 'number', minimum: 0, maximum: 1 },
    description:
      'Samples only from tokens at least as probable as this value times the square of the highest probability.',
    example: 0.1,
    loss: sampling('top_a'),
  },
  stop: {
    schema: { type: 'array', items: { type: 'string' }, maxItems: 16 },
    description: 'Texts at which the answer ends; they are not part of it.',
    example: ['END'],
    loss: { class: 'content', code: 'stop_unsupported', param: 'stop' },
    isDefault: (list) => list.length === 0,
  },
  seed: {
    schema: { type: 'integer' },
    description:
      'The same seed with the same request asks for the same answer; providers only promise to try.',
    example: 7,
    loss: sampling('seed'),
  },
  frequency_penalty: {
    schema: { type: 'number', minimum: -2, maximum: 2 },
    description: 'Makes a token less likely the more often it has occurred so far.',
    example: 0.5,
    loss: sampling('frequency_penalty'),
  },
  presence_penalty: {
    schema: { type: 'number', minimum: -2, maximum: 2 },
    description: 'Makes a token less likely once it has occurred at all.',
    example: 0.5,
    loss: sampling('presence_penalty'),
  },
  repetition_penalty: {
    schema: { type: 'number', minimum: 0, maximum: 2 },
    description:
      'Divides the likelihood of tokens that already occur in the prompt or the answer; 1 changes nothing.',
    example: 1.1,
    loss: sampling('repetition_penalty'),
  },
  logit_bias: {
    schema: { type: 'object', additionalProperties: { type: 'number', minimum: -100, maximum: 100 } },
    description: 'By token id, a value that is added to its logit: -100 bans the token, 100 forces it.',
    example: { '50256': -100 },
    loss: sampling('logit_bias'),
  },
  logprobs: {
    schema: { type: 'integer', minimum: 0, maximum: 20 },
    description:
      'Returns log probabilities of the tokens, with this many alternatives each; 0 for the chosen tokens only.',
    example: 2,
    loss: { class: 'content', code: 'logprobs_unsupported', param: 'logprobs' },
  },
  candidates: {
    schema: { type: 'integer', minimum: 1, maximum: 8 },
    description: 'How many answers to produce; each is charged.',
    example: 2,
    loss: { class: 'content', code: 'candidates_unsupported', param: 'n' },
    isDefault: (count) => count <= 1,
  },
} as const satisfies Table;

/** All parameter names, in the order of the table. */
export const parameterNames = Object.keys(parameters) as readonly ParameterName[];

/** The JSON Schema of parameter `name` with its description and an example, for the documents. */
export function parameterSchema(name: ParameterName): Readonly<Record<string, unknown>> {
  const { schema, description, example } = parameters[name];
  return { ...schema, description, examples: [example] };
}

/**
 * `generation` with `cap`, the output cap that the call has decided on, instead of the caller's; null: without a cap.
 */
export function withCap(generation: Generation, cap: number | null): Generation {
  const { max_tokens: _asked, ...rest } = generation;
  return cap === null ? rest : { ...rest, max_tokens: cap };
}
