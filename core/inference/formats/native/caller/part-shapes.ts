// Messages and parts of the native format, for the OpenAPI document.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import { anyObject, count, flag, may, text } from '../../../caller/shapes.ts';
import { TTLS } from './read.ts';

export const closed = { additionalProperties: false } as const;
export const kind = <const T extends string>(word: T) => Type.Literal(word);
/**
 * The families whose state can be referred to. `Wires.families` has them too, but is known too late for the document.
 */
export const documentedFamilies = [
  'openai_chat',
  'openai_responses',
  'anthropic_messages',
  'gemini',
  'bedrock_converse',
] as const;
/** The family that a state belongs to. */
export const Family = () => oneOf(documentedFamilies, 'ProviderFamily');
/** How long a cache keeps its content. */
export const Ttl = () => oneOf(TTLS, 'CacheTtl');
const ReasoningFormat = () =>
  oneOf(['anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1', 'unknown'], 'ReasoningFormat');
export const cache = {
  cache: may(
    named('CacheHint', Type.Object({ ttl: may(Ttl()) }, closed)),
    'The prompt up to this point is cached.',
  ),
};
const fileId = Type.Object({ file_id: text(), family: Family() }, closed);
const Source = named(
  'MediaSource',
  Type.Union([
    Type.Object({ base64: Type.String({ pattern: '^[A-Za-z0-9+/_-]*={0,2}$' }), media_type: text() }, closed),
    Type.Object({ url: Type.String({ pattern: '^https://' }), media_type: may(text()) }, closed),
    fileId,
  ]),
);
const Span = { title: may(text()), start: may(count()), end: may(count()), cited_text: may(text()) };
export const Citation = named(
  'Citation',
  Type.Union([
    Type.Object({ kind: kind('url'), url: text(), ...Span, opaque: may(text()) }, closed),
    Type.Object(
      {
        kind: oneOf(['char', 'page', 'block'], 'CitationPlace'),
        document: may(count()),
        ...Span,
        file_id: may(text()),
      },
      closed,
    ),
    Type.Object({ kind: kind('search_result'), index: may(count()), source: text(), ...Span }, closed),
  ]),
);
const TextPart = named(
  'TextPart',
  Type.Object(
    {
      type: kind('text'),
      text: text(),
      citations: may(Type.Array(Citation)),
      logprobs: may(Type.Array(anyObject('Log probabilities of a token.'))),
      ...cache,
    },
    closed,
  ),
);
const RefusalPart = named(
  'RefusalPart',
  Type.Object({ type: kind('refusal'), text: text(), ...cache }, closed),
);
const ImagePart = named(
  'ImagePart',
  Type.Object(
    {
      type: kind('image'),
      src: Source,
      detail: may(oneOf(['auto', 'low', 'high', 'original'], 'ImageDetail')),
      ...cache,
    },
    closed,
  ),
);
const AudioPart = named(
  'AudioPart',
  Type.Object(
    { type: kind('audio'), src: Source, format: may(text()), transcript: may(text()), ...cache },
    closed,
  ),
);
const VideoPart = named('VideoPart', Type.Object({ type: kind('video'), src: Source, ...cache }, closed));
const DocumentPart = named(
  'DocumentPart',
  Type.Object(
    {
      type: kind('document'),
      src: Type.Union([Source, Type.Object({ text: text() }, closed)]),
      name: may(text()),
      title: may(text()),
      context: may(text()),
      citations: may(flag()),
      ...cache,
    },
    closed,
  ),
);
const SearchResultPart = named(
  'SearchResultPart',
  Type.Object(
    {
      type: kind('search_result'),
      source: text(),
      title: text(),
      content: Type.Union([Type.String(), Type.Array(TextPart)]),
      citations: may(flag()),
      ...cache,
    },
    closed,
  ),
);
const ReasoningPart = named(
  'ReasoningPart',
  Type.Object(
    {
      type: kind('reasoning'),
      text: may(text()),
      kind: may(oneOf(['full', 'summary', 'encrypted'], 'ReasoningKind')),
      signature: may(text()),
      data: may(text('State that only providers of its own family can read.')),
      id: may(text()),
      format: may(ReasoningFormat()),
      ...cache,
    },
    closed,
  ),
);
const ToolCallPart = named(
  'ToolCallPart',
  Type.Object(
    {
      type: kind('tool_call'),
      id: text(),
      name: text(),
      arguments: text('JSON text of a function, free text of a custom tool'),
      kind: may(oneOf(['function', 'custom'], 'ToolKind')),
      signature: may(text()),
      format: may(ReasoningFormat()),
      ...cache,
    },
    closed,
  ),
);
const inResult = [TextPart, ImagePart, AudioPart, VideoPart, DocumentPart, SearchResultPart];
const ToolResultPart = named(
  'ToolResultPart',
  Type.Object(
    {
      type: kind('tool_result'),
      tool_call_id: text(),
      name: may(text()),
      content: Type.Union([Type.String(), Type.Array(Type.Union(inResult))]),
      is_error: may(flag()),
      ...cache,
    },
    closed,
  ),
);
const ServerToolPart = named(
  'ServerToolPart',
  Type.Object(
    {
      type: kind('server_tool'),
      family: Family(),
      name: text(),
      payload: anyObject("The block in its family's own format."),
      ...cache,
    },
    closed,
  ),
);
export const said = [
  TextPart,
  RefusalPart,
  ReasoningPart,
  ToolCallPart,
  ServerToolPart,
  ImagePart,
  AudioPart,
];
const named_ = { name: may(text()) };
export const Message = named(
  'Message',
  Type.Union([
    named(
      'SystemMessage',
      Type.Object(
        {
          role: kind('system'),
          ...named_,
          content: Type.Union([Type.String(), Type.Array(TextPart, { minItems: 1 })]),
        },
        closed,
      ),
    ),
    named(
      'UserMessage',
      Type.Object(
        {
          role: kind('user'),
          ...named_,
          content: Type.Union([Type.String(), Type.Array(Type.Union(inResult), { minItems: 1 })]),
        },
        closed,
      ),
    ),
    named(
      'AssistantMessage',
      Type.Object(
        {
          role: kind('assistant'),
          ...named_,
          content: Type.Union([Type.String(), Type.Array(Type.Union(said))]),
        },
        closed,
      ),
    ),
    named(
      'ToolMessage',
      Type.Object(
        { role: kind('tool'), ...named_, content: Type.Array(ToolResultPart, { minItems: 1 }) },
        closed,
      ),
    ),
  ]),
);
