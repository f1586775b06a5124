// POST /v1/responses as OpenAI answers it: items, their events in order, and reasoning that only this simulator can decrypt.
import { createHash } from 'node:crypto';
import { type Asked, type Piece, type Said, textBytes } from '../content.ts';
import type { Knobs } from '../knobs.ts';
import { type Frame, type JsonBody, mark, piece, type Wire } from '../wire.ts';
import { openai } from './openai.ts';
import { checkResponse } from './responses-check.ts';

type JsonList = JsonBody[];

export const responses: Wire = {
  family: 'responses',
  path: '/v1/responses',
  keyOf: openai.keyOf,
  check: checkResponse,

  read(body): Asked {
    const items = itemsOf(body);
    const tools = toolsOf(body);
    const format = (body['text'] as JsonBody | undefined)?.['format'] as JsonBody | undefined;
    const effort = (body['reasoning'] as JsonBody | undefined)?.['effort'];
    return {
      model: body['model'] as string,
      prompt_text_bytes: textBytes(items) + textBytes(body['instructions']) + textBytes(tools),
      images: items.flatMap(contentOf).filter(({ type }) => type === 'input_image').length,
      cap: (body['max_output_tokens'] ?? null) as number | null,
      stops: [],
      tools: tools.map((tool) => ({ name: tool['name'] as string, schema: tool['parameters'] })),
      tool_choice: choiceOf(body['tool_choice'] as string | JsonBody | undefined),
      has_results: String(items.at(-1)?.['type']).endsWith('_call_output'),
      results: items.filter(({ type }) => String(type).endsWith('_call_output')).length,
      json: format !== undefined && format['type'] !== 'text',
      json_schema: format?.['schema'],
      reasoning: typeof effort === 'string' && effort !== 'none' ? 8 : 0,
      candidates: 1,
    };
  },

  lastUserText(body) {
    const item = itemsOf(body).findLast(({ role }) => role === 'user');
    return item === undefined
      ? ''
      : contentOf(item)
          .map(({ text }) => text ?? '')
          .join('\n');
  },

  idOf: (said, knobs) => (knobs.same_id === 1 ? 'resp_same' : `resp_sim${said.id}`),

  reported(said, knobs) {
    if (knobs.no_usage === 1) return null;
    const { input_tokens, output_tokens } = usageOf(said, knobs);
    return { prompt_tokens: input_tokens, completion_tokens: output_tokens };
  },

  whole: (body, said, knobs) => JSON.stringify(ended(body, said, knobs)),
  frames,
  error: openai.error,
  errorFrame: () => {
    const message = 'The server had an error while processing your request.';
    const error = { type: 'error', sequence_number: 0, code: 'server_error', message, param: null };
    return `event: error\ndata: ${JSON.stringify(error)}\n\n`;
  },
  headers: openai.headers,
};

/** The items of a request; a text is the user's message. */
export function itemsOf(body: JsonBody): JsonList {
  const { input } = body;
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? (input as JsonList) : [];
}

/** Parts of a message's content. */
export function contentOf(item: JsonBody): JsonList {
  const { content } = item;
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  return Array.isArray(content) ? (content as JsonList) : [];
}

/** Encrypted reasoning, as clients get it; `isSealed` recognises it. */
function seal(text: string): string {
  return `gAAAAA${Buffer.from(JSON.stringify({ text, hash: hashOf(text) })).toString('base64url')}`;
}

/** Whether `sealed` is unchanged reasoning of this provider. */
export function isSealed(sealed: unknown): boolean {
  if (typeof sealed !== 'string' || !sealed.startsWith('gAAAAA')) return false;
  try {
    const { text, hash } = JSON.parse(Buffer.from(sealed.slice(6), 'base64url').toString()) as JsonBody;
    return typeof text === 'string' && hashOf(text) === hash;
  } catch {
    return false;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(`sim sealed\n${text}`).digest('base64');
}

function toolsOf(body: JsonBody): JsonList {
  const tools = (body['tools'] as JsonList | undefined) ?? [];
  return tools.filter(({ type }) => type === 'function' || type === 'custom');
}

function choiceOf(choice: string | JsonBody | undefined): Asked['tool_choice'] {
  if (choice === 'none' || choice === 'required') return choice;
  if (typeof choice !== 'object' || choice === null) return null;
  if (choice['type'] === 'allowed_tools') return choice['mode'] === 'required' ? 'required' : null;
  return typeof choice['name'] === 'string' ? { name: choice['name'] } : null;
}

function includes(body: JsonBody, name: string): boolean {
  return Array.isArray(body['include']) && body['include'].includes(name);
}

/** The response before any output: it repeats the request's options. */
function begun(body: JsonBody, said: Said, knobs: Knobs): JsonBody {
  const text = (body['text'] as JsonBody | undefined) ?? {};
  const reasoning = (body['reasoning'] as JsonBody | undefined) ?? {};
  const tools = ((body['tools'] as JsonList | undefined) ?? []).map((tool) =>
    tool['type'] === 'function' ? { strict: true, description: null, ...tool } : tool,
  );
  return {
    id: responses.idOf(said, knobs),
    object: 'response',
    created_at: said.created,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    model: said.model,
    output: [],
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: body['service_tier'] ?? 'auto',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: text['format'] ?? { type: 'text' }, verbosity: text['verbosity'] ?? 'medium' },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools,
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    usage: null,
    user: body['user'] ?? null,
    metadata: body['metadata'] ?? {},
  };
}

/** The response at its end. */
function ended(body: JsonBody, said: Said, knobs: Knobs): JsonBody {
  const reason = knobs.finish ?? (said.stop === 'length' ? 'max_output_tokens' : null);
  const output = itemsSaid(body, said).map(({ item }) => item);
  const status = reason === null ? 'completed' : 'incomplete';
  return {
    ...begun(body, said, knobs),
    status,
    completed_at: reason === null ? Math.floor(Date.now() / 1_000) : null,
    incomplete_details: reason === null ? null : { reason },
    output: reason === null ? output : withLastIncomplete(output),
    service_tier: 'default',
    ...(knobs.no_usage === 0 && { usage: usageOf(said, knobs) }),
  };
}

function withLastIncomplete(output: JsonList): JsonList {
  return output.map((item, i) => (i === output.length - 1 ? { ...item, status: 'incomplete' } : item));
}

function usageOf(said: Said, knobs: Knobs) {
  const input_tokens = said.prompt_tokens + knobs.over_report;
  const output_tokens = knobs.negative_usage === 1 ? -5 : said.completion_tokens + knobs.over_report_output;
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: said.cached,
      ...(said.written > 0 && { cache_write_tokens: said.written }),
    },
    output_tokens,
    output_tokens_details: { reasoning_tokens: said.reasoning_tokens },
    total_tokens: input_tokens + output_tokens,
  };
}

interface SaidItem {
  /** The item when it is complete. */
  item: JsonBody;
  pieces: readonly Piece[];
}

function itemsSaid(body: JsonBody, said: Said): SaidItem[] {
  const items: SaidItem[] = [];
  const shown = typeof (body['reasoning'] as JsonBody | undefined)?.['summary'] === 'string';
  if (said.reasoning.length > 0) {
    const text = joined(said.reasoning);
    const sealed = includes(body, 'reasoning.encrypted_content') ? { encrypted_content: seal(text) } : {};
    const summary = shown ? [{ type: 'summary_text', text }] : [];
    const item = { id: `rs_sim${said.id}`, type: 'reasoning', ...sealed, summary };
    items.push({ item, pieces: said.reasoning });
  }
  if (said.text.length > 0) {
    const text = joined(said.text);
    const part =
      said.stop === 'refusal'
        ? { type: 'refusal', refusal: text }
        : { type: 'output_text', annotations: [], logprobs: [], text };
    const message = { type: 'message', status: 'completed', content: [part], role: 'assistant' };
    items.push({ item: { id: `msg_sim${said.id}`, ...message }, pieces: said.text });
  }
  const custom = toolsOf(body).filter(({ type }) => type === 'custom');
  for (const { id, name, pieces } of said.tools) {
    const free = custom.some((tool) => tool['name'] === name);
    const type = free ? 'custom_tool_call' : 'function_call';
    const call = { status: 'completed', [free ? 'input' : 'arguments']: joined(pieces) };
    const item = { id: `${free ? 'ctc' : 'fc'}_sim${id}`, type, ...call, call_id: `call_${id}`, name };
    items.push({ item, pieces });
  }
  return items;
}

/** Numbers and writes the events of one response. */
class Events {
  private count = 0;
  private readonly bare: boolean;

  constructor(knobs: Knobs) {
    this.bare = knobs.missing_index === 1;
  }

  of(type: string, { output_index, ...members }: JsonBody): string {
    const place = output_index === undefined || this.bare ? {} : { output_index };
    const event = { type, sequence_number: this.count++, ...place, ...members };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}

function* frames(body: JsonBody, said: Said, knobs: Knobs): Generator<Frame> {
  const events = new Events(knobs);
  const response = begun(body, said, knobs);
  if (knobs.no_start === 0) {
    yield mark(events.of('response.created', { response }));
    yield mark(events.of('response.in_progress', { response }));
  }
  const items = itemsSaid(body, said).map((one, output_index) => stepsOf(one, output_index, events));
  const calls = items.filter(({ call }) => call);
  const mixed = knobs.interleaved_tools === 1 && calls.length > 1;
  for (const { steps } of mixed ? items.filter(({ call }) => !call) : items) yield* steps;
  if (mixed) yield* inTurn(calls.map(({ steps }) => steps));
  if (knobs.no_finish === 1 || knobs.no_done === 1) return;
  const last = ended(body, said, knobs);
  yield mark(events.of(`response.${last['status'] as string}`, { response: last }));
}

/** One frame of each, in turn. */
function* inTurn(lists: Generator<Frame>[]): Generator<Frame> {
  let open = lists;
  while (open.length > 0) {
    const left: Generator<Frame>[] = [];
    for (const list of open) {
      const next = list.next();
      if (next.done === true) continue;
      yield next.value;
      left.push(list);
    }
    open = left;
  }
}

function stepsOf(
  { item, pieces }: SaidItem,
  output_index: number,
  events: Events,
): { call: boolean; steps: Generator<Frame> } {
  const at = { item_id: item['id'], output_index };
  switch (item['type']) {
    case 'reasoning':
      return { call: false, steps: reasoningFrames(item, pieces, { at, output_index, events }) };
    case 'message':
      return { call: false, steps: messageFrames(item, pieces, { at, output_index, events }) };
    default:
      return { call: true, steps: callFrames(item, pieces, { at, output_index, events }) };
  }
}

interface Place {
  at: JsonBody;
  output_index: number;
  events: Events;
}

function* reasoningFrames(item: JsonBody, pieces: readonly Piece[], place: Place): Generator<Frame> {
  const { at, output_index, events } = place;
  yield mark(events.of('response.output_item.added', { output_index, item: { ...item, summary: [] } }));
  const [summary] = item['summary'] as JsonList;
  const where = { ...at, summary_index: 0 };
  const of = (name: string, members: JsonBody): string =>
    events.of(`response.reasoning_summary_${name}`, { ...where, ...members });
  if (summary === undefined) {
    for (const { tokens } of pieces) yield piece('', tokens);
  } else {
    yield mark(of('part.added', { part: { ...summary, text: '' } }));
    for (const { text, tokens } of pieces)
      yield piece(of('text.delta', { delta: text, obfuscation: 'aB3' }), tokens);
    yield mark(of('text.done', { text: summary['text'] }));
    yield mark(of('part.done', { part: summary }));
  }
  yield mark(events.of('response.output_item.done', { output_index, item }));
}

function* messageFrames(item: JsonBody, pieces: readonly Piece[], place: Place): Generator<Frame> {
  const { at, output_index, events } = place;
  const [part] = item['content'] as [JsonBody];
  const refused = part['type'] === 'refusal';
  const where = { ...at, content_index: 0 };
  const name = refused ? 'response.refusal' : 'response.output_text';
  const empty = refused ? { ...part, refusal: '' } : { ...part, text: '' };
  const added = { ...item, status: 'in_progress', content: [] };
  yield mark(events.of('response.output_item.added', { output_index, item: added }));
  yield mark(events.of('response.content_part.added', { ...where, part: empty }));
  const rest = refused ? {} : { logprobs: [], obfuscation: 'Zx81' };
  for (const { text, tokens } of pieces) {
    yield piece(events.of(`${name}.delta`, { ...where, delta: text, ...rest }), tokens);
  }
  const whole = refused ? { refusal: part['refusal'] } : { text: part['text'], logprobs: [] };
  yield mark(events.of(`${name}.done`, { ...where, ...whole }));
  yield mark(events.of('response.content_part.done', { ...where, part }));
  yield mark(events.of('response.output_item.done', { output_index, item }));
}

function* callFrames(item: JsonBody, pieces: readonly Piece[], place: Place): Generator<Frame> {
  const { at, output_index, events } = place;
  const free = item['type'] === 'custom_tool_call';
  const field = free ? 'input' : 'arguments';
  const name = free ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const added = { ...item, status: 'in_progress', [field]: '' };
  yield mark(events.of('response.output_item.added', { output_index, item: added }));
  for (const { text, tokens } of pieces) {
    yield piece(events.of(`${name}.delta`, { ...at, delta: text, obfuscation: 'q' }), tokens);
  }
  yield mark(events.of(`${name}.done`, { ...at, [field]: item[field] }));
  yield mark(events.of('response.output_item.done', { output_index, item }));
}

function joined(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}
