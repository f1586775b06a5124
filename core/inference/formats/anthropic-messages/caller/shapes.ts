// What POST /v1/messages and its token count take and answer, for the document of the interface. Fields and blocks that
// are not named here go up as they are where the provider speaks this format.
import { Type } from 'typebox';
import { named, nullable, oneOf } from '../../../../kernel/index.ts';
import {
  type CallShape,
  count,
  exampleIds,
  flag,
  may,
  model,
  open,
  parameter,
  SvcReply,
  stream,
  svc,
  svcExample,
  text,
  weatherSchema,
} from '../../../caller/shapes.ts';

const kind = <const T extends string>(word: T) => Type.Literal(word);
const cache = {
  cache_control: may(
    named(
      'MessagesCacheControl',
      Type.Object({ type: kind('ephemeral'), ttl: may(oneOf(['5m', '1h'], 'MessagesCacheTtl')) }),
    ),
    'What comes before is cached up to here.',
  ),
};
const Base64 = named(
  'MessagesBase64Source',
  Type.Object({ type: kind('base64'), media_type: text(), data: text() }),
);
const Url = named('MessagesUrlSource', Type.Object({ type: kind('url'), url: text() }));
const File = named(
  'MessagesFileSource',
  Type.Object({ type: kind('file'), file_id: text('With your own provider key alone.') }),
);
const Citations = named('MessagesCitationsOption', Type.Object({ enabled: may(flag()) }));
const TextBlock = named(
  'MessagesTextBlock',
  Type.Object({
    type: kind('text'),
    text: text(),
    citations: may(Type.Array(open('As an answer had it.'))),
    ...cache,
  }),
);
const ImageBlock = named(
  'MessagesImageBlock',
  Type.Object({ type: kind('image'), source: Type.Union([Base64, Url, File]), ...cache }),
);
const DocumentBlock = named(
  'MessagesDocumentBlock',
  Type.Object({
    type: kind('document'),
    source: Type.Union([
      Base64,
      Url,
      File,
      named(
        'MessagesTextSource',
        Type.Object({ type: kind('text'), media_type: may(text('text/plain')), data: text() }),
      ),
      named(
        'MessagesContentSource',
        Type.Object({
          type: kind('content'),
          content: Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock]))]),
        }),
      ),
    ]),
    title: may(text()),
    context: may(text()),
    citations: may(Citations),
    ...cache,
  }),
);
const SearchResultBlock = named(
  'MessagesSearchResultBlock',
  Type.Object({
    type: kind('search_result'),
    source: text(),
    title: text(),
    content: Type.Array(TextBlock),
    citations: may(Citations),
    ...cache,
  }),
);
const ThinkingBlock = named(
  'MessagesThinkingBlock',
  Type.Object({ type: kind('thinking'), thinking: text(), signature: text() }),
);
const RedactedBlock = named(
  'MessagesRedactedThinkingBlock',
  Type.Object({ type: kind('redacted_thinking'), data: text() }),
);
const ToolUseBlock = named(
  'MessagesToolUseBlock',
  Type.Object({
    type: kind('tool_use'),
    id: text(),
    name: text(),
    input: open('The arguments.'),
    ...cache,
  }),
);
const ToolResultBlock = named(
  'MessagesToolResultBlock',
  Type.Object({
    type: kind('tool_result'),
    tool_use_id: text(),
    content: may(
      Type.Union([
        Type.String(),
        Type.Array(Type.Union([TextBlock, ImageBlock, DocumentBlock, SearchResultBlock])),
      ]),
    ),
    is_error: may(flag()),
    ...cache,
  }),
);
const Block = named(
  'MessagesContentBlock',
  Type.Union(
    [
      TextBlock,
      ImageBlock,
      DocumentBlock,
      SearchResultBlock,
      ThinkingBlock,
      RedactedBlock,
      ToolUseBlock,
      ToolResultBlock,
    ],
    { description: 'Blocks of server tools go up as they are where the provider speaks this format.' },
  ),
);
const Message = named(
  'MessagesMessage',
  Type.Object({
    role: oneOf(['user', 'assistant', 'system'], 'MessagesRole'),
    content: Type.Union([Type.String(), Type.Array(Block)]),
  }),
);
const Tool = named(
  'MessagesTool',
  Type.Object({
    type: may(text('`custom`, or the name of a server tool, which goes up as it is.')),
    name: Type.String({ maxLength: 128 }),
    description: may(text()),
    input_schema: Type.Optional(open('JSON schema of the arguments; required of a custom tool.')),
    strict: may(flag()),
    ...cache,
  }),
);
const serial = { disable_parallel_tool_use: may(flag()) };
const ToolChoice = named(
  'MessagesToolChoice',
  Type.Union([
    Type.Object({ type: oneOf(['auto', 'any', 'none'], 'MessagesToolChoiceWord'), ...serial }),
    Type.Object({ type: kind('tool'), name: text(), ...serial }),
  ]),
);
const display = { display: may(oneOf(['summarized', 'omitted'], 'MessagesThinkingDisplay')) };
const Thinking = named(
  'MessagesThinking',
  Type.Union([
    Type.Object({ type: kind('enabled'), budget_tokens: Type.Integer({ minimum: 1 }), ...display }),
    Type.Object({
      type: oneOf(['adaptive', 'disabled', 'between_tools'], 'MessagesThinkingMode'),
      budget_tokens: may(Type.Integer({ minimum: 1 })),
      ...display,
    }),
  ]),
);
const Format = named(
  'MessagesOutputFormat',
  Type.Object({ type: kind('json_schema'), schema: open('The JSON schema of the answer.') }),
);
const asked = {
  model,
  messages: Type.Array(Message, { minItems: 1 }),
  system: may(Type.Union([Type.String(), Type.Array(TextBlock)])),
  tools: may(Type.Array(Tool)),
  tool_choice: may(ToolChoice),
  thinking: may(Thinking),
  output_config: may(
    named(
      'MessagesOutputConfig',
      Type.Object({
        effort: may(oneOf(['low', 'medium', 'high', 'xhigh', 'max'], 'MessagesEffort')),
        format: may(Format),
      }),
    ),
  ),
  svc,
};
const Body = named(
  'MessagesBody',
  Type.Object({
    ...asked,
    max_tokens: Type.Integer({
      minimum: 0,
      description: 'The most tokens that the answer may have; 0 warms the cache.',
      examples: [1024],
    }),
    stream,
    temperature: parameter('temperature'),
    top_p: parameter('top_p'),
    top_k: parameter('top_k'),
    stop_sequences: may(Type.Array(Type.String()), 'Texts at which the answer ends.'),
    metadata: may(Type.Object({ user_id: may(text('Your end user; only a hash of it leaves.')) })),
    service_tier: may(text()),
    speed: may(oneOf(['standard', 'fast'], 'MessagesSpeed')),
    inference_geo: may(text('Region that the call must stay in, one of those of GET /v1/models.')),
    ...cache,
  }),
);

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
  stop_details: Type.Optional(nullable(open('What the provider adds.'))),
};
const AnswerBlock = named(
  'MessagesAnswerBlock',
  Type.Union([
    named(
      'MessagesAnswerText',
      Type.Object({
        type: kind('text'),
        text: text(),
        citations: Type.Optional(nullable(Type.Array(open('Where the text comes from.')))),
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
        input: open('The arguments.'),
        caller: Type.Optional(open('Who asks: the model itself.')),
      }),
    ),
    named(
      'MessagesServerToolUse',
      Type.Object(
        { type: kind('server_tool_use'), id: text(), name: text(), input: open('The arguments.') },
        { description: 'A tool that the provider ran itself.' },
      ),
    ),
    named(
      'MessagesWebSearchToolResult',
      Type.Object({
        type: kind('web_search_tool_result'),
        tool_use_id: text(),
        content: Type.Union([Type.Array(open('A page that was found.')), open('Why the search failed.')]),
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
      Type.Object({ type: kind('citations_delta'), citation: open('Where the text comes from.') }),
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
          error: open('As in an error answer.'),
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
