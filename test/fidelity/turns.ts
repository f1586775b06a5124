// A conversation of two turns: the answer of the first is sent back as a client of each dialect would send it.

import { reported } from './answers.ts';
import type { Delivered } from './deliver.ts';
import { listeners } from './hear.ts';
import { tools } from './say.ts';
import type { Dialect, GenerationFamily, Json } from './types.ts';
import type { Said } from './wires.ts';

/** Dialects that can show reasoning and take it back. */
export type Thinker = Exclude<Dialect, 'completions'>;
export const THINKERS = ['chat', 'responses', 'messages', 'native'] as const satisfies readonly Dialect[];

/** Families whose reasoning is signed. */
export type Signer = Exclude<GenerationFamily, 'openai_chat'>;
export const SIGNERS = [
  ...['openai_responses', 'anthropic_messages', 'gemini', 'bedrock_converse'],
] as readonly Signer[];

export const SIGNATURE = 'c2lnbmVkLWJ5LXRoZS1wcm92aWRlcg==';
const thought = { reasoning: 'Sea is wide.', signature: SIGNATURE };
const call = { call: 'look', arguments: '{"id":7}' };

/** The first answer: reasoning, then a call. Gemini signs the call. */
export const first: Readonly<Record<Signer, Said>> = {
  openai_responses: { pieces: [thought, call], stop: 'completed', usage: reported.openai_responses },
  anthropic_messages: { pieces: [thought, call], stop: 'tool_use', usage: reported.anthropic_messages },
  gemini: {
    pieces: [{ reasoning: 'Sea is wide.' }, { ...call, signature: SIGNATURE }],
    stop: 'STOP',
    usage: reported.gemini,
  },
  bedrock_converse: { pieces: [thought, call], stop: 'tool_use', usage: reported.bedrock_converse },
};

/** Which format signs; state of one format is of no use to another. */
export const FORMAT: Readonly<Record<GenerationFamily, string>> = {
  openai_chat: 'none',
  openai_responses: 'openai',
  anthropic_messages: 'anthropic',
  gemini: 'gemini',
  bedrock_converse: 'anthropic',
};

/** What the second call carries at the family that signed. */
export const carried: Readonly<Record<Signer, Json>> = {
  openai_responses: { input: [{}, { type: 'reasoning', encrypted_content: SIGNATURE }, {}, {}] },
  anthropic_messages: {
    messages: [
      {},
      {
        content: [{ type: 'thinking', thinking: 'Sea is wide.', signature: SIGNATURE }, { type: 'tool_use' }],
      },
      {},
    ],
  },
  gemini: {
    contents: [
      {},
      {
        parts: [
          { thought: true, text: 'Sea is wide.' },
          { functionCall: {}, thoughtSignature: SIGNATURE },
        ],
      },
      {},
    ],
  },
  bedrock_converse: {
    messages: [
      {},
      {
        content: [
          { reasoningContent: { reasoningText: { text: 'Sea is wide.', signature: SIGNATURE } } },
          { toolUse: {} },
        ],
      },
      {},
    ],
  },
};

// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
type Wire = any;
const ask = { role: 'user', content: 'Look' };

const sendBack: Readonly<Record<Thinker, (body: Wire) => Json>> = {
  chat: ({ choices: [{ message }] }) => ({
    ...tools.chat,
    messages: [
      ask,
      { role: 'assistant', ...message },
      { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'Waves.' },
    ],
  }),
  responses: ({ output }) => ({
    ...tools.responses,
    include: ['reasoning.encrypted_content'],
    input: [
      ask,
      ...output,
      { type: 'function_call_output', call_id: output.at(-1).call_id, output: 'Waves.' },
    ],
  }),
  messages: ({ content }) => ({
    ...tools.messages,
    messages: [
      ask,
      { role: 'assistant', content: content.map(withInput) },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: content.at(-1).id, content: 'Waves.' }] },
    ],
  }),
  native: ({ candidates: [{ content }] }) => ({
    ...tools.native,
    messages: [
      ask,
      { role: 'assistant', content },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: content.at(-1).id, content: 'Waves.' }],
      },
    ],
  }),
};

/** A folded stream holds the input as text. */
function withInput(block: Wire): Wire {
  return typeof block.input === 'string' ? { ...block, input: JSON.parse(block.input) } : block;
}

/** Body members of the second turn, of the first one's stream and of its whole answer. */
export function secondTurn(dialect: Thinker, { stream, whole }: Delivered): readonly Json[] {
  return [sendBack[dialect](listeners[dialect].fold(stream)), sendBack[dialect](whole)];
}
