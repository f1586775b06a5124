// The request and answers of POST /v1/completions, for the OpenAPI document.
import { Type } from 'typebox';
import { named, nullable, oneOf } from '../../../../kernel/index.ts';
import {
  anyObject,
  type CallShape,
  count,
  exampleIds,
  flag,
  Metadata,
  may,
  model,
  parameter,
  SvcReply,
  stream,
  svc,
  svcExample,
  text,
  texts,
} from '../../../caller/shapes.ts';
import { Usage } from '../../openai-chat/caller/shapes.ts';
import { BEST_OF_MAX, LOGPROBS_MAX } from './read.ts';

const tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 });
const Body = named(
  'CompletionsBody',
  Type.Object({
    model,
    prompt: Type.Union(
      [
        Type.String(),
        Type.Array(Type.String(), { minItems: 1 }),
        tokens,
        Type.Array(tokens, { minItems: 1 }),
      ],
      { description: 'The text to complete. Token ids only for a model that completes text.' },
    ),
    stream,
    stream_options: may(
      named('StreamOptions', Type.Object({ include_usage: may(flag(), 'Adds a last chunk with usage.') })),
    ),
    max_tokens: may(
      Type.Integer({ minimum: 0 }),
      'Maximum number of tokens in the answer; 0 returns only the prompt, with `echo`.',
    ),
    temperature: parameter('temperature'),
    top_p: parameter('top_p'),
    top_k: parameter('top_k'),
    min_p: parameter('min_p'),
    top_a: parameter('top_a'),
    repetition_penalty: parameter('repetition_penalty'),
    frequency_penalty: parameter('frequency_penalty'),
    presence_penalty: parameter('presence_penalty'),
    seed: parameter('seed'),
    stop: may(Type.Union([Type.String(), texts({ maxItems: 16 })]), 'Texts at which the answer ends.'),
    logit_bias: parameter('logit_bias'),
    n: parameter('candidates'),
    best_of: may(
      Type.Integer({ minimum: 1, maximum: BEST_OF_MAX }),
      'How many answers to produce; the best `n` are returned.',
    ),
    echo: may(flag(), 'Whether the answer begins with the prompt.'),
    suffix: may(text('Text that follows the answer.')),
    logprobs: may(
      Type.Union([Type.Integer({ minimum: 0, maximum: LOGPROBS_MAX }), Type.Boolean()]),
      'Number of alternatives returned per token; `true` and `false` are accepted too, as by older servers.',
    ),
    service_tier: may(text()),
    prompt_cache_key: may(text()),
    user: may(text('Your end user; only a hash of it leaves the gateway.')),
    safety_identifier: may(text()),
    metadata: may(Metadata),
    store: may(flag(), 'Answers are never stored; `true` gives a warning.'),
    svc,
  }),
);
const finish = oneOf(['stop', 'length', 'content_filter'], 'CompletionFinishReason');
const frame = {
  id: text('The request id.'),
  object: Type.Literal('text_completion'),
  created: Type.Integer({ description: 'epoch seconds' }),
  model: text(),
  system_fingerprint: Type.Optional(nullable(text())),
};
const choice = {
  index: count(),
  text: text(),
  logprobs: Type.Optional(nullable(anyObject('Log probabilities of the tokens.'))),
};
const Answer = named(
  'Completion',
  Type.Object({
    ...frame,
    choices: Type.Array(
      named('CompletionChoice', Type.Object({ ...choice, finish_reason: nullable(finish) })),
    ),
    usage: Usage,
    svc: SvcReply,
  }),
);
const Event = named(
  'CompletionStreamEvent',
  Type.Union(
    [
      named(
        'CompletionChunk',
        Type.Object({
          ...frame,
          choices: Type.Array(
            named(
              'CompletionChunkChoice',
              Type.Object({ ...choice, finish_reason: Type.Optional(nullable(finish)) }),
            ),
          ),
          usage: Type.Optional(nullable(Usage)),
          svc: Type.Optional(SvcReply),
        }),
      ),
      named(
        'CompletionStreamError',
        Type.Object({
          error: anyObject('As in an error answer.'),
          svc: Type.Optional(SvcReply),
        }),
      ),
    ],
    { description: 'One `data:` line of a stream, which ends with `data: [DONE]`.' },
  ),
);

const frameExample = {
  id: exampleIds.request_id,
  object: 'text_completion',
  created: exampleIds.created,
  model: 'openai/gpt-4o-mini',
};

export const completionsShape: CallShape = {
  body: Body,
  answer: Answer,
  event: Event,
  examples: {
    request: { text: { model: 'openai/gpt-4o-mini', prompt: 'Once upon a time', max_tokens: 64 } },
    answer: {
      ...frameExample,
      choices: [{ index: 0, text: ' there was a river.', logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 },
      svc: svcExample,
    },
    events: {
      text: {
        ...frameExample,
        choices: [{ index: 0, text: ' there', logprobs: null, finish_reason: null }],
      },
    },
  },
};
