// An example of every member of the canonical form: two requests, or two answers, that differ in it alone. A member that
// is added to the form does not compile until it has one.
import type { OfAnswer, OfRequest } from '../../core/inference/canonical/coverage.ts';
import type {
  CanonicalEvent,
  CanonicalRequest,
  Family,
  Message,
  Part,
  ReasoningFormat,
  Stop,
  Tool,
  Usage,
} from '../../core/inference/canonical/types.ts';
import { read } from './evaluate.ts';
import { PNG } from './say.ts';

export type Pair<T> = readonly [T, T];
/** null: without the part. */
type PartPair = readonly [Part | null, Part];

type PartOf<K extends Part['type']> = Extract<Part, { type: K }>;

/** What each family signs its reasoning as; state of others is lost there, whatever it says. */
const SIGNED: Readonly<Partial<Record<Family, ReasoningFormat>>> = {
  openai_responses: 'openai-responses-v1',
  anthropic_messages: 'anthropic-claude-v1',
  gemini: 'google-gemini-v1',
  bedrock_converse: 'anthropic-claude-v1',
};

const PDF = { base64: Buffer.from('%PDF-1.4').toString('base64'), media_type: 'application/pdf' };
const WAV = { base64: Buffer.from('RIFF').toString('base64'), media_type: 'audio/wav' };
const MP4 = { base64: Buffer.from('mp4').toString('base64'), media_type: 'video/mp4' };
const PICTURE = { base64: PNG, media_type: 'image/png' };
const GRAMMAR = { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } };

/** Parts that differ in one member, by kind and member; the same examples serve both directions. */
export function partPairs(family: Family): {
  [K in Part['type']]: {
    [M in keyof Omit<PartOf<K>, 'type' | 'cache' | 'ext'>]-?: readonly [PartOf<K> | null, PartOf<K>];
  };
} {
  const text: PartOf<'text'> = { type: 'text', text: 'a' };
  const url = { kind: 'url', url: 'https://e.com/', title: 'E', start: 0, end: 1 } as const;
  const logprob = { token: 'a', logprob: -1, bytes: null, top: [] };
  const refusal: PartOf<'refusal'> = { type: 'refusal', text: 'a' };
  const image: PartOf<'image'> = { type: 'image', src: PICTURE };
  const audio: PartOf<'audio'> = { type: 'audio', src: WAV, format: 'wav' };
  const video: PartOf<'video'> = { type: 'video', src: MP4 };
  const document: PartOf<'document'> = { type: 'document', src: PDF };
  const found: PartOf<'search_result'> = {
    type: 'search_result',
    source: 'https://e.com/',
    title: 'E',
    content: [text],
  };
  const format = SIGNED[family] ?? 'unknown';
  const state = family === 'openai_responses' ? { data: 'c2ln', id: 'rs_1' } : { signature: 'c2ln' };
  const thought: PartOf<'reasoning'> = { type: 'reasoning', text: 'a', kind: 'summary', format, ...state };
  const sealed: PartOf<'reasoning'> = {
    type: 'reasoning',
    text: '',
    kind: 'encrypted',
    format,
    data: 'QUE=',
  };
  const call: PartOf<'tool_call'> = {
    type: 'tool_call',
    id: 'call_1',
    name: 'look',
    arguments: '{"a":1}',
    kind: 'function',
    format,
  };
  const result: PartOf<'tool_result'> = { type: 'tool_result', tool_call_id: 'call_1', content: [text] };
  const server: PartOf<'server_tool'> = { type: 'server_tool', family, name: 's', payload: { type: 's' } };
  const other: Family = family === 'gemini' ? 'openai_chat' : 'gemini';
  return {
    text: {
      text: [text, { ...text, text: 'b' }],
      citations: [text, { ...text, citations: [url] }],
      logprobs: [text, { ...text, logprobs: [logprob] }],
    },
    refusal: { text: [refusal, { ...refusal, text: 'b' }] },
    image: {
      src: [null, image],
      detail: [image, { ...image, detail: 'low' }],
    },
    audio: {
      src: [null, audio],
      format: [audio, { ...audio, format: 'mp3' }],
      transcript: [audio, { ...audio, transcript: 'a' }],
    },
    video: { src: [null, video] },
    document: {
      src: [null, document],
      name: [document, { ...document, name: 'a.pdf' }],
      title: [document, { ...document, title: 'A' }],
      context: [document, { ...document, context: 'A' }],
      citations: [document, { ...document, citations: true }],
    },
    search_result: {
      source: [found, { ...found, source: 'https://f.com/' }],
      title: [found, { ...found, title: 'F' }],
      content: [null, found],
      citations: [found, { ...found, citations: true }],
    },
    reasoning: {
      text: [null, thought],
      kind: [thought, sealed],
      signature: [thought, { ...thought, signature: 'b3Ro' }],
      data: [null, sealed],
      id: [thought, { ...thought, id: 'rs_2' }],
      format: [thought, { ...thought, format: 'unknown' }],
    },
    tool_call: {
      id: [call, { ...call, id: 'call_2' }],
      name: [null, call],
      arguments: [call, { ...call, arguments: '{"a":2}' }],
      kind: [call, { ...call, kind: 'custom' }],
      signature: [call, { ...call, signature: 'c2ln' }],
      format: [
        { ...call, signature: 'c2ln' },
        { ...call, signature: 'c2ln', format: 'unknown' },
      ],
    },
    tool_result: {
      tool_call_id: [result, { ...result, tool_call_id: 'call_2' }],
      name: [result, { ...result, name: 'hear' }],
      content: [result, { ...result, content: [{ ...text, text: 'b' }] }],
      is_error: [result, { ...result, is_error: true }],
    },
    server_tool: {
      family: [server, { ...server, family: other }],
      name: [server, { ...server, name: 't' }],
      payload: [null, server],
    },
  };
}

const OF_AN_ANSWER: readonly Part['type'][] = ['text', 'refusal', 'reasoning', 'tool_call', 'server_tool'];

/** A conversation with `part` where parts of its kind stand; null: the same without it. */
function holding(part: Part | null, kind: Part['type']): Message[] {
  const hi: Part = { type: 'text', text: 'Hi' };
  const user: Message = { role: 'user', content: [hi] };
  const own = part === null ? [] : [part];
  if (kind === 'tool_result') {
    const id = part?.type === 'tool_result' ? part.tool_call_id : '';
    const call: Part = { type: 'tool_call', id, name: 'look', arguments: '{}', kind: 'function' };
    return [user, { role: 'assistant', content: [call] }, { role: 'tool', content: own }, user];
  }
  if (!OF_AN_ANSWER.includes(kind)) return [{ role: 'user', content: [hi, ...own] }];
  const said: Message = { role: 'assistant', content: [hi, ...own] };
  if (part?.type !== 'tool_call') return [user, said, user];
  const result: Part = { type: 'tool_result', tool_call_id: part.id, content: [hi] };
  return [user, said, { role: 'tool', content: [result] }, user];
}

function mapRows<T, U>(
  rows: Readonly<Record<string, Readonly<Record<string, T>>>>,
  change: (value: T) => U,
): Record<string, Record<string, U>> {
  return Object.fromEntries(
    Object.entries(rows).map(([row, members]) => [
      row,
      Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)])),
    ]),
  );
}

/** Requests that differ in one member, for `family`, by row and member. */
export function requestPairs(family: Family): OfRequest<Pair<CanonicalRequest>> {
  const asked = read('native', { model: 'acme/fast-1', messages: [{ role: 'user', content: 'Hi' }] });
  const change = (more: Partial<CanonicalRequest>): Pair<CanonicalRequest> => [asked, { ...asked, ...more }];
  const tool: Tool = { kind: 'function', name: 'look', schema: { type: 'object', properties: {} } };
  const custom: Tool = { kind: 'custom', name: 'write' };
  const server: Tool = { kind: 'server', name: 's', family, payload: { type: 's' } };
  const other: Family = family === 'gemini' ? 'openai_chat' : 'gemini';
  const search: Tool = {
    kind: 'server',
    name: 'web_search',
    family: other,
    payload: { type: 's' },
    search: {},
  };
  const tools = (before: Tool[], after: Tool[], more: Partial<CanonicalRequest> = {}) =>
    [
      { ...asked, tools: before, ...more },
      { ...asked, tools: after, ...more },
    ] as const;
  const choose = (tool_choice: CanonicalRequest['tool_choice']): Pair<CanonicalRequest> => {
    const base = { ...asked, tools: [tool, { ...tool, name: 'hear' }] };
    return [base, { ...base, tool_choice: tool_choice as NonNullable<typeof tool_choice> }];
  };
  const message = (more: Partial<Message>): Pair<CanonicalRequest> => {
    const base = asked.messages[0] as Message;
    return change({ messages: [{ ...base, ...more }] });
  };
  const text: Part = { type: 'text', text: 'Hi' };
  const part = (before: Part | null, after: Part): Pair<CanonicalRequest> => [
    { ...asked, messages: holding(before, after.type) },
    { ...asked, messages: holding(after, after.type) },
  ];
  const image = (src: PartOf<'image'>['src']): Part => ({ type: 'image', src });
  const document = (src: PartOf<'document'>['src']): Part => ({ type: 'document', src });
  const parts = mapRows(partPairs(family) as never, (pair: PartPair) => part(...pair));
  return {
    ...(parts as { [K in Part['type']]: never }),
    request: {
      tool_choice: choose({ type: 'required' }),
      parallel_tools: tools([tool], [tool]).map((request, i) =>
        i === 0 ? request : { ...request, parallel_tools: false },
      ) as unknown as Pair<CanonicalRequest>,
      service_tier: change({ service_tier: 'flex' }),
      user: change({ user: 'ada' }),
      ext: change({ ext: { unheard: 1 } }),
      continues: change({ continues: true }),
      completion: [
        { ...asked, continues: true },
        { ...asked, continues: true, completion: { prompts: 1, tokens: 0, asks: ['suffix'], best_of: 1 } },
      ],
    },
    cache: { key: change({ cache: { key: 'k' } }), hint: change({ cache: { hint: {} } }) },
    anthropic: {
      version: change({ anthropic: { version: '2024-01-01', betas: [] } }),
      betas: change({ anthropic: { betas: ['b-1'] } }),
      headers: change({ anthropic: { betas: [], headers: { 'anthropic-a': 'b' } } }),
    },
    reasoning_preferences: {
      mode: change({ reasoning: { mode: 'enabled' } }),
      effort: change({ reasoning: { effort: 'high' } }),
      max_tokens: change({ reasoning: { max_tokens: 2_000 } }),
      display: [
        { ...asked, reasoning: { mode: 'enabled' } },
        { ...asked, reasoning: { mode: 'enabled', display: 'omitted' } },
      ],
    },
    choice: {
      type: choose({ type: 'required' }),
      auto: choose({ type: 'auto' }),
      none: choose({ type: 'none' }),
      required: choose({ type: 'required' }),
      tool: choose({ type: 'tool', name: 'look' }),
      name: [choose({ type: 'tool', name: 'look' })[1], choose({ type: 'tool', name: 'hear' })[1]],
      names: [choose({ type: 'auto' })[1], choose({ type: 'auto', names: ['look'] })[1]],
    },
    tool: {
      function: tools([], [tool]),
      custom: tools([], [custom]),
      server: tools([], [server]),
      name: tools([tool], [{ ...tool, name: 'hear' }]),
      description: tools([tool], [{ ...tool, description: 'Looks.' }]),
      schema: tools([tool], [{ ...tool, schema: { type: 'object', properties: { a: { type: 'string' } } } }]),
      strict: tools([tool], [{ ...tool, strict: true }]),
      format: tools([custom], [{ ...custom, format: GRAMMAR }]),
      family: tools([server], [{ ...server, family: other }]),
      payload: tools([server], [{ ...server, payload: { type: 't' } }]),
      search: tools([], [search]),
      member: tools([], [{ ...search, member: 'web_search_options' }]),
      cache: tools([tool], [{ ...tool, cache: {} }]),
      ext: tools([tool], [{ ...tool, ext: { unheard: 1 } }]),
    },
    message: {
      role: message({ role: 'assistant' }),
      name: message({ name: 'ada' }),
      ext: message({ ext: { unheard: 1 } }),
    },
    part: {
      cache: part(text, { ...text, cache: {} }),
      ext: part(text, { ...text, ext: { unheard: 1 } }),
    },
    source: {
      base64: part(null, image(PICTURE)),
      media_type: part(image(PICTURE), image({ ...PICTURE, media_type: 'image/jpeg' })),
      url: part(null, image({ url: 'https://e.com/a.png' })),
      file_id: part(null, image({ file_id: 'file-1', family })),
      family: part(image({ file_id: 'file-1', family }), image({ file_id: 'file-1', family: other })),
      text: part(null, document({ text: 'a' })),
    },
  };
}

/** Answers, as their events, that differ in one member, by row and member. */
export function answerPairs(family: Family): OfAnswer<Pair<CanonicalEvent[]>> {
  const at = { candidate: 0, part: 0 } as const;
  const usage: Usage = {
    ...{
      input_tokens: 1,
      output_tokens: 1,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
    },
    source: 'provider',
  };
  const stop = (more: Partial<Stop> = {}): CanonicalEvent => ({
    ...{ type: 'stop', candidate: 0 },
    stop: { reason: 'stop_sequence', ...more },
  });
  const start: CanonicalEvent = { type: 'start' };
  const holding = (content: Part | null, ...deltas: CanonicalEvent[]): CanonicalEvent[] => [
    start,
    ...(content === null
      ? []
      : ([{ type: 'part_start', ...at, content }, ...deltas, { type: 'part_stop', ...at }] as const)),
    stop(),
  ];
  const delta = (more: object): CanonicalEvent => ({ type: 'part_delta', ...at, ...more });
  const text: Part = { type: 'text', text: '' };
  const hi = holding(text, delta({ text: 'Hi' }));
  const begun = (more: object): Pair<CanonicalEvent[]> => [hi, [{ type: 'start', ...more }, ...hi.slice(1)]];
  const ended = (more: object): Pair<CanonicalEvent[]> => [hi, [...hi.slice(0, -1), stop(more)]];
  const of = (content: Part, more: object): Pair<CanonicalEvent[]> => [
    holding(content, delta({ text: 'a' })),
    holding(content, delta({ text: 'a', ...more })),
  ];
  const thought: Part = { type: 'reasoning', text: '', kind: 'full', format: SIGNED[family] ?? 'unknown' };
  const call: Part = { type: 'tool_call', id: 'c', name: 'f', arguments: '', kind: 'function' };
  const cited = { kind: 'url', url: 'https://e.com/', title: 'E', start: 0, end: 1 };
  const parts = mapRows(
    partPairs(family) as never,
    ([before, after]: PartPair) => [holding(before), holding(after)] as const,
  );
  return {
    ...(parts as { [K in Part['type']]: never }),
    on_start: {
      upstream_model: begun({ upstream_model: 'm-2' }),
      upstream_id: begun({ upstream_id: 'up-1' }),
      usage: begun({ usage: { input_tokens: 77 } }),
      service_tier: begun({ service_tier: 'priority' }),
    },
    on_part_start: { content: [[start, stop()], holding({ type: 'text', text: 'Hi' })] },
    on_part_delta: {
      text: of(text, { text: 'b' }),
      arguments: of(call, { arguments: '{"a":1}' }),
      data: of(thought, { data: 'QUE=' }),
      signature: of(thought, { signature: 'c2ln' }),
      citation: of(text, { citation: cited }),
      logprobs: of(text, { logprobs: [{ token: 'a', logprob: -1, bytes: null, top: [] }] }),
    },
    on_part_stop: {},
    on_stop: { stop: [hi, [...hi.slice(0, -1), stop({ reason: 'max_tokens' })]] },
    on_usage: {
      usage: [hi, [...hi, { type: 'usage', usage: { ...usage, output_tokens: 5 } }]],
      service_tier: [
        [...hi, { type: 'usage', usage }],
        [...hi, { type: 'usage', usage, service_tier: 'priority' }],
      ],
    },
    on_finish: {},
    on_error: {
      fault: [hi, [...hi, { type: 'error', fault: { class: 'server', status: 500, message: 'no' } }]],
    },
    stop: {
      reason: ended({ reason: 'max_tokens' }),
      sequence: ended({ sequence: 'END' }),
      raw: ended({ raw: 'END' }),
      detail: ended({ detail: { a: 1 } }),
    },
  };
}
