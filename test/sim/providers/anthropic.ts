// POST /v1/messages as Anthropic answers it.
import { type Asked, type Piece, type Said, signThought, textBytes } from './content.ts';
import type { Knobs } from './knobs.ts';
import { type Frame, type JsonBody, mark, piece, type Wire, type WireError } from './wire.ts';

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const messages: Record<string, string> = {
  context_length_exceeded: 'prompt is too long: 210000 tokens > 200000 maximum',
};

const TOOL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

type JsonList = JsonBody[];

export const anthropic: Wire = {
  family: 'anthropic',
  path: '/v1/messages',

  keyOf(headers) {
    const key = headers['x-api-key'];
    if (typeof key === 'string') return key;
    const value = headers.authorization;
    return value?.startsWith('Bearer ') ? value.slice(7) : null;
  },

  check(body, headers) {
    if (headers['anthropic-version'] === undefined) return invalid('anthropic-version: header is required');
    if (typeof body['model'] !== 'string') return invalid('model: Field required');
    if (body['model'].startsWith('missing')) return { status: 404, message: `model: ${body['model']}` };
    if (typeof body['max_tokens'] !== 'number') return invalid('max_tokens: Field required');
    const list = body['messages'];
    if (!Array.isArray(list) || list.length === 0)
      return invalid('messages: at least one message is required');
    if (Number(body['temperature'] ?? 0) > 1) return invalid('temperature: range: 0..1');
    const thinking = body['thinking'] as JsonBody | undefined;
    if (thinking?.['type'] === 'enabled' && !(Number(thinking['budget_tokens']) >= 1_024)) {
      return invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
    }
    return checkBlocks(list as JsonList);
  },

  read(body): Asked {
    const list = body['messages'] as JsonList;
    const tools = ((body['tools'] as JsonList | undefined) ?? []).filter(
      (tool) => tool['input_schema'] !== undefined,
    );
    const choice = body['tool_choice'] as JsonBody | undefined;
    const format = (body['output_config'] as JsonBody | undefined)?.['format'] as JsonBody | undefined;
    const thinking = (body['thinking'] as JsonBody | undefined)?.['type'];
    return {
      model: body['model'] as string,
      prompt_text_bytes: textBytes(list) + textBytes(body['system']) + textBytes(tools),
      images: blocksOf(list).filter(({ type }) => type === 'image').length,
      cap: body['max_tokens'] as number,
      stops: (body['stop_sequences'] as string[] | undefined) ?? [],
      tools: tools.map((tool) => ({ name: tool['name'] as string, schema: tool['input_schema'] })),
      tool_choice: choiceOf(choice),
      has_results: contentBlocks(list.at(-1)?.['content']).some(({ type }) => type === 'tool_result'),
      results: blocksOf(list).filter(({ type }) => type === 'tool_result').length,
      json: format?.['type'] === 'json_schema',
      json_schema: format?.['schema'],
      reasoning: thinking === 'enabled' || thinking === 'adaptive' ? 8 : 0,
      candidates: 1,
    };
  },

  lastUserText(body) {
    const message = (body['messages'] as JsonList).findLast(({ role }) => role === 'user');
    return contentBlocks(message?.['content'])
      .map(({ text }) => (typeof text === 'string' ? text : ''))
      .join('\n');
  },

  idOf: (said, knobs) => (knobs.same_id === 1 ? 'msg_same' : `msg_sim${said.id}`),

  reported(said, knobs) {
    if (knobs.no_usage === 1) return null;
    return {
      prompt_tokens: said.prompt_tokens + knobs.over_report,
      completion_tokens: outputOf(said, knobs),
    };
  },

  whole(_body, said, knobs) {
    const thought = joined(said.reasoning);
    const content = [
      ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature: signThought(thought) }]),
      ...(said.text.length === 0 ? [] : [{ type: 'text', text: joined(said.text), citations: null }]),
      ...said.tools.map(({ id, name, pieces }) => ({
        type: 'tool_use',
        id: `toolu_${id}`,
        name,
        input: JSON.parse(joined(pieces)) as unknown,
        caller: { type: 'direct' },
      })),
    ];
    return JSON.stringify({
      ...messageOf(said, knobs, outputOf(said, knobs)),
      content,
      ...stopOf(said, knobs),
    });
  },

  frames,
  error: (error) => JSON.stringify(errorBody(error)),
  errorFrame: () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    return event('error', JSON.stringify({ type: 'error', error, request_id: 'req_sim' }));
  },
  headers: (said) => ({ 'request-id': `req_sim${said?.id ?? 0}`, 'anthropic-organization-id': 'org_sim' }),
};

function* frames(_body: JsonBody, said: Said, knobs: Knobs): Generator<Frame> {
  const message = { ...messageOf(said, knobs, 1), content: [], stop_reason: null, stop_sequence: null };
  if (knobs.no_start === 0)
    yield mark(event('message_start', JSON.stringify({ type: 'message_start', message })));
  yield mark(event('ping', '{"type":"ping"}'));
  let index = 0;
  if (said.reasoning.length > 0) {
    yield mark(started(index, { type: 'thinking', thinking: '', signature: '' }));
    for (const { text, tokens } of said.reasoning) {
      yield piece(
        delta(index, `{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`, knobs),
        tokens,
      );
    }
    const signature = JSON.stringify(signThought(joined(said.reasoning)));
    yield mark(delta(index, `{"type":"signature_delta","signature":${signature}}`, knobs));
    yield mark(stopped(index++));
  }
  if (said.text.length > 0) {
    yield mark(started(index, { type: 'text', text: '', citations: null }));
    for (const { text, tokens } of said.text) {
      yield piece(delta(index, `{"type":"text_delta","text":${JSON.stringify(text)}}`, knobs), tokens);
    }
    yield mark(stopped(index++));
  }
  yield* toolFrames(said, index, knobs);
  if (knobs.no_finish === 0) {
    const { stop_reason, stop_sequence, stop_details } = stopOf(said, knobs);
    const usage = {
      ...usageOf(said, knobs, outputOf(said, knobs)),
      service_tier: undefined,
      cache_creation: undefined,
    };
    const body = {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details, container: null },
      ...(knobs.no_usage === 0 && { usage }),
    };
    yield mark(event('message_delta', JSON.stringify(body)));
  }
  if (knobs.no_done === 0) yield mark(event('message_stop', '{"type":"message_stop"}'));
}

function* toolFrames(said: Said, first: number, knobs: Knobs): Generator<Frame> {
  const opening = (i: number): Frame => {
    const { id, name } = said.tools[i]!;
    const block = { type: 'tool_use', id: `toolu_${id}`, name, input: {}, caller: { type: 'direct' } };
    return mark(started(first + i, block));
  };
  const step = (i: number, { text, tokens }: Piece): Frame =>
    piece(
      delta(first + i, `{"type":"input_json_delta","partial_json":${JSON.stringify(text)}}`, knobs),
      tokens,
    );
  if (knobs.interleaved_tools === 0) {
    for (const [i, { pieces }] of said.tools.entries()) {
      yield opening(i);
      yield mark(delta(first + i, '{"type":"input_json_delta","partial_json":""}', knobs));
      for (const each of pieces) yield step(i, each);
      yield mark(stopped(first + i));
    }
    return;
  }
  for (const i of said.tools.keys()) yield opening(i);
  const most = Math.max(0, ...said.tools.map(({ pieces }) => pieces.length));
  for (let n = 0; n < most; n++) {
    for (const [i, { pieces }] of said.tools.entries()) {
      const each = pieces[n];
      if (each !== undefined) yield step(i, each);
    }
  }
  for (const i of said.tools.keys()) yield mark(stopped(first + i));
}

function event(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}

function started(index: number, content_block: JsonBody): string {
  return event('content_block_start', JSON.stringify({ type: 'content_block_start', index, content_block }));
}

function delta(index: number, inner: string, knobs: Knobs): string {
  const place = knobs.missing_index === 1 ? '' : `"index":${index},`;
  return event('content_block_delta', `{"type":"content_block_delta",${place}"delta":${inner}}`);
}

function stopped(index: number): string {
  return event('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
}

function messageOf(said: Said, knobs: Knobs, output: number): JsonBody {
  return {
    id: anthropic.idOf(said, knobs),
    type: 'message',
    role: 'assistant',
    model: said.model,
    ...(knobs.no_usage === 0 && { usage: usageOf(said, knobs, output) }),
  };
}

function usageOf(said: Said, knobs: Knobs, output_tokens: number): JsonBody {
  return {
    input_tokens: said.prompt_tokens - said.cached - said.written + knobs.over_report,
    cache_creation_input_tokens: said.written,
    cache_read_input_tokens: said.cached,
    cache_creation: { ephemeral_5m_input_tokens: said.written, ephemeral_1h_input_tokens: 0 },
    output_tokens,
    ...(said.reasoning_tokens > 0 && { output_tokens_details: { thinking_tokens: said.reasoning_tokens } }),
    service_tier: 'standard',
  };
}

function outputOf(said: Said, knobs: Knobs): number {
  return knobs.negative_usage === 1 ? -5 : said.completion_tokens + knobs.over_report_output;
}

function stopOf(said: Said, knobs: Knobs) {
  const reasons = {
    end: 'end_turn',
    length: 'max_tokens',
    stop_sequence: 'stop_sequence',
    tools: 'tool_use',
    refusal: 'refusal',
  };
  const stop_reason = knobs.finish ?? reasons[said.stop];
  return {
    stop_reason,
    stop_sequence: said.stop_sequence,
    stop_details: stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

function errorBody({ status, message, code }: WireError): JsonBody {
  const type = errorTypes[status] ?? 'api_error';
  const text = code === undefined ? message : (messages[code] ?? message);
  return { type: 'error', error: { type, message: text }, request_id: 'req_sim' };
}

function invalid(message: string): WireError {
  return { status: 400, message };
}

function checkBlocks(list: JsonList): WireError | null {
  for (const [i, message] of list.entries()) {
    for (const [j, block] of contentBlocks(message['content']).entries()) {
      const at = `messages.${i}.content.${j}`;
      if (block['type'] === 'thinking' && block['signature'] !== signThought(String(block['thinking']))) {
        return invalid(`${at}: Invalid \`signature\` in \`thinking\` block`);
      }
      const id = block['type'] === 'tool_use' ? block['id'] : block['tool_use_id'];
      if (id !== undefined && !TOOL_ID.test(String(id))) {
        return invalid(`${at}.id: String should match pattern '${TOOL_ID.source}'`);
      }
      if (block['type'] === 'text' && block['text'] === '')
        return invalid(`${at}: text content blocks must be non-empty`);
    }
  }
  return null;
}

function choiceOf(choice: JsonBody | undefined): Asked['tool_choice'] {
  if (choice?.['type'] === 'none') return 'none';
  if (choice?.['type'] === 'any') return 'required';
  return choice?.['type'] === 'tool' ? { name: choice['name'] as string } : null;
}

function blocksOf(list: JsonList): JsonList {
  return list.flatMap((message) => contentBlocks(message['content']));
}

function contentBlocks(content: unknown): JsonList {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as JsonList) : [];
}

function joined(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}
