// Messages of the format, for the OpenAPI document.
import { Type } from 'typebox';
import { named, nullable, oneOf } from '../../../../kernel/index.ts';
import { AudioData, anyObject, may, text } from '../../../caller/shapes.ts';
import { DETAILS, ROLES, TTLS } from './messages.ts';

export const kind = <const T extends string>(word: T) => Type.Literal(word);
/** An https address or a data URL. */
const mediaUrl = (description: string) => Type.String({ pattern: '^(?:https://|data:)', description });

export const cache = {
  cache_control: may(
    named('CacheControl', Type.Object({ type: may(text()), ttl: may(oneOf(TTLS, 'CacheTtl')) })),
    'The prompt up to this point is cached, where the provider does so on request.',
  ),
};

const TextPart = named('ChatTextPart', Type.Object({ type: kind('text'), text: text(), ...cache }));
const RefusalPart = named('ChatRefusalPart', Type.Object({ type: kind('refusal'), refusal: text() }));
const ImagePart = named(
  'ChatImagePart',
  Type.Object({
    type: kind('image_url'),
    image_url: Type.Object({ url: mediaUrl('https or data'), detail: may(oneOf(DETAILS, 'ImageDetail')) }),
    ...cache,
  }),
);
const VideoPart = named(
  'ChatVideoPart',
  Type.Object({
    type: kind('video_url'),
    video_url: Type.Object({ url: mediaUrl('https or data') }),
    ...cache,
  }),
);
const AudioPart = named(
  'ChatAudioPart',
  Type.Object({
    type: kind('input_audio'),
    input_audio: AudioData,
    ...cache,
  }),
);
const FilePart = named(
  'ChatFilePart',
  Type.Object({
    type: kind('file'),
    file: Type.Object({
      filename: may(text()),
      file_data: may(text('a data URL, or base64 of a PDF')),
      file_id: may(text('with your own provider key alone')),
    }),
    ...cache,
  }),
);
const Part = named(
  'ChatContentPart',
  Type.Union([TextPart, RefusalPart, ImagePart, VideoPart, AudioPart, FilePart], {
    description: 'Kinds that are not listed are sent unchanged where the provider speaks this format.',
  }),
);
const content = Type.Union([Type.String(), Type.Array(Part)]);

const FunctionToolCall = named(
  'ChatFunctionToolCall',
  Type.Object({
    id: text(),
    type: kind('function'),
    function: Type.Object({ name: text(), arguments: text('JSON text') }),
    extra_content: Type.Optional(anyObject('State of the provider that must be sent back with the call.')),
  }),
);
const CustomToolCall = named(
  'ChatCustomToolCall',
  Type.Object({
    id: text(),
    type: kind('custom'),
    custom: Type.Object({ name: text(), input: text('free text') }),
  }),
);
export const ToolCall = named('ChatToolCall', Type.Union([FunctionToolCall, CustomToolCall]));
export const ReasoningDetail = named(
  'ChatReasoningDetail',
  Type.Object({
    type: oneOf(['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'], 'ChatReasoningDetailType'),
    text: Type.Optional(text()),
    summary: Type.Optional(text()),
    data: Type.Optional(text()),
    signature: Type.Optional(nullable(text())),
    id: Type.Optional(nullable(text())),
    format: Type.Optional(nullable(text())),
    index: Type.Optional(Type.Integer()),
  }),
);
export const Message = named(
  'ChatMessage',
  Type.Object({
    role: oneOf(ROLES, 'ChatRole'),
    content: may(content, 'Required, except in a message of the assistant with tool calls.'),
    name: may(text()),
    tool_call_id: may(text('For role `tool`: the call that it answers.')),
    tool_calls: may(Type.Array(ToolCall), 'For role `assistant`: the calls that it made.'),
    refusal: may(text()),
    reasoning_content: may(text('For role `assistant`: its reasoning, sent back.')),
    reasoning_details: may(Type.Array(ReasoningDetail), 'The same with its signatures; it has precedence.'),
    function_call: may(
      named('ChatFunctionCall', Type.Object({ name: text(), arguments: may(text('JSON text')) })),
      'The older form of a call.',
    ),
    audio: may(Type.Object({ id: text() })),
    ...cache,
  }),
);
