// Rows of docs/compatibility.md in the direction of the answer: what is said, how it ends and what it cost, at each
// family, and how each dialect shows it.
import type { StopReason } from '../../core/inference/canonical/types.ts';
import type { Heard } from './hear.ts';
import { PNG } from './say.ts';
import type { Dialect, GenerationFamily, Json } from './types.ts';
import { CITED, type Piece } from './wires.ts';

/** How a dialect shows a kind of content; absent: as said. */
export interface Content {
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly stops: Readonly<Partial<Record<GenerationFamily, string>>>;
  /** How each dialect names it, for the page; absent where it is not shown. */
  readonly shown: Readonly<Partial<Record<Dialect, string>>>;
  readonly heard: Partial<Heard>;
  /** What a dialect does with it that cannot show it. */
  readonly except?: Readonly<Partial<Record<Dialect, Partial<Heard>>>>;
  /** Body members that ask for it. */
  readonly asks?: Readonly<Partial<Record<Dialect, Json>>>;
}

const ends = {
  openai_chat: 'stop',
  openai_responses: 'completed',
  anthropic_messages: 'end_turn',
  gemini: 'STOP',
  bedrock_converse: 'end_turn',
} as const;

const calls = {
  openai_chat: 'tool_calls',
  openai_responses: 'completed',
  anthropic_messages: 'tool_use',
  gemini: 'STOP',
  bedrock_converse: 'tool_use',
} as const;

const everywhere = (word: string) => ({
  chat: word,
  responses: word,
  messages: word,
  completions: word,
  native: word,
});
const { openai_chat, openai_responses, anthropic_messages, gemini, bedrock_converse } = ends;

export const contents: readonly Content[] = [
  {
    name: 'text',
    pieces: [{ text: 'Grüße, 🌍!' }],
    stops: ends,
    shown: {
      chat: '`content`',
      responses: '`output_text`',
      messages: '`text`',
      completions: '`text`',
      native: 'part `text`',
    },
    heard: { text: 'Grüße, 🌍!' },
  },
  {
    name: 'reasoning',
    pieces: [{ reasoning: 'Sea is wide.', signature: 'c2ln' }, { text: 'Wide.' }],
    stops: ends,
    shown: {
      chat: '`reasoning_content`, `reasoning_details`',
      responses: '`reasoning` item',
      messages: '`thinking`',
      native: 'part `reasoning`',
    },
    heard: { text: 'Wide.', reasoning: 'Sea is wide.' },
    except: { completions: { text: 'Wide.', reasoning: '' } },
  },
  {
    name: 'a tool call',
    pieces: [{ text: 'Look.' }, { call: 'look', arguments: '{"at":"sea"}' }],
    stops: calls,
    shown: {
      chat: '`tool_calls`',
      responses: '`function_call`',
      messages: '`tool_use`',
      native: 'part `tool_call`',
    },
    heard: { text: 'Look.', calls: [['look', { at: 'sea' }]] },
    except: { completions: { text: 'Look.', calls: [] } },
  },
  {
    name: 'several tool calls in one turn',
    pieces: [
      { call: 'look', arguments: '{"at":"sea"}' },
      { call: 'hear', arguments: '{}' },
    ],
    stops: calls,
    shown: {
      chat: '`tool_calls`',
      responses: '`function_call` items',
      messages: '`tool_use` blocks',
      native: 'parts `tool_call`',
    },
    heard: {
      calls: [
        ['look', { at: 'sea' }],
        ['hear', {}],
      ],
    },
    except: { completions: { calls: [] } },
  },
  {
    name: 'a refusal',
    pieces: [{ refusal: 'I will not.' }],
    stops: { openai_chat, openai_responses },
    shown: {
      chat: '`refusal`',
      responses: '`refusal`',
      messages: '`text`, stop `refusal`',
      completions: '`text`',
      native: 'part `refusal`',
    },
    heard: { refusal: 'I will not.', text: '' },
    except: {
      messages: { text: 'I will not.', stop: 'refusal' },
      completions: { text: 'I will not.' },
    },
  },
  {
    name: 'a citation of a web page',
    pieces: [{ text: 'It is wide.', cites: CITED }],
    stops: ends,
    shown: {
      chat: '`annotations`',
      responses: '`annotations`',
      messages: '`citations`',
      native: '`citations`',
    },
    heard: { text: 'It is wide.', cites: [CITED] },
    except: { completions: { text: 'It is wide.', cites: [] } },
  },
  {
    name: 'a citation of a document',
    pieces: [{ text: 'It is wide.', quotes: 'a wide sea' }],
    stops: { anthropic_messages, bedrock_converse },
    shown: { messages: '`citations`', native: '`citations`' },
    heard: { text: 'It is wide.', cites: ['a wide sea'] },
    except: {
      chat: { text: 'It is wide.', warnings: ['citation_dropped'] },
      responses: { text: 'It is wide.', warnings: ['citation_dropped'] },
      completions: { text: 'It is wide.' },
    },
  },
  {
    name: 'a picture',
    pieces: [{ text: 'Here.' }, { image: PNG }],
    stops: { openai_chat, gemini },
    shown: { chat: '`images`', native: 'part `image`' },
    heard: { text: 'Here.', images: [PNG] },
    except: {
      responses: { text: 'Here.', warnings: ['content_dropped'] },
      messages: { text: 'Here.', warnings: ['content_dropped'] },
      completions: { text: 'Here.', warnings: ['content_dropped'] },
    },
  },
  {
    name: 'probabilities of tokens',
    pieces: [{ text: 'Hi', logprob: -0.25 }],
    stops: { openai_chat, openai_responses, gemini },
    shown: { chat: '`logprobs`', responses: '`logprobs`', native: '`logprobs`' },
    heard: { text: 'Hi', logprobs: [-0.25] },
    except: { messages: { text: 'Hi', logprobs: [] }, completions: { text: 'Hi', logprobs: [] } },
  },
];

export interface StopRow {
  readonly reason: StopReason;
  readonly from: Readonly<Partial<Record<GenerationFamily, readonly string[]>>>;
  readonly to: Readonly<Record<Dialect, string>>;
  /** Warnings in dialects that have no such word. */
  readonly warns?: Readonly<Partial<Record<Dialect, string>>>;
}

const cut = 'incomplete/max_output_tokens';
const filtered = 'incomplete/content_filter';

export const stops: readonly StopRow[] = [
  {
    reason: 'end_turn',
    from: {
      openai_chat: ['stop'],
      openai_responses: ['completed'],
      anthropic_messages: ['end_turn'],
      gemini: ['STOP'],
      bedrock_converse: ['end_turn'],
    },
    to: { ...everywhere('stop'), responses: 'completed', messages: 'end_turn', native: 'end_turn' },
  },
  {
    reason: 'max_tokens',
    from: {
      openai_chat: ['length'],
      openai_responses: [cut],
      anthropic_messages: ['max_tokens'],
      gemini: ['MAX_TOKENS'],
      bedrock_converse: ['max_tokens'],
    },
    to: { ...everywhere('length'), responses: cut, messages: 'max_tokens', native: 'max_tokens' },
  },
  {
    reason: 'stop_sequence',
    from: { anthropic_messages: ['stop_sequence'], bedrock_converse: ['stop_sequence'] },
    to: { ...everywhere('stop'), responses: 'completed', messages: 'stop_sequence', native: 'stop_sequence' },
  },
  {
    reason: 'content_filter',
    from: {
      openai_chat: ['content_filter'],
      openai_responses: [filtered],
      gemini: [
        ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
        ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
      ],
      bedrock_converse: ['content_filtered', 'guardrail_intervened'],
    },
    to: {
      ...everywhere('content_filter'),
      responses: filtered,
      messages: 'refusal',
    },
  },
  {
    reason: 'refusal',
    from: { anthropic_messages: ['refusal'] },
    to: { ...everywhere('stop'), responses: 'completed', messages: 'refusal', native: 'refusal' },
  },
  {
    reason: 'pause',
    from: { anthropic_messages: ['pause_turn'], gemini: ['CONTINUATION'] },
    to: { ...everywhere('stop'), responses: 'completed', messages: 'pause_turn', native: 'pause' },
    warns: { chat: 'turn_paused', completions: 'turn_paused', responses: 'turn_paused' },
  },
  {
    reason: 'context_window',
    from: {
      anthropic_messages: ['model_context_window_exceeded'],
      bedrock_converse: ['model_context_window_exceeded'],
    },
    to: {
      ...everywhere('length'),
      responses: cut,
      messages: 'model_context_window_exceeded',
      native: 'context_window',
    },
  },
  {
    reason: 'compaction',
    from: { anthropic_messages: ['compaction'] },
    to: { ...everywhere('stop'), responses: 'completed', messages: 'compaction', native: 'compaction' },
    warns: { chat: 'turn_paused', completions: 'turn_paused', responses: 'turn_paused' },
  },
  {
    reason: 'malformed',
    from: {
      gemini: [
        ...['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'NO_IMAGE', 'OTHER'],
        'IMAGE_OTHER',
      ],
      bedrock_converse: ['malformed_model_output', 'malformed_tool_use'],
    },
    to: { ...everywhere('stop'), responses: 'completed', messages: 'end_turn', native: 'malformed' },
    warns: {
      ...{ chat: 'malformed_output', completions: 'malformed_output' },
      ...{ responses: 'malformed_output', messages: 'malformed_output' },
    },
  },
];

/** 90 tokens of prompt, of which 30 came out of a cache and 20 went into one; 25 of output, of which 10 reasoning. */
export const reported: Readonly<Record<GenerationFamily, Json>> = {
  openai_chat: {
    prompt_tokens: 90,
    completion_tokens: 25,
    total_tokens: 115,
    prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 10 },
  },
  openai_responses: {
    input_tokens: 90,
    output_tokens: 25,
    total_tokens: 115,
    input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
    output_tokens_details: { reasoning_tokens: 10 },
  },
  anthropic_messages: {
    input_tokens: 40,
    output_tokens: 25,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 20,
    cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
    output_tokens_details: { thinking_tokens: 10 },
  },
  gemini: {
    promptTokenCount: 90,
    cachedContentTokenCount: 30,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 10,
    totalTokenCount: 115,
  },
  bedrock_converse: {
    inputTokens: 40,
    outputTokens: 25,
    totalTokens: 115,
    cacheReadInputTokens: 30,
    cacheWriteInputTokens: 20,
    cacheDetails: [
      { inputTokens: 15, ttl: '5m' },
      { inputTokens: 5, ttl: '1h' },
    ],
  },
};

interface Counts {
  readonly input: number;
  readonly read: number;
  readonly write: number;
  readonly write_1h: number;
  readonly output: number;
  readonly reasoning: number;
}

const all: Counts = { input: 40, read: 30, write: 20, write_1h: 0, output: 25, reasoning: 10 };

/** Which counts the family reports: Gemini no cache writes, Bedrock no reasoning, OpenAI no lifetimes of an hour. */
export const counted: Readonly<Record<GenerationFamily, Counts>> = {
  openai_chat: all,
  openai_responses: all,
  anthropic_messages: { ...all, write_1h: 5 },
  gemini: { ...all, input: 60, write: 0 },
  bedrock_converse: { ...all, write_1h: 5, reasoning: 0 },
};

/** The same counts in the format of each dialect. */
export const usageIn: Readonly<Record<Dialect, (counts: Counts) => Json>> = {
  chat: openaiUsage,
  completions: openaiUsage,
  responses: ({ input, read, write, output, reasoning }) => ({
    input_tokens: input + read + write,
    output_tokens: output,
    total_tokens: input + read + write + output,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: write },
    output_tokens_details: { reasoning_tokens: reasoning },
  }),
  messages: ({ input, read, write, write_1h, output, reasoning }) => ({
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: write,
    cache_creation: {
      ephemeral_5m_input_tokens: write - write_1h,
      ephemeral_1h_input_tokens: write_1h,
    },
    ...(reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  }),
  native: ({ input, read, write, output, reasoning }) => ({
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read,
    cache_write_tokens: write,
    reasoning_tokens: reasoning,
    source: 'provider',
  }),
};

function openaiUsage({ input, read, write, output, reasoning }: Counts): Json {
  return {
    prompt_tokens: input + read + write,
    completion_tokens: output,
    total_tokens: input + read + write + output,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: write },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
