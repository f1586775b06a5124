// Rows of docs/compatibility.md about calls in the history and their results.
import { CALL, exact, lost, PNG, tools } from '../say.ts';
import { asked, type Feature, type Json } from '../types.ts';

/** A conversation in which the tool was called and answered. */
export function answered(result: { chat: unknown; responses: unknown; messages: Json; native: Json }): {
  chat: Json;
  responses: Json;
  messages: Json;
  native: Json;
} {
  const { id, name, arguments: text } = CALL;
  const ask = { role: 'user', content: 'Look' };
  const call = { type: 'tool_call', id, name, arguments: text };
  return {
    chat: {
      ...tools.chat,
      messages: [
        ask,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
        },
        { role: 'tool', tool_call_id: id, content: result.chat },
      ],
    },
    responses: {
      ...tools.responses,
      input: [
        ask,
        { type: 'function_call', call_id: id, name, arguments: text },
        { type: 'function_call_output', call_id: id, output: result.responses },
      ],
    },
    messages: {
      ...tools.messages,
      messages: [
        ask,
        { role: 'assistant', content: [{ type: 'tool_use', id, name, input: JSON.parse(text) }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, ...result.messages }] },
      ],
    },
    native: {
      ...tools.native,
      messages: [
        ask,
        { role: 'assistant', content: [call] },
        { role: 'tool', content: [{ type: 'tool_result', tool_call_id: id, ...result.native }] },
      ],
    },
  };
}

const plain = answered({
  chat: 'Waves.',
  responses: 'Waves.',
  messages: { content: 'Waves.' },
  native: { content: 'Waves.' },
});

const result: Feature = {
  name: 'calls and their results',
  says: {
    chat: asked('`tool_calls`, role `tool`', plain.chat),
    responses: asked('`function_call`, `function_call_output`', plain.responses),
    messages: asked('`tool_use`, `tool_result`', plain.messages),
    native: asked('`tool_call`, `tool_result`', plain.native),
  },
  at: {
    openai_chat: exact({
      messages: [
        {},
        {
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look', arguments: CALL.arguments } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Waves.' },
      ],
    }),
    openai_responses: exact({
      input: [
        {},
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: CALL.arguments },
        { type: 'function_call_output', call_id: 'call_1', output: 'Waves.' },
      ],
    }),
    anthropic_messages: exact({
      messages: [
        {},
        { content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'sea' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
      ],
    }),
    gemini: exact({
      contents: [
        {},
        { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 'sea' } } }] },
        { parts: [{ functionResponse: { name: 'look', response: { output: 'Waves.' } } }] },
      ],
    }),
    bedrock_converse: exact({
      messages: [
        {},
        { content: [{ toolUse: { toolUseId: 'call_1', name: 'look', input: { at: 'sea' } } }] },
        { content: [{ toolResult: { toolUseId: 'call_1', content: [{ text: 'Waves.' }] } }] },
      ],
    }),
  },
};

const failed = answered({
  chat: '',
  responses: '',
  messages: { content: 'Fog.', is_error: true },
  native: { content: 'Fog.', is_error: true },
});

const error: Feature = {
  name: 'a call that failed',
  says: {
    messages: asked('`is_error`', failed.messages),
    native: asked('`is_error`', failed.native),
  },
  at: {
    openai_chat: exact(
      { messages: [{}, {}, { role: 'tool', content: 'Error: Fog.' }] },
      { as: 'text `Error: …`' },
    ),
    openai_responses: exact(
      { input: [{}, {}, { type: 'function_call_output', output: 'Error: Fog.' }] },
      { as: 'text `Error: …`' },
    ),
    anthropic_messages: exact({ messages: [{}, {}, { content: [{ type: 'tool_result', is_error: true }] }] }),
    gemini: exact({ contents: [{}, {}, { parts: [{ functionResponse: { response: { error: 'Fog.' } } }] }] }),
    bedrock_converse: exact({ messages: [{}, {}, { content: [{ toolResult: { status: 'error' } }] }] }),
  },
};

const shown = answered({
  chat: '',
  responses: [
    { type: 'input_text', text: 'Here.' },
    { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
  ],
  messages: {
    content: [
      { type: 'text', text: 'Here.' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    ],
  },
  native: {
    content: [
      { type: 'text', text: 'Here.' },
      { type: 'image', src: { base64: PNG, media_type: 'image/png' } },
    ],
  },
});
const MEDIA_MOVED = 'behaviour:tool_media_moved';

const picture: Feature = {
  name: 'a result that holds an image',
  says: {
    responses: asked('`output` parts', shown.responses),
    messages: asked('`content` blocks', shown.messages),
    native: asked('`content` parts', shown.native),
  },
  at: {
    openai_chat: lost(MEDIA_MOVED, {
      wire: { messages: [{}, {}, { role: 'tool', content: 'Here.' }, { role: 'user' }] },
    }),
    openai_responses: exact({
      input: [{}, {}, { output: [{ type: 'input_text' }, { type: 'input_image' }] }],
    }),
    anthropic_messages: exact({
      messages: [{}, {}, { content: [{ content: [{ type: 'text' }, { type: 'image' }] }] }],
    }),
    gemini: lost(MEDIA_MOVED, {
      listed: { wire: { contents: [{}, {}, { parts: [{ functionResponse: { parts: [{}] } }] }] } },
    }),
    bedrock_converse: exact({
      messages: [{}, {}, { content: [{ toolResult: { content: [{ text: 'Here.' }, { image: {} }] } }] }],
    }),
  },
};

export const calls: readonly Feature[] = [result, error, picture];
