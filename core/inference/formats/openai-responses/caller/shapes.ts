// The requests and answers of POST /v1/responses and its token count, for the OpenAPI document. Fields and items that
// are not listed here are passed on unchanged when the provider has this format.
import { Type } from 'typebox';
import { named, nullable, oneOf } from '../../../../kernel/index.ts';
import {
  anyObject,
  type CallShape,
  count,
  exampleIds,
  SvcReply,
  svcExample,
  text,
  weatherSchema,
} from '../../../caller/shapes.ts';
import {
  CustomCall,
  FunctionCall,
  kind,
  OutputText,
  ReasoningItem,
  ReasoningText,
  Refusal,
  SearchCall,
  Status,
  SummaryText,
} from './item-shapes.ts';
import { asked, Body } from './request-shapes.ts';

const OutputItem = named(
  'ResponsesOutputItem',
  Type.Union([
    named(
      'ResponsesOutputMessage',
      Type.Object({
        type: kind('message'),
        id: text(),
        status: Status(),
        role: kind('assistant'),
        content: Type.Array(Type.Union([OutputText, Refusal])),
        phase: Type.Optional(nullable(text())),
      }),
    ),
    ReasoningItem,
    FunctionCall,
    CustomCall,
    SearchCall,
  ]),
);
const Usage = named(
  'ResponsesUsage',
  Type.Object({
    input_tokens: count(),
    input_tokens_details: Type.Object({
      cached_tokens: count(),
      cache_write_tokens: Type.Optional(count()),
    }),
    output_tokens: count(),
    output_tokens_details: Type.Object({ reasoning_tokens: count() }),
    total_tokens: count(),
  }),
);
const Answer = named(
  'ResponsesAnswer',
  Type.Object(
    {
      id: text('The request id.'),
      object: kind('response'),
      created_at: Type.Number({ description: 'epoch seconds' }),
      completed_at: Type.Optional(nullable(Type.Number())),
      model: text(),
      status: oneOf(['in_progress', 'completed', 'incomplete', 'failed'], 'ResponseStatus'),
      error: nullable(Type.Object({ code: text(), message: text() })),
      incomplete_details: nullable(
        Type.Object({ reason: oneOf(['max_output_tokens', 'content_filter'], 'ResponseIncompleteReason') }),
      ),
      output: Type.Array(OutputItem),
      service_tier: Type.Optional(nullable(text())),
      usage: nullable(Usage),
      svc: Type.Optional(SvcReply),
    },
    { description: 'Besides these members it repeats the options of the request.' },
  ),
);
const sequence_number = count();
const place = { sequence_number, output_index: count(), item_id: text() };
const search = (type: 'in_progress' | 'searching' | 'completed', name: string) =>
  named(name, Type.Object({ type: kind(`response.web_search_call.${type}`), ...place }));
const whole = (type: 'created' | 'in_progress' | 'completed' | 'incomplete' | 'failed', name: string) =>
  named(name, Type.Object({ type: kind(`response.${type}`), sequence_number, response: Answer }));
const item = (type: 'added' | 'done', name: string) =>
  named(
    name,
    Type.Object({
      type: kind(`response.output_item.${type}`),
      sequence_number,
      output_index: count(),
      item: OutputItem,
    }),
  );
const part = (type: 'added' | 'done', name: string) =>
  named(
    name,
    Type.Object({
      type: kind(`response.content_part.${type}`),
      ...place,
      content_index: count(),
      part: Type.Union([OutputText, Refusal, ReasoningText]),
    }),
  );
const summaryPart = (type: 'added' | 'done', name: string) =>
  named(
    name,
    Type.Object({
      type: kind(`response.reasoning_summary_part.${type}`),
      ...place,
      summary_index: count(),
      part: SummaryText,
    }),
  );
const Event = named(
  'ResponsesStreamEvent',
  Type.Union(
    [
      whole('created', 'ResponseCreatedEvent'),
      whole('in_progress', 'ResponseInProgressEvent'),
      whole('completed', 'ResponseCompletedEvent'),
      whole('incomplete', 'ResponseIncompleteEvent'),
      whole('failed', 'ResponseFailedEvent'),
      item('added', 'ResponseItemAddedEvent'),
      item('done', 'ResponseItemDoneEvent'),
      part('added', 'ResponsePartAddedEvent'),
      part('done', 'ResponsePartDoneEvent'),
      named(
        'ResponseTextDeltaEvent',
        Type.Object({
          type: kind('response.output_text.delta'),
          ...place,
          content_index: count(),
          delta: text(),
          logprobs: Type.Optional(Type.Array(anyObject('Log probabilities of a token.'))),
        }),
      ),
      named(
        'ResponseTextDoneEvent',
        Type.Object({
          type: kind('response.output_text.done'),
          ...place,
          content_index: count(),
          text: text(),
          logprobs: Type.Optional(Type.Array(anyObject('Log probabilities of a token.'))),
        }),
      ),
      named(
        'ResponseAnnotationEvent',
        Type.Object({
          type: kind('response.output_text.annotation.added'),
          ...place,
          content_index: count(),
          annotation_index: count(),
          annotation: anyObject('Where the text comes from.'),
        }),
      ),
      named(
        'ResponseRefusalDeltaEvent',
        Type.Object({
          type: kind('response.refusal.delta'),
          ...place,
          content_index: count(),
          delta: text(),
        }),
      ),
      named(
        'ResponseRefusalDoneEvent',
        Type.Object({
          type: kind('response.refusal.done'),
          ...place,
          content_index: count(),
          refusal: text(),
        }),
      ),
      named(
        'ResponseArgumentsDeltaEvent',
        Type.Object({ type: kind('response.function_call_arguments.delta'), ...place, delta: text() }),
      ),
      named(
        'ResponseArgumentsDoneEvent',
        Type.Object({
          type: kind('response.function_call_arguments.done'),
          ...place,
          name: Type.Optional(text()),
          arguments: text('JSON text'),
        }),
      ),
      named(
        'ResponseCustomInputDeltaEvent',
        Type.Object({ type: kind('response.custom_tool_call_input.delta'), ...place, delta: text() }),
      ),
      named(
        'ResponseCustomInputDoneEvent',
        Type.Object({ type: kind('response.custom_tool_call_input.done'), ...place, input: text() }),
      ),
      search('in_progress', 'ResponseSearchInProgressEvent'),
      search('searching', 'ResponseSearchingEvent'),
      search('completed', 'ResponseSearchCompletedEvent'),
      summaryPart('added', 'ResponseSummaryPartAddedEvent'),
      summaryPart('done', 'ResponseSummaryPartDoneEvent'),
      named(
        'ResponseSummaryDeltaEvent',
        Type.Object({
          type: kind('response.reasoning_summary_text.delta'),
          ...place,
          summary_index: count(),
          delta: text(),
        }),
      ),
      named(
        'ResponseSummaryDoneEvent',
        Type.Object({
          type: kind('response.reasoning_summary_text.done'),
          ...place,
          summary_index: count(),
          text: text(),
        }),
      ),
      named(
        'ResponseReasoningDeltaEvent',
        Type.Object({
          type: kind('response.reasoning_text.delta'),
          ...place,
          content_index: count(),
          delta: text(),
        }),
      ),
      named(
        'ResponseReasoningDoneEvent',
        Type.Object({
          type: kind('response.reasoning_text.done'),
          ...place,
          content_index: count(),
          text: text(),
        }),
      ),
    ],
    { description: 'The `data:` line of an event; its `event:` line has the same type.' },
  ),
);

const answer = {
  id: exampleIds.request_id,
  object: 'response',
  created_at: exampleIds.created,
  model: 'openai/gpt-4o-mini',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello! How can I help?', annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 24,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 32,
  },
  svc: svcExample,
};
const begun = { ...answer, status: 'in_progress', output: [], usage: null };
const question = { role: 'user', content: 'What is the weather in Bengaluru?' };
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: weatherSchema,
};
const call = {
  type: 'function_call',
  call_id: exampleIds.call_id,
  name: 'get_weather',
  arguments: '{"city":"Bengaluru"}',
};

export const responsesShape: CallShape = {
  body: Body,
  answer: Answer,
  event: Event,
  examples: {
    request: {
      text: { model: 'openai/gpt-4o-mini', input: 'Hello', max_output_tokens: 64 },
      tools: { model: 'openai/gpt-4o-mini', input: [question], tools: [weather], stream: true },
      tool_result: {
        model: 'openai/gpt-4o-mini',
        input: [
          question,
          call,
          { type: 'function_call_output', call_id: exampleIds.call_id, output: '24 °C, clear' },
        ],
        tools: [weather],
      },
    },
    answer,
    events: {
      created: { type: 'response.created', sequence_number: 0, response: begun },
      text: {
        type: 'response.output_text.delta',
        sequence_number: 4,
        output_index: 0,
        item_id: 'msg_1',
        content_index: 0,
        delta: 'Hello!',
      },
      completed: { type: 'response.completed', sequence_number: 9, response: answer },
    },
  },
};

export const responsesCountShape: CallShape = {
  body: named('ResponsesInputTokensBody', Type.Object(asked)),
  answer: named(
    'ResponsesTokenCount',
    Type.Object({ object: kind('response.input_tokens'), input_tokens: count() }),
  ),
  examples: {
    request: { text: { model: 'openai/gpt-4o-mini', input: 'Hello' } },
    answer: { object: 'response.input_tokens', input_tokens: 8 },
  },
};
