// Short words in which features are written: one part, message or tool in the wire of each dialect or family.
import type { Cell, Json, Outcome } from './types.ts';

export const PNG = 'iVBORw0KGgo=';
export const PDF = 'JVBERi0xLjQK';
export const URL_ = 'https://example.com/cat.png';
export const CALL = { id: 'call_1', name: 'look', arguments: '{"at":"sea"}' } as const;
export const SCHEMA = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] } as const;

/** A turn of the user in chat, messages and native. */
export function turn(...content: Json[]): Json {
  return { messages: [{ role: 'user', content }] };
}

/** The same in responses. */
export function item(...content: Json[]): Json {
  return { input: [{ role: 'user', content }] };
}

/** The user's turn at the families that call it `messages`. */
export function sent(...content: Json[]): Json {
  return { messages: [{ role: 'user', content }] };
}

/** The user's turn at openai_responses. */
export function sentItem(...content: Json[]): Json {
  return { input: [{ role: 'user', content }] };
}

/** The user's turn at gemini. */
export function contents(...parts: Json[]): Json {
  return { contents: [{ role: 'user', parts }] };
}

/** Sent without loss. */
export function exact(wire: Json, more: Omit<Cell, 'wire' | 'lost'> & { listed?: Cell } = {}): Outcome {
  return { wire, ...more };
}

/** Lost as `class:code`, or sent in another form, which is reported so. */
export function lost(code: string, more: Omit<Cell, 'lost'> & { listed?: Cell } = {}): Outcome {
  return { lost: [code], ...more };
}

export const tool = {
  chat: { type: 'function', function: { name: 'look', description: 'Looks.', parameters: SCHEMA } },
  responses: { type: 'function', name: 'look', description: 'Looks.', parameters: SCHEMA },
  messages: { name: 'look', description: 'Looks.', input_schema: SCHEMA },
  native: { name: 'look', description: 'Looks.', schema: SCHEMA },
} as const;

/** Body members that declare the one tool. */
export const tools = {
  chat: { tools: [tool.chat] },
  responses: { tools: [tool.responses] },
  messages: { tools: [tool.messages] },
  native: { tools: [tool.native] },
} as const;

/** The declared tool at each family. */
export const declared = {
  openai_chat: { tools: [tool.chat] },
  openai_responses: { tools: [tool.responses] },
  anthropic_messages: { tools: [tool.messages] },
  gemini: {
    tools: [
      { functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema: SCHEMA }] },
    ],
  },
  bedrock_converse: {
    toolConfig: {
      tools: [{ toolSpec: { name: 'look', description: 'Looks.', inputSchema: { json: SCHEMA } } }],
    },
  },
} as const;
