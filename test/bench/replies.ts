// The bytes that the bench upstream answers with, made once: HTTP framing included, so that serving a call
// is a write and nothing else.

export const CHUNKS = 100;
/** Models that steer the upstream; the name is found in the body whatever the dialect. */
export const behaviours = ['whole', 'paced', 'burst', 'idle'] as const;
export type Behaviour = (typeof behaviours)[number];
export type Wire = 'openai' | 'anthropic';

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

const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'transfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n';

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** Whole answers of about 1.1 KB with usage: 4,000 tokens in, 200 out. */
export const whole: Record<Wire, Buffer> = {
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

/** Events of a stream: what comes before the first chunk, the chunks, and what ends it. */
const events: Record<Wire, { open: string; chunk: (i: number) => string; close: string }> = {
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

function streamOf(wire: Wire): StreamBytes {
  const { open, chunk, close } = events[wire];
  const rest = Array.from({ length: CHUNKS - 1 }, (_, i) => Buffer.from(chunked(chunk(i + 1))));
  const bursts: Buffer[] = [];
  for (let i = 0; i < rest.length; i += BURST_EVENTS)
    bursts.push(Buffer.concat(rest.slice(i, i + BURST_EVENTS)));
  return {
    first: Buffer.from(STREAM_HEAD + chunked(open + chunk(0))),
    rest,
    bursts,
    last: Buffer.from(`${chunked(close)}0\r\n\r\n`),
  };
}

export const streams: Record<Wire, StreamBytes> = {
  openai: streamOf('openai'),
  anthropic: streamOf('anthropic'),
};
