// Streams of every family told step by step, with whatever usage a test makes up: for tests of what a call costs.
import { exceptionEvent, jsonEvent } from '../../sim/providers/bedrock/event-stream.ts';
import type { Json } from '../caller.ts';

/** What a provider claims to have counted. */
export interface Reported {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export interface Script {
  readonly kind: string;
  readonly site: string;
  /** Path of the base address behind the site. */
  readonly base: string;
  readonly content_type: string;
  open(early: Reported | null): Buffer;
  /** Text of answer `n` of several, with what is claimed so far where the family says that while it runs. */
  text(text: string, so_far?: Reported | null, n?: number): Buffer;
  /** Usage in the family's format. */
  usage(reported: Reported): Json;
  /** The stop of each of `answers`, the usage where there is one, and the end mark. */
  close(usage: Json | null, answers?: number): Buffer;
  error(): Buffer;
}

const sse = (data: unknown, event?: string): Buffer =>
  Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
const typed = (type: string, members: object): Buffer => sse({ type, ...members }, type);
const all = (...pieces: readonly (Buffer | null)[]): Buffer =>
  Buffer.concat(pieces.filter((piece) => piece !== null));

function chat(members: Json): Buffer {
  return sse({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...members });
}

const chatUsage = ({ input, output, cached }: Reported) => ({
  ...{ prompt_tokens: input + cached, completion_tokens: output, total_tokens: input + cached + output },
  prompt_tokens_details: { cached_tokens: cached },
});
const delta = (content: string, index = 0) => ({ index, delta: { content }, finish_reason: null });

const openaiChat: Script = {
  ...{ kind: 'openai', site: 'a', base: '/v1', content_type: 'text/event-stream' },
  open: (early) => chat({ choices: [delta('')], ...(early === null ? {} : { usage: chatUsage(early) }) }),
  text: (text, so_far = null, n = 0) =>
    chat({ choices: [delta(text, n)], ...(so_far === null ? {} : { usage: chatUsage(so_far) }) }),
  usage: chatUsage,
  close: (usage, answers = 1) =>
    all(
      ...Array.from({ length: answers }, (_, index) =>
        chat({ choices: [{ index, delta: {}, finish_reason: 'stop' }] }),
      ),
      usage === null ? null : chat({ choices: [], usage }),
      Buffer.from('data: [DONE]\n\n'),
    ),
  error: () => sse({ error: { message: 'broken', type: 'server_error', code: 'server_error' } }),
};

const response = {
  id: 'r',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'in_progress',
  output: [],
};
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };

const openaiResponses: Script = {
  ...{ kind: 'openai-responses', site: 'r', base: '/v1', content_type: 'text/event-stream' },
  open: () =>
    all(
      typed('response.created', { sequence_number: 0, response }),
      typed('response.output_item.added', {
        ...{ sequence_number: 1, output_index: 0 },
        item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
      }),
      typed('response.content_part.added', {
        ...{ sequence_number: 2, ...place },
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    ),
  text: (text) =>
    typed('response.output_text.delta', { sequence_number: 3, ...place, delta: text, logprobs: [] }),
  usage: ({ input, output, cached }) => ({
    ...{ input_tokens: input + cached, output_tokens: output, total_tokens: input + cached + output },
    ...{ input_tokens_details: { cached_tokens: cached }, output_tokens_details: { reasoning_tokens: 0 } },
  }),
  close: (usage) =>
    typed('response.completed', {
      sequence_number: 9,
      response: { ...response, status: 'completed', usage },
    }),
  error: () =>
    typed('response.failed', {
      sequence_number: 9,
      response: { ...response, status: 'failed', error: { code: 'server_error', message: 'broken' } },
    }),
};

const anthropic: Script = {
  ...{ kind: 'anthropic', site: 'x', base: '/v1', content_type: 'text/event-stream' },
  open(early) {
    const usage =
      early === null
        ? {}
        : { usage: { input_tokens: early.input, output_tokens: 1, cache_read_input_tokens: early.cached } };
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], ...usage };
    return all(
      typed('message_start', { message }),
      typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    );
  },
  text: (text) => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  usage: ({ input, output, cached }) => ({
    ...{ input_tokens: input, output_tokens: output, cache_read_input_tokens: cached },
  }),
  close: (usage) =>
    all(
      typed('content_block_stop', { index: 0 }),
      typed('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        ...(usage === null ? {} : { usage }),
      }),
      typed('message_stop', {}),
    ),
  error: () => typed('error', { error: { type: 'api_error', message: 'broken' } }),
};

const metadata = ({ input, output, cached }: Reported) => ({
  ...{ promptTokenCount: input + cached, candidatesTokenCount: output, cachedContentTokenCount: cached },
});

const gemini: Script = {
  ...{ kind: 'gemini', site: 'g', base: '/v1beta', content_type: 'text/event-stream' },
  open: (early) => (early === null ? Buffer.alloc(0) : sse({ usageMetadata: metadata(early) })),
  usage: metadata,
  text: (text, so_far = null) =>
    sse({
      candidates: [{ content: { role: 'model', parts: [{ text }] } }],
      ...(so_far === null ? {} : { usageMetadata: metadata(so_far) }),
    }),
  close: (usage) =>
    sse({
      candidates: [{ finishReason: 'STOP' }],
      ...(usage === null ? {} : { usageMetadata: usage }),
    }),
  error: () => sse({ error: { code: 500, status: 'INTERNAL', message: 'broken' } }),
};

const bedrock: Script = {
  ...{ kind: 'bedrock', site: 'w', base: '', content_type: 'application/vnd.amazon.eventstream' },
  open: () => jsonEvent('messageStart', { role: 'assistant' }),
  usage: ({ input, output, cached }) => ({
    ...{ inputTokens: input, outputTokens: output, cacheReadInputTokens: cached },
  }),
  text: (text) => jsonEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
  close: (usage) =>
    all(
      jsonEvent('contentBlockStop', { contentBlockIndex: 0 }),
      jsonEvent('messageStop', { stopReason: 'end_turn' }),
      usage === null ? null : jsonEvent('metadata', { usage }),
    ),
  error: () => exceptionEvent('internalServerException', 'broken'),
};

export const scripts = { openaiChat, openaiResponses, anthropic, gemini, bedrock } as const;
export type ScriptName = keyof typeof scripts;
export const scriptNames = Object.keys(scripts) as ScriptName[];
