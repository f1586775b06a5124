// Providers that search the web, one of each family, and what they answer: for tests of such searches.
import { readFileSync } from 'node:fs';
import type { Json } from '../caller.ts';
import type { Handler, ScriptedUpstream } from '../upstream.ts';
import { type Extras, INPUT_MICRO, OUTPUT_MICRO } from '../world.ts';

/** Micro-USD per search. */
export const UNIT_MICRO = 10_000;
export const COPIES = 40;
export const families = {
  chat: { kind: 'openai', site: 'wc', base: '/v1' },
  responses: { kind: 'openai-responses', site: 'wr', base: '/v1' },
  messages: { kind: 'anthropic', site: 'wm', base: '/v1' },
  gemini: { kind: 'gemini', site: 'wg', base: '/v1beta' },
} as const;
export type FamilyName = keyof typeof families;
export const names = Object.keys(families) as FamilyName[];

/** `sold` lists the search with a price, `listed` without one, `older` is billed once a prompt. */
const kinds = {
  sold: { server_tools: '[web_search]', search: true, flags: '[]' },
  listed: { server_tools: '[web_search]', search: false, flags: '[]' },
  any: { server_tools: '["*"]', search: true, flags: '[]' },
  google: { server_tools: '[google_search]', search: true, flags: '[]' },
  older: { server_tools: '[web_search]', search: true, flags: '[search_per_prompt]' },
} as const;
export type Kind = keyof typeof kinds;

function modelText(family: FamilyName, kind: Kind, n: number): string {
  const { server_tools, search, flags } = kinds[kind];
  return `
  - id: search/${family}-${kind}-${n}
    name: ${family} ${kind} ${n}
    context_length: 128000
    max_output: 8192
    capabilities: { tools: true, server_tools: ${server_tools} }
    endpoints:
      - provider: web-${family}
        upstream_model: ${family}-${kind}-${n}
        region: local
        flags: ${flags}
        price: { input: "${INPUT_MICRO}", output: "${OUTPUT_MICRO}"${search ? `, search_unit: "${UNIT_MICRO}"` : ''} }`;
}

/** The providers and models of these tests. */
export const searchExtras = ({ script }: { script: ScriptedUpstream }): Extras => ({
  providers: names
    .map((family) => {
      const { kind, site, base } = families[family];
      return `
  - id: web-${family}
    name: web-${family}
    kind: ${kind}
    base_url: ${script.url}/${site}${base}
    api_key_env: [CALLS_KEY]
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
    })
    .join(''),
  models: names
    .flatMap((family) =>
      (Object.keys(kinds) as Kind[]).flatMap((kind) =>
        Array.from({ length: COPIES }, (_, n) => modelText(family, kind, n)),
      ),
    )
    .join(''),
});

export const URL_OF_SOURCE = 'https://example.com/a';
export const sse = (events: readonly Json[], named: boolean): string =>
  events
    .map((event) => `${named ? `event: ${event['type']}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');

const recorded = readFileSync(
  new URL('../../../core/inference/formats/openai-responses/fixtures/web-search.sse', import.meta.url),
  'utf8',
);
const lastLine = recorded.split('\n').findLast((line) => line.startsWith('data: ')) as string;
const wholeResponse = (JSON.parse(lastLine.slice(6)) as Json)['response'] as Json;

const citation = {
  type: 'web_search_result_location',
  ...{ url: URL_OF_SOURCE, title: 'A', cited_text: 'Hello', encrypted_index: 'opaque' },
};
const searched = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: URL_OF_SOURCE, title: 'A', encrypted_content: 'sealed' }],
  },
];
const messageUsage = {
  ...{ input_tokens: 100, output_tokens: 40 },
  server_tool_use: { web_search_requests: 2 },
};
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
export const messageEvents = [
  {
    type: 'message_start',
    message: { ...message, content: [], usage: { input_tokens: 100, output_tokens: 1 } },
  },
  ...searched.flatMap((content_block, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ]),
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Hello, there' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'citations_delta', citation } },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: messageUsage },
  { type: 'message_stop' },
];

const annotations = [
  { type: 'url_citation', url_citation: { start_index: 0, end_index: 5, url: URL_OF_SOURCE, title: 'A' } },
];
const chatUsage = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 };
const chatHead = { id: 'c', created: 1, model: 'm' };
const chunk = (choices: Json[], more: object = {}) => ({
  ...{ ...chatHead, object: 'chat.completion.chunk', choices },
  ...more,
});
const chatEvents = [
  chunk([{ index: 0, delta: { role: 'assistant', content: 'Hello, there' }, finish_reason: null }]),
  chunk([{ index: 0, delta: { annotations }, finish_reason: null }]),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage: chatUsage }),
];

const grounding = {
  groundingChunks: [{ web: { uri: URL_OF_SOURCE, title: 'A' } }],
  groundingSupports: [{ segment: { startIndex: 0, endIndex: 5, text: 'Hello' }, groundingChunkIndices: [0] }],
};
const geminiEvents = [
  {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Hello, there' }] },
        groundingMetadata: { ...grounding, webSearchQueries: ['x'] },
      },
    ],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 4 },
  },
  {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: '..' }] },
        groundingMetadata: { ...grounding, webSearchQueries: ['x', 'y', 'z'] },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 40 },
  },
];

/** What each family answers, streamed or whole, and the searches that it bills. */
export const answers: Record<FamilyName, { stream: string; whole: Json; searches: number }> = {
  chat: {
    stream: `${sse(chatEvents, false)}data: [DONE]\n\n`,
    whole: {
      ...{ ...chatHead, object: 'chat.completion', usage: chatUsage },
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello, there', refusal: null, annotations },
          finish_reason: 'stop',
        },
      ],
    },
    searches: 1,
  },
  responses: { stream: recorded, whole: wholeResponse, searches: 1 },
  messages: {
    stream: sse(messageEvents, true),
    whole: {
      ...{ ...message, stop_reason: 'end_turn', stop_sequence: null, usage: messageUsage },
      content: [...searched, { type: 'text', text: 'Hello, there', citations: [citation] }],
    },
    searches: 2,
  },
  gemini: { stream: sse(geminiEvents, false), whole: {}, searches: 3 },
};

/** Answers as `family` does. */
export function handlerOf(family: FamilyName): Handler {
  return (response, { body, path }) => {
    const { stream, whole } = answers[family];
    const streams = body['stream'] === true || path.includes('streamGenerateContent');
    response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' });
    response.end(streams ? stream : JSON.stringify(whole));
  };
}
