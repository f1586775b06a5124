// The request and answers of POST /v1/messages and its token count, for the OpenAPI document. Fields and blocks that
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
import { asked, Body, kind, RedactedBlock, ThinkingBlock } from './request-shapes.ts';

const usageMembers = {
  input_tokens: count(),
  output_tokens: count(),
  cache_creation_input_tokens: Type.Optional(nullable(count())),
  cache_read_input_tokens: Type.Optional(nullable(count())),
  output_tokens_details: Type.Optional(nullable(Type.Object({ thinking_tokens: Type.Optional(count()) }))),
  server_tool_use: Type.Optional(
    nullable(
      named(
        'MessagesServerToolUsage',
        Type.Object({
          web_fetch_requests: Type.Optional(count()),
          web_search_requests: Type.Optional(count()),
        }),
      ),
    ),
  ),
};
const DeltaUsage = named('MessagesDeltaUsage', Type.Object(usageMembers));
const Usage = named(
  'MessagesUsage',
  Type.Object({
    ...usageMembers,
    cache_creation: Type.Optional(
      nullable(Type.Object({ ephemeral_5m_input_tokens: count(), ephemeral_1h_input_tokens: count() })),
    ),
    service_tier: Type.Optional(nullable(text())),
    inference_geo: Type.Optional(nullable(text())),
    speed: Type.Optional(nullable(text())),
  }),
);
const STOPS = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
] as const;
const stopMembers = {
  stop_reason: nullable(oneOf(STOPS, 'MessagesStopReason')),
  stop_sequence: nullable(text()),
  stop_details: Type.Optional(nullable(anyObject('What the provider adds.'))),
};
const AnswerBlock = named(
  'MessagesAnswerBlock',
  Type.Union([
    named(
      'MessagesAnswerText',
      Type.Object({
        type: kind('text'),
        text: text(),
        citations: Type.Optional(nullable(Type.Array(anyObject('Where the text comes from.')))),
      }),
    ),
    ThinkingBlock,
    RedactedBlock,
    named(
      'MessagesAnswerToolUse',
      Type.Object({
        type: kind('tool_use'),
        id: text(),
        name: text(),
        input: anyObject('The arguments.'),
        caller: Type.Optional(anyObject('Who asks: the model itself.')),
      }),
    ),
    named(
      'MessagesServerToolUse',
      Type.Object(
        { type: kind('server_tool_use'), id: text(), name: text(), input: anyObject('The arguments.') },
        { description: 'A tool that the provider ran itself.' },
      ),
    ),
    named(
      'MessagesWebSearchToolResult',
      Type.Object({
        type: kind('web_search_tool_result'),
        tool_use_id: text(),
        content: Type.Union([
          Type.Array(anyObject('A page that was found.')),
          anyObject('Why the search failed.'),
        ]),
      }),
    ),
  ]),
);
const Answer = named(
  'MessagesAnswer',
  Type.Object({
    id: text('The request id.'),
    type: kind('message'),
    role: kind('assistant'),
    model: text(),
    content: Type.Array(AnswerBlock),
    ...stopMembers,
    container: Type.Optional(Type.Null()),
    diagnostics: Type.Optional(Type.Null()),
    usage: Usage,
    svc: SvcReply,
  }),
);
const Delta = named(
  'MessagesBlockDelta',
  Type.Union([
    named('MessagesTextDelta', Type.Object({ type: kind('text_delta'), text: text() })),
    named('MessagesInputJsonDelta', Type.Object({ type: kind('input_json_delta'), partial_json: text() })),
    named('MessagesThinkingDelta', Type.Object({ type: kind('thinking_delta'), thinking: text() })),
    named('MessagesSignatureDelta', Type.Object({ type: kind('signature_delta'), signature: text() })),
    named(
      'MessagesCitationsDelta',
      Type.Object({ type: kind('citations_delta'), citation: anyObject('Where the text comes from.') }),
    ),
  ]),
);
const Event = named(
  'MessagesStreamEvent',
  Type.Union(
    [
      named('MessagesStartEvent', Type.Object({ type: kind('message_start'), message: Answer })),
      named(
        'MessagesBlockStartEvent',
        Type.Object({ type: kind('content_block_start'), index: count(), content_block: AnswerBlock }),
      ),
      named(
        'MessagesBlockDeltaEvent',
        Type.Object({ type: kind('content_block_delta'), index: count(), delta: Delta }),
      ),
      named('MessagesBlockStopEvent', Type.Object({ type: kind('content_block_stop'), index: count() })),
      named(
        'MessagesDeltaEvent',
        Type.Object({
          type: kind('message_delta'),
          delta: Type.Object({ ...stopMembers, container: Type.Optional(Type.Null()) }),
          usage: DeltaUsage,
          svc: Type.Optional(SvcReply),
        }),
      ),
      named('MessagesStopEvent', Type.Object({ type: kind('message_stop') })),
      named('MessagesPingEvent', Type.Object({ type: kind('ping') })),
      named(
        'MessagesErrorEvent',
        Type.Object({
          type: kind('error'),
          error: anyObject('As in an error answer.'),
          request_id: Type.Optional(text()),
          svc: Type.Optional(SvcReply),
        }),
      ),
    ],
    { description: 'The `data:` line of an event; its `event:` line has the same type.' },
  ),
);

const usageExample = {
  input_tokens: 24,
  output_tokens: 8,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const answer = {
  id: exampleIds.request_id,
  type: 'message',
  role: 'assistant',
  model: 'anthropic/claude-haiku-4-5',
  content: [{ type: 'text', text: 'Hello! How can I help?', citations: null }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: usageExample,
  svc: svcExample,
};
const question = { role: 'user', content: 'What is the weather in Bengaluru?' };
const weather = { name: 'get_weather', description: 'The weather of a city', input_schema: weatherSchema };
const call = { type: 'tool_use', id: exampleIds.call_id, name: 'get_weather', input: { city: 'Bengaluru' } };
const of = { model: 'anthropic/claude-haiku-4-5', max_tokens: 256 };

export const messagesShape: CallShape = {
  body: Body,
  answer: Answer,
  event: Event,
  examples: {
    request: {
      text: { ...of, messages: [{ role: 'user', content: 'Hello' }] },
      tools: { ...of, messages: [question], tools: [weather], stream: true },
      tool_result: {
        ...of,
        messages: [
          question,
          { role: 'assistant', content: [call] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: exampleIds.call_id, content: '24 °C, clear' }],
          },
        ],
        tools: [weather],
      },
    },
    answer,
    events: {
      message_start: { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
      content_block_start: {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '', citations: null },
      },
      content_block_delta: {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'Hello!' },
      },
      content_block_stop: { type: 'content_block_stop', index: 0 },
      message_delta: {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: usageExample,
        svc: svcExample,
      },
      message_stop: { type: 'message_stop' },
    },
  },
};

export const messagesCountShape: CallShape = {
  body: named('MessagesCountTokensBody', Type.Object(asked)),
  answer: named('MessagesTokenCount', Type.Object({ input_tokens: count() })),
  examples: {
    request: { text: { model: of.model, messages: [{ role: 'user', content: 'Hello' }] } },
    answer: { input_tokens: 8 },
  },
};
