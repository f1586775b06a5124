// The same answer on the wire of every provider family, chunk by chunk, for tests of what a stream costs.
import type { Adapter, RawLane, Target } from '../../core/inference/canonical/contract.ts';
import type { CanonicalRequest, DialectName, Family } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { target as anthropicTarget, request } from '../grammar/messages-cases.ts';
import { jsonEvent } from '../sim/providers/bedrock/event-stream.ts';

const { adapters } = builtIn;

export type StreamFamily = Exclude<Family, 'embed_rerank' | 'sandbox'>;

/** Pieces of a stream: what comes before the first chunk, a chunk that says `text`, and what ends it. */
export interface Wire {
  readonly open: Buffer;
  chunk(text: string): Buffer;
  /** The stop, and behind it usage and end mark, where the family has them. */
  readonly close: Buffer;
}

const sse = (data: unknown, event?: string): Buffer =>
  Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
const typed = (type: string, members: object): Buffer => sse({ type, ...members }, type);
const all = (...pieces: Buffer[]): Buffer => Buffer.concat(pieces);

function chat(delta: object, finish: string | null = null, more: object = {}): Buffer {
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  return sse({ ...head, choices: [{ index: 0, delta, finish_reason: finish, ...more }] });
}

const chatEnd = all(
  chat({}, 'stop'),
  sse({ id: 'c', choices: [], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } }),
  Buffer.from('data: [DONE]\n\n'),
);
const response = {
  id: 'r',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'in_progress',
  output: [],
};
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };

/** Text as every family streams it. */
export const texts: Readonly<Record<StreamFamily, Wire>> = {
  openai_chat: {
    open: chat({ role: 'assistant', content: '' }),
    chunk: (content) => chat({ content }),
    close: chatEnd,
  },
  openai_responses: {
    open: all(
      typed('response.created', { sequence_number: 0, response }),
      typed('response.output_item.added', { sequence_number: 1, output_index: 0, item }),
      typed('response.content_part.added', {
        ...{ sequence_number: 2, item_id: 'msg_1', output_index: 0, content_index: 0 },
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    ),
    chunk: (delta) =>
      typed('response.output_text.delta', {
        ...{ sequence_number: 3, item_id: 'msg_1', output_index: 0, content_index: 0 },
        ...{ delta, logprobs: [] },
      }),
    close: typed('response.completed', {
      sequence_number: 9,
      response: {
        ...{ ...response, status: 'completed' },
        usage: { input_tokens: 9, output_tokens: 9, total_tokens: 18 },
      },
    }),
  },
  anthropic_messages: {
    open: all(
      typed('message_start', {
        message: {
          ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] },
          usage: { input_tokens: 9, output_tokens: 1 },
        },
      }),
      typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ),
    chunk: (text) => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    close: all(
      typed('content_block_stop', { index: 0 }),
      typed('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
      typed('message_stop', {}),
    ),
  },
  gemini: {
    open: Buffer.alloc(0),
    chunk: (text) => sse({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] }),
    close: sse({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9 },
    }),
  },
  bedrock_converse: {
    open: jsonEvent('messageStart', { role: 'assistant' }),
    chunk: (text) => jsonEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    close: all(
      jsonEvent('contentBlockStop', { contentBlockIndex: 0 }),
      jsonEvent('messageStop', { stopReason: 'end_turn' }),
      jsonEvent('metadata', { usage: { inputTokens: 9, outputTokens: 9 } }),
    ),
  },
};

export const families = Object.keys(texts) as StreamFamily[];

const text = (said: string, finish_reason: string | null) => ({
  ...{ id: 'c', object: 'text_completion', created: 1, model: 'm' },
  choices: [{ index: 0, text: said, logprobs: null, finish_reason }],
});

/** Text as the completions path of the family streams it. */
export const completed: Wire = {
  open: sse(text('', null)),
  chunk: (said) => sse(text(said, null)),
  close: all(
    sse(text('', 'stop')),
    sse({ id: 'c', choices: [], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } }),
    Buffer.from('data: [DONE]\n\n'),
  ),
};

/** What the upstream of `lane` streams. */
export function wireOf({ dialect, family }: Pick<RawLane, 'dialect' | 'family'>): Wire {
  return dialect === 'completions' ? completed : texts[family as StreamFamily];
}

const probability = (token: string) => ({ token, logprob: -0.5, bytes: [1, 2], top_logprobs: [] });

/** Chat chunks that each bring the log probability of their token. */
export const withLogprobs: Wire = {
  ...texts.openai_chat,
  chunk: (content) => chat({ content }, null, { logprobs: { content: [probability(content)] } }),
};

/** The arguments of one call, chunk by chunk: `[` and then `"text",`. */
export const callArguments: Wire = {
  open: chat({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '[' } }] }),
  chunk: (text) => chat({ tool_calls: [{ index: 0, function: { arguments: `${JSON.stringify(text)},` } }] }),
  close: all(
    chat({ tool_calls: [{ index: 0, function: { arguments: '0]' } }] }),
    chat({}, 'tool_calls'),
    Buffer.from('data: [DONE]\n\n'),
  ),
};

/** Chunks that each cite a page. */
export const withCitations: Wire = {
  ...texts.anthropic_messages,
  chunk: (cited_text) =>
    typed('content_block_delta', {
      index: 0,
      delta: {
        type: 'citations_delta',
        citation: {
          ...{ type: 'web_search_result_location', url: 'https://a.example/' },
          ...{ title: 'A', encrypted_index: 'x', cited_text },
        },
      },
    }),
};

const grounding = {
  groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }],
  groundingSupports: Array.from({ length: 2 }, (_, i) => ({
    segment: { startIndex: i, endIndex: 1_000_000, text: 'é' },
    groundingChunkIndices: [0],
  })),
};

/** Chunks that each repeat the sources of the whole answer. */
export const withGrounding: Wire = {
  ...texts.gemini,
  chunk: (text) =>
    sse({
      candidates: [
        { content: { role: 'model', parts: [{ text: `é${text}` }] }, groundingMetadata: grounding },
      ],
    }),
};

/** An endpoint of `family` that can do everything. */
export function targetOf(family: StreamFamily): Target {
  return { ...anthropicTarget(), family };
}

/** A request of `dialect` for a stream. */
export function askedBy(dialect: DialectName, change: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return request({ dialect, stream: true, ...change });
}

/** The adapter of `family`. */
export function adapterOf(family: StreamFamily): Adapter {
  return adapters.get(family) as Adapter;
}
