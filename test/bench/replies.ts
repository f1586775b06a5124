// The bytes that the bench upstream answers with, made once: HTTP framing included, so that serving a call
// is a write and nothing else.
import { jsonEvent } from '../sim/providers/bedrock/event-stream.ts';

export const CHUNKS = 100;
/** Models that steer the upstream; the name is found in the body whatever the dialect. */
export const behaviours = ['whole', 'paced', 'burst', 'idle', 'slow', 'delayed'] as const;
export type Behaviour = (typeof behaviours)[number];
export type StreamWire = 'openai' | 'anthropic' | 'responses' | 'gemini' | 'bedrock';
export type WholeWire = 'openai' | 'anthropic' | 'embeddings';
export type Wire = StreamWire | WholeWire;
/** Ends the answers of wires without an end mark, for the bare proxy's side: a stream that was cut lacks it. */
export const DONE = 'bench-done';

const WORDS = 'the river carries what the rain has loosened and lays it down where the water slows '.split(
  ' ',
);
const ANSWER = Array.from({ length: 200 }, (_, i) => WORDS[i % WORDS.length])
  .join(' ')
  .slice(0, 800);
const CREATED = 1_760_000_000;

function http(body: string): Buffer {
  const length = Buffer.byteLength(body);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nconnection: keep-alive\r\n\r\n${body}`,
  );
}

function streamHead(content_type: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: ${content_type}\r\ncache-control: no-cache\r\n` +
      'transfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n',
  );
}

function chunked(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** Whole answers of about 1.1 KB with usage (4,000 tokens in, 200 out), and a vector of 1,536 numbers. */
export const whole: Record<WholeWire, Buffer> = {
  embeddings: http(
    JSON.stringify({
      object: 'list',
      data: [
        {
          object: 'embedding',
          index: 0,
          embedding: Array.from({ length: 1_536 }, (_, i) => Math.round(Math.sin(i + 1) * 1e6) / 1e7),
        },
      ],
      model: 'bench-embed',
      usage: { prompt_tokens: 4000, total_tokens: 4000 },
    }),
  ),
  openai: http(
    JSON.stringify({
      id: 'chatcmpl-bench0000000000000000000',
      object: 'chat.completion',
      created: CREATED,
      model: 'bench-whole',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: ANSWER, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 4000,
        completion_tokens: 200,
        total_tokens: 4200,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
      system_fingerprint: 'fp_bench',
    }),
  ),
  anthropic: http(
    JSON.stringify({
      id: 'msg_bench0000000000000000000',
      type: 'message',
      role: 'assistant',
      model: 'bench-whole',
      content: [{ type: 'text', text: ANSWER }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 4000,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 200,
      },
    }),
  ),
};

function chatEvent(rest: string): string {
  return (
    'data: {"id":"chatcmpl-bench0000000000000000000","object":"chat.completion.chunk",' +
    `"created":${CREATED},"model":"bench-paced","service_tier":"default","system_fingerprint":"fp_bench",${rest}}\n\n`
  );
}

function chatDelta(delta: string, finish: string): string {
  return chatEvent(
    `"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],"usage":null`,
  );
}

function messagesEvent(type: string, rest: string): string {
  return `event: ${type}\ndata: {"type":"${type}"${rest}}\n\n`;
}

const word = (i: number): string => WORDS[i % WORDS.length] as string;

function geminiEvent(rest: string): string {
  return (
    'data: {"usageMetadata":{"promptTokenCount":4000,"candidatesTokenCount":100,"totalTokenCount":4100},' +
    `"modelVersion":"bench-paced",${rest}}\r\n\r\n`
  );
}

const responsesPlace = '"item_id":"msg_bench","output_index":0,"content_index":0';
const responsesObject = (status: string, more: string) =>
  `{"id":"resp_bench","object":"response","created_at":${CREATED},"model":"bench-paced","status":"${status}",${more}}`;

interface Events {
  readonly content_type?: string;
  readonly open: string | Buffer;
  chunk(i: number): string | Buffer;
  readonly close: string | Buffer;
}

/** Events of a stream: what comes before the first chunk, the chunks, and what ends it. */
const events: Record<StreamWire, Events> = {
  responses: {
    open:
      messagesEvent(
        'response.created',
        `,"sequence_number":0,"response":${responsesObject('in_progress', '"output":[]')}`,
      ) +
      messagesEvent(
        'response.output_item.added',
        ',"sequence_number":1,"output_index":0,"item":{"id":"msg_bench","type":"message","status":"in_progress","role":"assistant","content":[]}',
      ) +
      messagesEvent(
        'response.content_part.added',
        `,"sequence_number":2,${responsesPlace},"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}`,
      ),
    chunk: (i) =>
      messagesEvent(
        'response.output_text.delta',
        `,"sequence_number":${i + 3},${responsesPlace},"delta":" ${word(i)}","logprobs":[]`,
      ),
    close:
      messagesEvent(
        'response.output_item.done',
        `,"sequence_number":${CHUNKS + 3},"output_index":0,"item":{"id":"msg_bench","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"…","annotations":[],"logprobs":[]}]}`,
      ) +
      messagesEvent(
        'response.completed',
        `,"sequence_number":${CHUNKS + 4},"response":${responsesObject(
          'completed',
          `"output":[],"usage":{"input_tokens":4000,"output_tokens":100,"total_tokens":4100},"safety_identifier":"${DONE}"`,
        )}`,
      ),
  },
  gemini: {
    open: '',
    chunk: (i) =>
      geminiEvent(`"candidates":[{"content":{"role":"model","parts":[{"text":" ${word(i)}"}]},"index":0}]`),
    close: geminiEvent(
      `"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"responseId":"${DONE}"`,
    ),
  },
  bedrock: {
    content_type: 'application/vnd.amazon.eventstream',
    open: jsonEvent('messageStart', { role: 'assistant' }),
    chunk: (i) => jsonEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: ` ${word(i)}` } }),
    close: Buffer.concat([
      jsonEvent('contentBlockStop', { contentBlockIndex: 0 }),
      jsonEvent('messageStop', { stopReason: 'end_turn' }),
      jsonEvent('metadata', { usage: { inputTokens: 4000, outputTokens: 100, totalTokens: 4100 }, p: DONE }),
    ]),
  },
  openai: {
    open: chatDelta('{"role":"assistant","content":"","refusal":null}', 'null'),
    chunk: (i) => chatDelta(`{"content":" ${word(i)}"}`, 'null'),
    close:
      chatDelta('{}', '"stop"') +
      chatEvent(
        '"choices":[],"usage":{"prompt_tokens":4000,"completion_tokens":100,"total_tokens":4100,' +
          '"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}',
      ) +
      'data: [DONE]\n\n',
  },
  anthropic: {
    open:
      messagesEvent(
        'message_start',
        ',"message":{"id":"msg_bench0000000000000000000","type":"message","role":"assistant","model":"bench-paced",' +
          '"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4000,' +
          '"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}',
      ) + messagesEvent('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}'),
    chunk: (i) =>
      messagesEvent('content_block_delta', `,"index":0,"delta":{"type":"text_delta","text":" ${word(i)}"}`),
    close:
      messagesEvent('content_block_stop', ',"index":0') +
      messagesEvent(
        'message_delta',
        ',"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":4000,' +
          '"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":100}',
      ) +
      messagesEvent('message_stop', ''),
  },
};

export interface StreamBytes {
  /** Headers, opening events and the first chunk. */
  readonly first: Buffer;
  /** Chunks 1 … 99, one event each. */
  readonly rest: readonly Buffer[];
  /** Chunks 1 … 99 in writes of `BURST_EVENTS` events. */
  readonly bursts: readonly Buffer[];
  readonly last: Buffer;
}

/** Events in one write of a burst; a figure of saturated chunks means nothing without it. */
export const BURST_EVENTS = 9;

function streamOf(wire: StreamWire): StreamBytes {
  const { open, chunk, close, content_type = 'text/event-stream; charset=utf-8' } = events[wire];
  const bytesOf = (event: string | Buffer) => Buffer.from(event as string);
  const rest = Array.from({ length: CHUNKS - 1 }, (_, i) => chunked(bytesOf(chunk(i + 1))));
  const bursts: Buffer[] = [];
  for (let i = 0; i < rest.length; i += BURST_EVENTS)
    bursts.push(Buffer.concat(rest.slice(i, i + BURST_EVENTS)));
  return {
    first: Buffer.concat([
      streamHead(content_type),
      chunked(Buffer.concat([bytesOf(open), bytesOf(chunk(0))])),
    ]),
    rest,
    bursts,
    last: Buffer.concat([chunked(bytesOf(close)), Buffer.from('0\r\n\r\n')]),
  };
}

export const streams: Record<StreamWire, StreamBytes> = {
  openai: streamOf('openai'),
  anthropic: streamOf('anthropic'),
  responses: streamOf('responses'),
  gemini: streamOf('gemini'),
  bedrock: streamOf('bedrock'),
};
