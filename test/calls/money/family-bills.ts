// Models of every family that bill in their own way, and answers of theirs with the usage that a test wants.
import type { Json } from '../caller.ts';
import { type ScriptName, scripts } from './money-wires.ts';

export const leaving = (['openaiResponses', 'gemini', 'bedrock'] as const).flatMap((family) =>
  (['stops', 'bills_full', 'hidden'] as const).map((billing) => ({ family, billing })),
);

interface Line {
  readonly name: string;
  readonly family: ScriptName;
  readonly path: string;
  /** Rates besides those of input and output, in USD per million. */
  readonly rates: string;
  /** Usage in the provider's format. */
  readonly usage: Json;
  /** Members of the request besides its prompt. */
  readonly asks?: Json;
  /** Kind, units and micro-USD of each line. */
  readonly lines: readonly (readonly [string, number, number])[];
}

export const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const cacheRates = ', cache_read: "0.125", cache_write: "1.5625", cache_write_1h: "2.5"';
const tokens = [
  ['input', 100, 125],
  ['output', 40, 190],
] as const;

export const lines: readonly Line[] = [
  {
    name: 'cache writes by their lifetime, raw messages',
    ...{ family: 'anthropic', path: MESSAGES, rates: cacheRates },
    usage: {
      ...{ input_tokens: 100, output_tokens: 40, cache_read_input_tokens: 800 },
      cache_creation_input_tokens: 600,
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 200 },
    },
    lines: [...tokens, ['cache_read', 800, 100], ['cache_write_5m', 400, 625], ['cache_write_1h', 200, 500]],
  },
  {
    name: 'cache writes by their lifetime, chat on Bedrock',
    ...{ family: 'bedrock', path: CHAT, rates: cacheRates },
    usage: {
      ...{ inputTokens: 100, outputTokens: 40, cacheReadInputTokens: 800, cacheWriteInputTokens: 600 },
      cacheDetails: [
        { ttl: '5m', inputTokens: 400 },
        { ttl: '1h', inputTokens: 200 },
      ],
    },
    lines: [...tokens, ['cache_read', 800, 100], ['cache_write_5m', 400, 625], ['cache_write_1h', 200, 500]],
  },
  {
    name: 'cache writes without a lifetime, responses on responses',
    ...{ family: 'openaiResponses', path: '/v1/responses', rates: cacheRates },
    usage: {
      ...{ input_tokens: 1_500, output_tokens: 40, total_tokens: 1_540 },
      output_tokens_details: { reasoning_tokens: 0 },
      input_tokens_details: { cached_tokens: 800, cache_write_tokens: 600 },
    },
    lines: [...tokens, ['cache_read', 800, 100], ['cache_write', 600, 938]],
  },
  {
    name: 'thoughts at a rate of their own, messages on Gemini',
    ...{ family: 'gemini', path: MESSAGES, rates: ', reasoning: "6"' },
    usage: { promptTokenCount: 100, candidatesTokenCount: 40, thoughtsTokenCount: 500 },
    lines: [...tokens, ['reasoning', 500, 3_000]],
  },
  {
    name: 'a fee for the request, native on chat',
    ...{ family: 'openaiChat', path: '/v1/svc/generate', rates: ', request: "1500"' },
    usage: { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 },
    lines: [...tokens, ['request', 1, 1_500]],
  },
  {
    name: "searches of the provider's, raw messages",
    ...{ family: 'anthropic', path: MESSAGES, rates: ', search_unit: "10000"' },
    asks: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 4 }] },
    usage: { input_tokens: 100, output_tokens: 40, server_tool_use: { web_search_requests: 3 } },
    lines: [...tokens, ['search_unit', 3, 30_000]],
  },
  {
    name: 'sound heard, raw chat',
    ...{ family: 'openaiChat', path: CHAT, rates: ', audio_input: "40"' },
    usage: {
      ...{ prompt_tokens: 150, completion_tokens: 40, total_tokens: 190 },
      prompt_tokens_details: { audio_tokens: 50, cached_tokens: 0 },
    },
    lines: [...tokens, ['audio_input', 50, 2_000]],
  },
  {
    name: 'sound spoken, completions on chat',
    ...{ family: 'openaiChat', path: '/v1/completions', rates: ', audio_output: "80"' },
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 60, total_tokens: 160 },
      completion_tokens_details: { audio_tokens: 20 },
    },
    lines: [...tokens, ['audio_output', 20, 1_600]],
  },
  {
    name: 'sound heard and spoken, thoughts and a fee at once, raw chat',
    ...{ family: 'openaiChat', path: CHAT },
    rates: ', audio_input: "40", audio_output: "80", reasoning: "6", request: "1500"',
    usage: {
      ...{ prompt_tokens: 150, completion_tokens: 90, total_tokens: 240 },
      prompt_tokens_details: { audio_tokens: 50, cached_tokens: 0 },
      completion_tokens_details: { audio_tokens: 20, reasoning_tokens: 30 },
    },
    lines: [
      ...tokens,
      ['reasoning', 30, 180],
      ['audio_input', 50, 2_000],
      ['audio_output', 20, 1_600],
      ['request', 1, 1_500],
    ],
  },
  {
    name: 'pictures drawn, chat on Gemini',
    ...{ family: 'gemini', path: CHAT, rates: ', image_output: "30"' },
    usage: {
      ...{ promptTokenCount: 100, candidatesTokenCount: 1_330 },
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    },
    lines: [...tokens, ['image_output', 1_290, 38_700]],
  },
];

export const provider = (url: string, name: ScriptName) => `
  - id: fam-${name.toLowerCase()}
    name: ${name}
    kind: ${scripts[name].kind}
    base_url: ${url}/${scripts[name].site}${scripts[name].base}
    api_key_env: [${name === 'bedrock' ? 'CALLS_BEDROCK_KEY' : 'CALLS_KEY'}]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;

export const model = (id: string, family: ScriptName, more: { billing?: string; rates?: string }) => `
  - id: fam/${id}
    name: ${id}
    context_length: 128000
    max_output: 8192
    capabilities: { reasoning: true, tools: true${more.rates?.includes('search_unit') ? ', server_tools: [web_search]' : ''} }
    reasoning: { controls: [effort]${more.billing === 'hidden' ? ', hidden: true' : ''} }
    endpoints:
      - provider: fam-${family.toLowerCase()}
        upstream_model: fam-${id}
        region: local
        cancel_billing: ${more.billing === 'bills_full' ? 'bills_full' : 'stops'}
        price: { input: "1.25", output: "4.75"${more.rates ?? ''} }`;

export const slug = (family: string, billing: string) =>
  `${family}-${billing}`.toLowerCase().replace('_', '-');

export const PIECE = 'lorem ipsum '.repeat(5);

/** A whole answer of the families that have a raw lane. */
export function wholeOf(family: ScriptName, usage: Json): Json {
  const message = { role: 'assistant', content: PIECE };
  if (family === 'openaiChat') {
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage };
  }
  if (family === 'anthropic') {
    const content = [{ type: 'text', text: PIECE }];
    return {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      usage,
    };
  }
  const content = [{ type: 'output_text', text: PIECE, annotations: [] }];
  const output = [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }];
  return { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output, usage };
}
