// POST /v1/chat/completions as OpenAI and compatible servers answer it.
import { type Asked, type Piece, type Said, textBytes } from '../content.ts';
import type { Knobs } from '../knobs.ts';
import { type Frame, type JsonBody, mark, piece, type Wire, type WireError } from '../wire.ts';

const errorTypes: Record<number, [type: string, code: string | null]> = {
  400: ['invalid_request_error', null],
  401: ['invalid_request_error', 'invalid_api_key'],
  403: ['invalid_request_error', 'unsupported_country_region_territory'],
  404: ['invalid_request_error', 'model_not_found'],
  413: ['invalid_request_error', null],
  429: ['requests', 'rate_limit_exceeded'],
  500: ['server_error', null],
  503: ['server_error', null],
};

const messages: Record<string, string> = {
  context_length_exceeded:
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  insufficient_quota: 'You exceeded your current quota, please check your plan and billing details.',
  content_filter: 'The prompt was flagged by the content filter.',
};

type JsonList = JsonBody[];

export const openai: Wire = {
  family: 'openai',
  path: '/v1/chat/completions',

  keyOf(headers) {
    const value = headers.authorization;
    return value?.startsWith('Bearer ') ? value.slice(7) : null;
  },

  check(body) {
    const list = body['messages'];
    if (typeof body['model'] !== 'string') return invalid('you must provide a model parameter');
    if (!Array.isArray(list) || list.length === 0)
      return invalid("'messages' must be a non-empty array.", 'messages');
    if (body['model'].startsWith('missing')) {
      return {
        status: 404,
        message: `The model \`${body['model']}\` does not exist.`,
        code: 'model_not_found',
      };
    }
    if (body['stream_options'] !== undefined && body['stream'] !== true) {
      return invalid(
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        'stream_options',
      );
    }
    const known = new Set<unknown>();
    for (const [i, message] of (list as JsonList).entries()) {
      for (const call of (message['tool_calls'] as JsonList | undefined) ?? []) known.add(call['id']);
      if (message['role'] === 'tool' && !known.has(message['tool_call_id'])) {
        const text =
          "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        return invalid(`Invalid parameter: ${text}`, `messages.[${i}].role`);
      }
    }
    return null;
  },

  read(body): Asked {
    const list = body['messages'] as JsonList;
    const format = body['response_format'] as JsonBody | undefined;
    const choice = body['tool_choice'] as string | JsonBody | undefined;
    const stop = body['stop'] as string | string[] | null | undefined;
    const tools = ((body['tools'] as JsonList | undefined) ?? []).filter(({ type }) => type === 'function');
    return {
      model: body['model'] as string,
      prompt_text_bytes: textBytes(list) + textBytes(tools),
      images: imagesIn(list),
      cap: (body['max_completion_tokens'] ?? body['max_tokens'] ?? null) as number | null,
      stops: typeof stop === 'string' ? [stop] : (stop ?? []),
      tools: tools.map(({ function: f }) => ({
        name: (f as JsonBody)['name'] as string,
        schema: (f as JsonBody)['parameters'],
      })),
      tool_choice: choiceOf(choice),
      has_results: list.at(-1)?.['role'] === 'tool',
      results: list.filter(({ role }) => role === 'tool').length,
      json: format !== undefined && format['type'] !== 'text',
      json_schema: (format?.['json_schema'] as JsonBody | undefined)?.['schema'],
      reasoning: 0,
      candidates: (body['n'] as number | undefined) ?? 1,
    };
  },

  lastUserText(body) {
    const message = (body['messages'] as JsonList).findLast(({ role }) => role === 'user');
    return contentText(message?.['content']);
  },

  idOf: (said, knobs) => (knobs.same_id === 1 ? 'chatcmpl-same' : `chatcmpl-sim${said.id}`),

  reported(said, knobs) {
    if (knobs.no_usage === 1) return null;
    const usage = usageOf(said, knobs);
    return { prompt_tokens: usage.prompt_tokens, completion_tokens: usage.completion_tokens };
  },

  whole(body, said, knobs) {
    const choices = Array.from({ length: (body['n'] as number | undefined) ?? 1 }, (_, index) => ({
      index,
      message: {
        role: 'assistant',
        content: contentIsNull(said) || said.stop === 'refusal' ? null : joined(said.text),
        refusal: said.stop === 'refusal' ? joined(said.text) : null,
        annotations: [],
        ...(said.reasoning.length > 0 && { reasoning_content: joined(said.reasoning) }),
        ...(said.tools.length > 0 && {
          tool_calls: said.tools.map(({ id, name, pieces }) => ({
            id: `call_${id}_${index}`,
            type: 'function',
            function: { name, arguments: joined(pieces) },
          })),
        }),
      },
      logprobs: null,
      finish_reason: finishOf(said, knobs),
    }));
    return JSON.stringify({
      ...frameOf(openai.idOf(said, knobs), said, 'chat.completion'),
      choices,
      ...(knobs.no_usage === 0 && { usage: usageOf(said, knobs) }),
    });
  },

  frames,
  error: (error) => JSON.stringify({ error: errorObject(error) }),
  errorFrame: () => {
    const error = { message: 'The server had an error while processing your request.', type: 'server_error' };
    return `data: ${JSON.stringify({ error: { ...error, param: null, code: null } })}\n\n`;
  },
  headers: (said) => ({
    'x-request-id': `req_sim${said?.id ?? 0}`,
    'openai-processing-ms': '1',
    'openai-version': '2020-10-01',
  }),
};

function* frames(body: JsonBody, said: Said, knobs: Knobs): Generator<Frame> {
  const options = body['stream_options'] as JsonBody | undefined;
  const asked = options?.['include_usage'] === true;
  const start = JSON.stringify(frameOf(openai.idOf(said, knobs), said, 'chat.completion.chunk')).slice(0, -1);
  const end = asked && knobs.usage_in_choices === 0 ? ',"usage":null}\n\n' : '}\n\n';
  const chunk = (index: number, delta: string, finish = 'null', rest = end): string =>
    `data: ${start},"choices":[{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${rest}`;
  const usage = `"usage":${JSON.stringify(usageOf(said, knobs))}}\n\n`;
  const indexes = Array.from({ length: (body['n'] as number | undefined) ?? 1 }, (_, index) => index);

  const content = contentIsNull(said) ? 'null' : '""';
  for (const index of indexes)
    yield mark(chunk(index, `{"role":"assistant","content":${content},"refusal":null}`));
  const field = said.stop === 'refusal' ? 'refusal' : 'content';
  for (const [name, pieces] of [
    ['reasoning_content', said.reasoning] as const,
    [field, said.text] as const,
  ]) {
    for (const { text, tokens } of pieces) {
      for (const index of indexes) yield piece(chunk(index, `{"${name}":${JSON.stringify(text)}}`), tokens);
    }
  }
  for (const index of indexes) {
    for (const { delta, tokens } of toolDeltas(said, index, knobs)) yield piece(chunk(index, delta), tokens);
  }
  if (knobs.no_finish === 0) {
    const finish = JSON.stringify(finishOf(said, knobs));
    const rest = knobs.usage_in_choices === 1 ? `,${usage}` : end;
    for (const index of indexes) {
      yield mark(chunk(index, '{}', finish, index === indexes.length - 1 ? rest : end));
    }
  }
  const separate = asked && knobs.no_usage === 0 && knobs.usage_in_choices === 0;
  if (separate) yield mark(`data: ${start},"choices":[],${usage}`);
  if (knobs.no_done === 0) yield mark('data: [DONE]\n\n');
}

function* toolDeltas(
  said: Said,
  candidate: number,
  knobs: Knobs,
): Generator<{ delta: string; tokens: number }> {
  const place = (index: number): string => (knobs.missing_index === 1 ? '' : `"index":${index},`);
  const opening = (index: number): { delta: string; tokens: number } => {
    const { id, name } = said.tools[index]!;
    const call = `"id":"call_${id}_${candidate}","type":"function","function":{"name":${JSON.stringify(name)},"arguments":""}`;
    return { delta: `{"tool_calls":[{${place(index)}${call}}]}`, tokens: 0 };
  };
  const step = (index: number, { text, tokens }: Piece): { delta: string; tokens: number } => ({
    delta: `{"tool_calls":[{${place(index)}"function":{"arguments":${JSON.stringify(text)}}}]}`,
    tokens,
  });
  if (knobs.interleaved_tools === 0) {
    for (const [index, { pieces }] of said.tools.entries()) {
      yield opening(index);
      for (const each of pieces) yield step(index, each);
    }
    return;
  }
  for (const index of said.tools.keys()) yield opening(index);
  const most = Math.max(...said.tools.map(({ pieces }) => pieces.length));
  for (let i = 0; i < most; i++) {
    for (const [index, { pieces }] of said.tools.entries()) {
      const each = pieces[i];
      if (each !== undefined) yield step(index, each);
    }
  }
}

function frameOf(id: string, said: Said, object: string): JsonBody {
  const created = Math.floor(Date.now() / 1_000);
  return { id, object, created, model: said.model, service_tier: 'default', system_fingerprint: 'fp_sim' };
}

function usageOf(said: Said, knobs: Knobs) {
  const prompt_tokens = said.prompt_tokens + knobs.over_report;
  const completion_tokens =
    knobs.negative_usage === 1 ? -5 : said.completion_tokens + knobs.over_report_output;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: {
      cached_tokens: said.cached,
      audio_tokens: 0,
      ...(said.written > 0 && { cache_write_tokens: said.written }),
    },
    completion_tokens_details: {
      reasoning_tokens: said.reasoning_tokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function contentIsNull(said: Said): boolean {
  return said.tools.length > 0 && said.text.length === 0;
}

function finishOf(said: Said, knobs: Knobs): string {
  if (knobs.finish !== null) return knobs.finish;
  if (said.stop === 'tools') return 'tool_calls';
  return said.stop === 'length' ? 'length' : 'stop';
}

function errorObject({ status, message, code, param }: WireError): JsonBody {
  const [type, usual] = errorTypes[status] ?? ['server_error', null];
  const text = code === undefined ? message : (messages[code] ?? message);
  return { message: text, type, param: param ?? null, code: code ?? usual };
}

function invalid(message: string, param?: string): WireError {
  return { status: 400, message, ...(param !== undefined && { param }) };
}

function choiceOf(choice: string | JsonBody | undefined): Asked['tool_choice'] {
  if (choice === 'none' || choice === 'required') return choice;
  if (typeof choice !== 'object') return null;
  const named = choice['function'] as JsonBody | undefined;
  return named === undefined ? null : { name: named['name'] as string };
}

function joined(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as JsonList).map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
}

function imagesIn(list: JsonList): number {
  let images = 0;
  for (const { content } of list) {
    if (Array.isArray(content))
      images += (content as JsonList).filter(({ type }) => type === 'image_url').length;
  }
  return images;
}
