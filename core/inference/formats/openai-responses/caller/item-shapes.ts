// Items of input and output, for the OpenAPI document.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import { AudioData, anyObject, may, text } from '../../../caller/shapes.ts';

export const kind = <const T extends string>(word: T) => Type.Literal(word);
const mediaUrl = Type.String({ pattern: '^(?:https://|data:)', description: 'https or data' });
/** The status of an item. */
export const Status = () => oneOf(['in_progress', 'completed', 'incomplete'], 'ResponsesItemStatus');
const InputText = named('ResponsesInputText', Type.Object({ type: kind('input_text'), text: text() }));
export const OutputText = named(
  'ResponsesOutputText',
  Type.Object({
    type: kind('output_text'),
    text: text(),
    annotations: Type.Optional(Type.Array(anyObject('Where the text comes from.'))),
    logprobs: Type.Optional(Type.Array(anyObject('Log probabilities of a token.'))),
  }),
);
export const Refusal = named('ResponsesRefusal', Type.Object({ type: kind('refusal'), refusal: text() }));
const InputPart = named(
  'ResponsesInputPart',
  Type.Union(
    [
      InputText,
      OutputText,
      Refusal,
      named(
        'ResponsesInputImage',
        Type.Object({
          type: kind('input_image'),
          image_url: may(mediaUrl),
          file_id: may(text('Only with your own provider key.')),
          detail: may(oneOf(['auto', 'low', 'high', 'original'], 'ImageDetail')),
        }),
      ),
      named(
        'ResponsesInputFile',
        Type.Object({
          type: kind('input_file'),
          filename: may(text()),
          file_data: may(text('a data URL, or base64 of a PDF')),
          file_url: may(mediaUrl),
          file_id: may(text('Only with your own provider key.')),
        }),
      ),
      named(
        'ResponsesInputAudio',
        Type.Object({
          type: kind('input_audio'),
          input_audio: AudioData,
        }),
      ),
    ],
    { description: 'Kinds that are not listed are sent unchanged where the provider speaks this format.' },
  ),
);
const InputMessage = named(
  'ResponsesInputMessage',
  Type.Object({
    type: Type.Optional(kind('message')),
    id: may(text()),
    role: oneOf(['user', 'assistant', 'system', 'developer'], 'ResponsesRole'),
    content: Type.Union([Type.String(), Type.Array(InputPart)]),
    status: may(text()),
    phase: may(oneOf(['commentary', 'final_answer'], 'ResponsesPhase')),
  }),
);
const Piece = (word: 'summary_text' | 'reasoning_text', name: string) =>
  named(name, Type.Object({ type: kind(word), text: text() }));
export const SummaryText = Piece('summary_text', 'ResponsesSummaryText');
export const ReasoningText = Piece('reasoning_text', 'ResponsesReasoningText');
export const ReasoningItem = named(
  'ResponsesReasoningItem',
  Type.Object({
    type: kind('reasoning'),
    id: may(text()),
    summary: Type.Array(SummaryText),
    content: may(Type.Array(ReasoningText)),
    encrypted_content: may(text('To be sent back with the next turn.')),
    status: may(text()),
  }),
);
export const FunctionCall = named(
  'ResponsesFunctionCall',
  Type.Object({
    type: kind('function_call'),
    id: may(text()),
    call_id: text(),
    name: text(),
    arguments: text('JSON text'),
    status: may(text()),
  }),
);
export const CustomCall = named(
  'ResponsesCustomToolCall',
  Type.Object({
    type: kind('custom_tool_call'),
    id: may(text()),
    call_id: text(),
    name: text(),
    input: text('free text'),
    status: may(text()),
  }),
);
export const SearchCall = named(
  'ResponsesWebSearchCall',
  Type.Object(
    {
      type: kind('web_search_call'),
      id: text(),
      status: text(),
      action: Type.Optional(anyObject('What was searched, or which page was opened.')),
    },
    { description: 'A search that the provider made itself.' },
  ),
);
const output = {
  call_id: text(),
  output: Type.Union([Type.String(), Type.Array(InputPart)]),
  id: may(text()),
};
export const Item = named(
  'ResponsesInputItem',
  Type.Union(
    [
      InputMessage,
      ReasoningItem,
      FunctionCall,
      CustomCall,
      named('ResponsesFunctionCallOutput', Type.Object({ type: kind('function_call_output'), ...output })),
      named(
        'ResponsesCustomToolCallOutput',
        Type.Object({ type: kind('custom_tool_call_output'), ...output }),
      ),
    ],
    { description: 'Items of server tools are sent unchanged where the provider speaks this format.' },
  ),
);
