// The request and answers of POST /v1/chat/completions, for the OpenAPI document. Fields that are not listed here are
// passed on unchanged when the provider has this format.
import { type TSchema, Type } from 'typebox';
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
  weatherSchema,
} from '../../../caller/shapes.ts';
import { kind, Message, ReasoningDetail, ToolCall } from './message-shapes.ts';
import { EFFORTS, THINKING, VERBOSITIES } from './read.ts';
import { ResponseFormat, Tool, ToolChoice } from './tool-shapes.ts';

const Body = named(
  'ChatCompletionsBody',
  Type.Object({
    model,
    messages: Type.Array(Message, { minItems: 1 }),
    stream,
    stream_options: may(
      named('StreamOptions', Type.Object({ include_usage: may(flag(), 'Adds a last chunk with usage.') })),
    ),
    max_completion_tokens: parameter('max_tokens'),
    max_tokens: parameter('max_tokens'),
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
    logprobs: may(flag(), 'Whether log probabilities of the tokens are returned.'),
    top_logprobs: parameter('logprobs'),
    n: parameter('candidates'),
    tools: may(Type.Array(Tool)),
    tool_choice: may(ToolChoice),
    parallel_tool_calls: may(flag(), 'Whether one turn may make several calls.'),
    response_format: may(ResponseFormat),
    reasoning_effort: may(oneOf(EFFORTS, 'Effort'), 'How much the model thinks before it answers.'),
    reasoning: may(
      named(
        'ChatReasoning',
        Type.Object({
          effort: may(oneOf(EFFORTS, 'Effort')),
          max_tokens: may(Type.Integer({ minimum: 0 })),
          enabled: may(flag()),
          exclude: may(flag(), 'Whether reasoning is left out of the answer.'),
        }),
      ),
    ),
    thinking: may(
      named(
        'ChatThinking',
        Type.Object({
          type: may(oneOf(THINKING, 'ChatThinkingType')),
          budget_tokens: may(Type.Integer({ minimum: 0 })),
        }),
      ),
    ),
    modalities: may(texts(), 'Kinds of output: text, audio, image.'),
    audio: may(anyObject('Voice and format of spoken output.')),
    verbosity: may(oneOf(VERBOSITIES, 'Verbosity')),
    service_tier: may(text()),
    prompt_cache_key: may(text()),
    user: may(text('Your end user; only a hash of it leaves the gateway.')),
    safety_identifier: may(text()),
    metadata: may(Metadata),
    store: may(flag(), 'Answers are never stored; `true` gives a warning.'),
    svc,
  }),
);

const Logprob = named(
  'TokenLogprob',
  Type.Object({ token: text(), logprob: Type.Number(), bytes: nullable(Type.Array(Type.Integer())) }),
);
const Logprobs = named(
  'ChatLogprobs',
  Type.Object({
    content: nullable(
      Type.Array(
        named('ChatTokenLogprob', Type.Object({ ...Logprob.properties, top_logprobs: Type.Array(Logprob) })),
      ),
    ),
    refusal: Type.Optional(Type.Null()),
  }),
);
export const Usage = named(
  'ChatUsage',
  Type.Object({
    prompt_tokens: count(),
    completion_tokens: count(),
    total_tokens: count(),
    prompt_tokens_details: Type.Optional(
      Type.Object({
        cached_tokens: count(),
        cache_write_tokens: Type.Optional(count()),
        audio_tokens: Type.Optional(count()),
      }),
    ),
    completion_tokens_details: Type.Optional(
      Type.Object({
        reasoning_tokens: count(),
        audio_tokens: Type.Optional(count()),
        accepted_prediction_tokens: Type.Optional(count()),
        rejected_prediction_tokens: Type.Optional(count()),
      }),
    ),
  }),
);
const Annotation = named(
  'ChatAnnotation',
  Type.Object({
    type: kind('url_citation'),
    url_citation: Type.Object({ start_index: count(), end_index: count(), url: text(), title: text() }),
  }),
);
const Image = named(
  'ChatImage',
  Type.Object({ type: kind('image_url'), image_url: Type.Object({ url: text() }) }),
);
const AnswerAudio = named(
  'ChatAnswerAudio',
  Type.Object({
    id: Type.Optional(text()),
    data: Type.Optional(text('base64')),
    transcript: Type.Optional(text()),
    expires_at: Type.Optional(Type.Integer()),
  }),
);
const FunctionCall = named(
  'ChatFunctionCallMade',
  Type.Object({ name: text(), arguments: text('JSON text') }),
);
const FINISHES = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const;
const Finish = () => oneOf(FINISHES, 'ChatFinishReason');
const frame = {
  id: text('The request id.'),
  created: Type.Integer({ description: 'epoch seconds' }),
  model: text(),
  service_tier: Type.Optional(nullable(text())),
  system_fingerprint: Type.Optional(nullable(text())),
};
const more = {
  annotations: Type.Optional(Type.Array(Annotation)),
  images: Type.Optional(Type.Array(Image)),
  audio: Type.Optional(nullable(AnswerAudio)),
  reasoning_content: Type.Optional(nullable(text())),
  reasoning_details: Type.Optional(Type.Array(ReasoningDetail)),
};
const Answer = named(
  'ChatCompletion',
  Type.Object({
    ...frame,
    object: kind('chat.completion'),
    choices: Type.Array(
      named(
        'ChatChoice',
        Type.Object({
          index: count(),
          message: named(
            'ChatAnswerMessage',
            Type.Object({
              role: kind('assistant'),
              content: nullable(text()),
              refusal: Type.Optional(nullable(text())),
              tool_calls: Type.Optional(Type.Array(ToolCall)),
              function_call: Type.Optional(nullable(FunctionCall)),
              ...more,
            }),
          ),
          logprobs: Type.Optional(nullable(Logprobs)),
          finish_reason: Finish(),
        }),
      ),
    ),
    usage: Usage,
    svc: SvcReply,
  }),
);

const FunctionDelta = named(
  'ChatFunctionDelta',
  Type.Object({ name: Type.Optional(text()), arguments: Type.Optional(text()) }),
);
const ToolCallDelta = named(
  'ChatToolCallDelta',
  Type.Object({
    index: count(),
    id: Type.Optional(text()),
    type: Type.Optional(oneOf(['function', 'custom'], 'ToolKind')),
    function: Type.Optional(FunctionDelta),
    custom: Type.Optional(Type.Object({ name: Type.Optional(text()), input: Type.Optional(text()) })),
    extra_content: Type.Optional(anyObject('State of the provider that must be sent back with the call.')),
  }),
);
const Chunk = named(
  'ChatCompletionChunk',
  Type.Object(
    {
      ...frame,
      object: kind('chat.completion.chunk'),
      choices: Type.Array(
        named(
          'ChatChunkChoice',
          Type.Object({
            index: count(),
            delta: named(
              'ChatDelta',
              Type.Object({
                role: Type.Optional(kind('assistant')),
                content: Type.Optional(nullable(text())),
                refusal: Type.Optional(nullable(text())),
                tool_calls: Type.Optional(Type.Array(ToolCallDelta)),
                function_call: Type.Optional(FunctionDelta),
                ...more,
              }),
            ),
            logprobs: Type.Optional(nullable(Logprobs)),
            finish_reason: nullable(Finish()),
          }),
        ),
      ),
      usage: Type.Optional(nullable(Usage)),
      svc: Type.Optional(SvcReply),
    },
    { description: 'One `data:` line of a stream, which ends with `data: [DONE]`.' },
  ),
);
const StreamError: TSchema = named(
  'ChatStreamError',
  Type.Object({ error: anyObject('As in an error answer.'), svc: Type.Optional(SvcReply) }),
);

const chunk = {
  id: exampleIds.request_id,
  object: 'chat.completion.chunk',
  created: exampleIds.created,
  model: 'openai/gpt-4o-mini',
};
const usageExample = {
  prompt_tokens: 24,
  completion_tokens: 8,
  total_tokens: 32,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};
const question = { role: 'user', content: 'What is the weather in Bengaluru?' };
const weather = {
  type: 'function',
  function: { name: 'get_weather', description: 'The weather of a city', parameters: weatherSchema },
};
const call = {
  id: exampleIds.call_id,
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Bengaluru"}' },
};

export const chatShape: CallShape = {
  body: Body,
  answer: Answer,
  event: named('ChatStreamEvent', Type.Union([Chunk, StreamError])),
  examples: {
    request: {
      text: { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 64 },
      tools: { model: 'openai/gpt-4o-mini', messages: [question], tools: [weather], stream: true },
      tool_result: {
        model: 'openai/gpt-4o-mini',
        messages: [
          question,
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: exampleIds.call_id, content: '24 °C, clear' },
        ],
        tools: [weather],
      },
    },
    answer: {
      ...chunk,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello! How can I help?', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: usageExample,
      svc: svcExample,
    },
    events: {
      role: {
        ...chunk,
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
      },
      text: { ...chunk, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] },
      call: {
        ...chunk,
        choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: null }],
      },
      finish: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], svc: svcExample },
    },
  },
};
