// The request of POST /v1/messages: blocks, tools and parameters.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import { anyObject, flag, may, model, parameter, stream, svc, text } from '../../../caller/shapes.ts';

export const kind = <const T extends string>(word: T) => Type.Literal(word);
const cache = {
  cache_control: may(
    named(
      'MessagesCacheControl',
      Type.Object({ type: kind('ephemeral'), ttl: may(oneOf(['5m', '1h'], 'MessagesCacheTtl')) }),
    ),
    'The prompt up to this point is cached.',
  ),
};
const Base64 = named(
  'MessagesBase64Source',
  Type.Object({ type: kind('base64'), media_type: text(), data: text() }),
);
const Url = named('MessagesUrlSource', Type.Object({ type: kind('url'), url: text() }));
const File = named(
  'MessagesFileSource',
  Type.Object({ type: kind('file'), file_id: text('Only with your own provider key.') }),
);
const Citations = named('MessagesCitationsOption', Type.Object({ enabled: may(flag()) }));
const TextBlock = named(
  'MessagesTextBlock',
  Type.Object({
    type: kind('text'),
    text: text(),
    citations: may(Type.Array(anyObject('As in the answer that it came with.'))),
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
export const ThinkingBlock = named(
  'MessagesThinkingBlock',
  Type.Object({ type: kind('thinking'), thinking: text(), signature: text() }),
);
export const RedactedBlock = named(
  'MessagesRedactedThinkingBlock',
  Type.Object({ type: kind('redacted_thinking'), data: text() }),
);
const ToolUseBlock = named(
  'MessagesToolUseBlock',
  Type.Object({
    type: kind('tool_use'),
    id: text(),
    name: text(),
    input: anyObject('The arguments.'),
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
    { description: 'Blocks of server tools are sent unchanged where the provider speaks this format.' },
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
    input_schema: Type.Optional(anyObject('JSON schema of the arguments; required of a custom tool.')),
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
  Type.Object({ type: kind('json_schema'), schema: anyObject('The JSON schema of the answer.') }),
);
export const asked = {
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
export const Body = named(
  'MessagesBody',
  Type.Object({
    ...asked,
    max_tokens: Type.Integer({
      minimum: 0,
      description: 'Maximum number of tokens in the answer; 0 only warms the cache.',
      examples: [1024],
    }),
    stream,
    temperature: parameter('temperature'),
    top_p: parameter('top_p'),
    top_k: parameter('top_k'),
    stop_sequences: may(Type.Array(Type.String()), 'Texts at which the answer ends.'),
    metadata: may(
      Type.Object({ user_id: may(text('Your end user; only a hash of it leaves the gateway.')) }),
    ),
    service_tier: may(text()),
    speed: may(oneOf(['standard', 'fast'], 'MessagesSpeed')),
    inference_geo: may(text('Region that the call must stay in, one of those of GET /v1/models.')),
    ...cache,
  }),
);
