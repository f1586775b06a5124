// What the seed catalog offers and who hosts it. Prices and most context lengths come from the price package; this
// table holds what that package does not know: names, largest answers, capabilities. It is entered by hand; what is
// not well known is left out, and then the context is the only bound of an answer.
import type { FileCapabilities, FileModel } from '../file-schema.ts';

/** An endpoint of the table: where it is, and which entry of the price package it costs. */
export interface Host {
  readonly provider: string;
  readonly upstream_model: string;
  /** Provider and model in the price package. */
  readonly priced_as: readonly [string, string];
  readonly capabilities?: FileCapabilities;
  readonly max_output?: number;
  readonly flags?: string[];
  readonly quantization?: string;
}
export interface Row {
  readonly id: string;
  readonly name: string;
  /** Only where the price package has none. */
  readonly context_length?: number;
  readonly max_output?: number;
  readonly in: ('text' | 'image' | 'audio' | 'video')[];
  /** Absent: it generates text. */
  readonly out?: readonly ['embedding'];
  readonly tokenizer?: string;
  readonly capabilities: FileCapabilities;
  readonly reasoning?: NonNullable<FileModel['reasoning']>;
  readonly hosts: readonly Host[];
}

function openai(model: string, flags?: string[]): Host {
  const capabilities = { parameters: ['max_completion_tokens', 'store'] };
  const host: Host = {
    provider: 'openai',
    upstream_model: model,
    priced_as: ['openai', model],
    capabilities,
  };
  return flags === undefined ? host : { ...host, flags };
}
/** Tools that Anthropic's models know and the caller runs, of which no unit is billed; and the search, which is priced. */
const anthropicTools = ['bash', 'str_replace_based_edit_tool', 'computer', 'memory', 'web_search'];
function anthropic(model: string, flags?: string[]): Host {
  const base = { provider: 'anthropic', upstream_model: model, priced_as: ['anthropic', model] as const };
  const capabilities: FileCapabilities = { betas: ['*'], server_tools: anthropicTools };
  if (flags !== undefined) return { ...base, capabilities, flags };
  return { ...base, capabilities: { ...capabilities, parameters: ['top_k'] } };
}
function google(model: string, more: Partial<Host> = {}): Host {
  return { provider: 'google', upstream_model: model, priced_as: ['google', model], ...more };
}
function mistral(model: string): Host {
  return { provider: 'mistral', upstream_model: model, priced_as: ['mistral', model] };
}
// xAI reports reasoning tokens beside completion_tokens, not inside.
function xai(model: string): Host {
  const flags = ['reasoning_outside_completion'];
  return { provider: 'xai', upstream_model: model, priced_as: ['x-ai', model], flags };
}
function groq(model: string, more: Partial<Host> = {}): Host {
  return { provider: 'groq', upstream_model: model, priced_as: ['groq', model], ...more };
}
function together(model: string): Host {
  const capabilities = { parameters: ['top_k', 'min_p', 'repetition_penalty'] };
  return { provider: 'together', upstream_model: model, priced_as: ['together', model], capabilities };
}
function fireworks(model: string): Host {
  const capabilities = { parameters: ['top_k', 'min_p', 'repetition_penalty'] };
  const upstream_model = `accounts/fireworks/models/${model}`;
  return { provider: 'fireworks', upstream_model, priced_as: ['fireworks', model], capabilities };
}
// OpenRouter picks the host, and not every host of a model keeps a schema.
function openrouter(model: string): Host {
  const capabilities = { json_schema: false, parameters: ['top_k', 'min_p', 'top_a', 'repetition_penalty'] };
  return { provider: 'openrouter', upstream_model: model, priced_as: ['openrouter', model], capabilities };
}

const textOnly: Row['in'] = ['text'];
const textAndImage: Row['in'] = ['text', 'image'];
const openaiAll = { tools: true, json_schema: true, vision: true, pdf: true, cache: true };
const openaiReasoning = { tools: true, json_schema: true, vision: true, reasoning: true, cache: true };
/** The chat wire of OpenAI bills thoughts that it does not show. */
const hiddenEffort = { controls: ['effort' as const], hidden: true };
const claude = { tools: true, json_schema: true, vision: true, pdf: true, reasoning: true, cache: true };
const claudeFormat = 'anthropic-claude-v1' as const;
/** Claude shows a summary of its thoughts and bills them whole. */
const claudeBudget = { controls: ['budget' as const, 'off' as const], hidden: true, format: claudeFormat };
const claudeAdaptive = {
  controls: ['adaptive' as const, 'effort' as const, 'off' as const],
  hidden: true,
  format: claudeFormat,
};
const claudeAlways = {
  controls: ['adaptive' as const, 'effort' as const],
  hidden: true,
  format: claudeFormat,
};
const rejectsSampling = ['rejects_sampling'];
const gemini = { tools: true, json_schema: true, vision: true, pdf: true, reasoning: true, cache: true };
/** Gemini shows a summary of its thoughts, bills them whole, and wants their signatures back. */
const geminiThoughts = { hidden: true, format: 'google-gemini-v1' as const };
const geminiBudget = { ...geminiThoughts, controls: ['budget' as const] };
const geminiCanRest = { ...geminiThoughts, controls: ['budget' as const, 'off' as const] };
const geminiLevel = { ...geminiThoughts, controls: ['effort' as const] };
/** Before its third generation a model gives a JSON answer or calls tools, not both. */
const jsonWithoutTools = ['json_without_tools'];
const open = { tools: true, json_schema: true };

/** From GPT-4o on; a model that the tokenizer package does not know yet is left without one. */
const tokenizerOfGpt = 'o200k_base';
/** A model that only its vendor hosts. */
function gpt(model: string, name: string, max_output: number | null, more: Partial<Row> = {}): Row {
  const row: Row = {
    id: `openai/${model}`,
    name,
    in: textAndImage,
    tokenizer: tokenizerOfGpt,
    capabilities: openaiReasoning,
    reasoning: hiddenEffort,
    hosts: [openai(model, rejectsSampling)],
    ...more,
  };
  return max_output === null ? row : { ...row, max_output };
}
function plainGpt(model: string, name: string, max_output: number): Row {
  const more = { capabilities: openaiAll, hosts: [openai(model)] };
  const { reasoning: _, ...row } = gpt(model, name, max_output, more);
  return row;
}
/** `row` without a tokenizer: nobody has said which it has. */
function uncounted({ tokenizer: _, ...row }: Row): Row {
  return row;
}
function anthropicRow(model: string, name: string, max_output: number, more: Partial<Row> = {}): Row {
  return {
    id: `anthropic/${model}`,
    name,
    max_output,
    in: textAndImage,
    capabilities: claude,
    reasoning: claudeAdaptive,
    hosts: [anthropic(model)],
    ...more,
  };
}
function geminiRow(
  model: string,
  name: string,
  reasoning: NonNullable<Row['reasoning']>,
  more: Partial<Row> & { host?: Partial<Host> } = {},
): Row {
  const { host, ...rest } = more;
  const hosts = [google(model, host)];
  return { id: `google/${model}`, name, in: textAndImage, capabilities: gemini, reasoning, hosts, ...rest };
}
/** Gemini 2.5. */
function olderGemini(model: string, name: string, reasoning: Row['reasoning'], more: Partial<Row> = {}): Row {
  const own = { max_output: 65_536, host: { flags: jsonWithoutTools }, ...more };
  return geminiRow(model, name, reasoning ?? geminiBudget, own);
}
/** A model of embeddings whose vectors can be asked for shorter; `context_length` is that of one text. */
function embedding(id: string, name: string, host: Host, more: Partial<Row> = {}): Row {
  const capabilities = { parameters: ['dimensions'] };
  return { id, name, in: textOnly, out: ['embedding'], capabilities, hosts: [host], ...more };
}
/** Embeds images too. */
const seesImages: Partial<Row> = {
  in: textAndImage,
  capabilities: { parameters: ['dimensions'], vision: true },
};
function openaiEmbedding(model: string, name: string): Row {
  const host: Host = { provider: 'openai', upstream_model: model, priced_as: ['openai', model] };
  return embedding(`openai/${model}`, name, host, { tokenizer: 'cl100k_base' });
}
function voyage(model: string, name: string): Row {
  const host: Host = { provider: 'voyage', upstream_model: model, priced_as: ['voyageai', model] };
  return embedding(`voyage/${model}`, name, host, { context_length: 32_000 });
}
function grok(model: string, name: string): Row {
  const capabilities = { ...open, vision: true, reasoning: true, cache: true };
  return {
    id: `xai/${model}`,
    name,
    in: textAndImage,
    capabilities,
    reasoning: { hidden: true },
    hosts: [xai(model)],
  };
}
/** A model with open weights; its context is that of its publisher. */
function weights(
  id: string,
  name: string,
  context_length: number,
  hosts: Host[],
  more: Partial<Row> = {},
): Row {
  return { id, name, context_length, in: textOnly, capabilities: open, hosts, ...more };
}

const prefilled = { capabilities: { ...claude, prefill: true }, reasoning: claudeBudget };
const canRest = { reasoning: { controls: ['effort' as const, 'off' as const], hidden: true } };
const thinking = { capabilities: { ...open, reasoning: true } };
const effort = { ...thinking, reasoning: { controls: ['effort' as const] } };
const noSchema = { capabilities: { json_schema: false } };
const kimi = { in: textAndImage, capabilities: { tools: true, vision: true, reasoning: true, cache: true } };
// Moonshot wants its reasoning back between tool calls.
const keepsReasoning = ['reasoning_content_in'];

function moonshot(model: string): Host {
  const priced_as = ['moonshotai', model] as const;
  return { provider: 'moonshot', upstream_model: model, priced_as, flags: keepsReasoning };
}
function cerebras(model: string): Host {
  return { provider: 'cerebras', upstream_model: model, priced_as: ['cerebras', model] };
}

export const rows: Row[] = [
  plainGpt('gpt-4o', 'GPT-4o', 16_384),
  plainGpt('gpt-4o-mini', 'GPT-4o mini', 16_384),
  plainGpt('gpt-4.1', 'GPT-4.1', 32_768),
  plainGpt('gpt-4.1-mini', 'GPT-4.1 mini', 32_768),
  plainGpt('gpt-4.1-nano', 'GPT-4.1 nano', 32_768),
  gpt('o3', 'o3', 100_000),
  gpt('o4-mini', 'o4-mini', 100_000),
  gpt('gpt-5', 'GPT-5', 128_000),
  gpt('gpt-5-mini', 'GPT-5 mini', 128_000),
  gpt('gpt-5-nano', 'GPT-5 nano', 128_000),
  gpt('gpt-5.1', 'GPT-5.1', 128_000, canRest),
  gpt('gpt-5.2', 'GPT-5.2', 128_000, canRest),
  gpt('gpt-5.4', 'GPT-5.4', null),
  gpt('gpt-5.4-mini', 'GPT-5.4 mini', null),
  gpt('gpt-5.4-nano', 'GPT-5.4 nano', null),
  gpt('gpt-5.5', 'GPT-5.5', null),
  gpt('gpt-5.6-sol', 'GPT-5.6 Sol', null),
  gpt('gpt-5.6-luna', 'GPT-5.6 Luna', null),
  uncounted(gpt('gpt-6-sol', 'GPT-6 Sol', null, canRest)),
  uncounted(gpt('gpt-6-luna', 'GPT-6 Luna', null, canRest)),
  weights(
    'openai/gpt-oss-120b',
    'gpt-oss 120B',
    131_072,
    [
      groq('openai/gpt-oss-120b', { max_output: 65_536 }),
      cerebras('gpt-oss-120b'),
      fireworks('gpt-oss-120b'),
      openrouter('openai/gpt-oss-120b'),
    ],
    effort,
  ),
  weights(
    'openai/gpt-oss-20b',
    'gpt-oss 20B',
    131_072,
    [
      groq('openai/gpt-oss-20b', { max_output: 65_536 }),
      fireworks('gpt-oss-20b'),
      openrouter('openai/gpt-oss-20b'),
    ],
    effort,
  ),
  anthropicRow('claude-haiku-4-5', 'Claude Haiku 4.5', 64_000, prefilled),
  anthropicRow('claude-sonnet-4-5', 'Claude Sonnet 4.5', 64_000, prefilled),
  anthropicRow('claude-opus-4-1', 'Claude Opus 4.1', 32_000, prefilled),
  anthropicRow('claude-opus-4-5', 'Claude Opus 4.5', 64_000, prefilled),
  anthropicRow('claude-sonnet-4-6', 'Claude Sonnet 4.6', 128_000),
  anthropicRow('claude-opus-4-6', 'Claude Opus 4.6', 128_000),
  anthropicRow('claude-opus-4-8', 'Claude Opus 4.8', 128_000, {
    hosts: [anthropic('claude-opus-4-8', rejectsSampling)],
  }),
  anthropicRow('claude-sonnet-5', 'Claude Sonnet 5', 128_000, {
    hosts: [anthropic('claude-sonnet-5', rejectsSampling)],
  }),
  anthropicRow('claude-opus-5', 'Claude Opus 5', 128_000, {
    hosts: [anthropic('claude-opus-5', rejectsSampling)],
  }),
  anthropicRow('claude-opus-5-5', 'Claude Opus 5.5', 128_000, {
    reasoning: claudeAlways,
    hosts: [anthropic('claude-opus-5-5', rejectsSampling)],
  }),
  olderGemini('gemini-2.5-pro', 'Gemini 2.5 Pro', geminiBudget, { context_length: 1_048_576 }),
  olderGemini('gemini-2.5-flash', 'Gemini 2.5 Flash', geminiCanRest),
  olderGemini('gemini-2.5-flash-lite', 'Gemini 2.5 Flash-Lite', geminiCanRest),
  geminiRow('gemini-3.1-pro-preview', 'Gemini 3.1 Pro', geminiLevel, { context_length: 1_048_576 }),
  geminiRow('gemini-3.5-flash', 'Gemini 3.5 Flash', geminiLevel, {
    host: { capabilities: { parameters: ['minimal_thinking'] } },
  }),
  {
    id: 'mistral/mistral-large-2512',
    name: 'Mistral Large 3',
    in: textAndImage,
    capabilities: { ...open, vision: true },
    hosts: [mistral('mistral-large-2512'), openrouter('mistralai/mistral-large-2512')],
  },
  {
    id: 'mistral/codestral-2508',
    name: 'Codestral',
    in: textOnly,
    capabilities: open,
    hosts: [mistral('codestral-2508')],
  },
  {
    id: 'mistral/ministral-8b-2512',
    name: 'Ministral 3 8B',
    in: textAndImage,
    capabilities: { ...open, vision: true },
    hosts: [mistral('ministral-8b-2512')],
  },
  weights(
    'deepseek/deepseek-v3.2',
    'DeepSeek V3.2',
    163_840,
    [fireworks('deepseek-v3p2'), openrouter('deepseek/deepseek-v3.2')],
    { capabilities: { ...open, reasoning: true, cache: true } },
  ),
  weights(
    'deepseek/deepseek-r1-0528',
    'DeepSeek R1 0528',
    163_840,
    [fireworks('deepseek-r1-0528'), openrouter('deepseek/deepseek-r1-0528')],
    thinking,
  ),
  grok('grok-4.3', 'Grok 4.3'),
  grok('grok-4.6', 'Grok 4.6'),
  weights('meta/llama-3.3-70b-instruct', 'Llama 3.3 70B Instruct', 131_072, [
    groq('llama-3.3-70b-versatile', { max_output: 32_768, ...noSchema }),
    together('meta-llama/Llama-3.3-70B-Instruct-Turbo'),
    openrouter('meta-llama/llama-3.3-70b-instruct'),
  ]),
  weights('meta/llama-3.1-8b-instruct', 'Llama 3.1 8B Instruct', 131_072, [
    groq('llama-3.1-8b-instant', noSchema),
    together('meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo'),
    openrouter('meta-llama/llama-3.1-8b-instruct'),
  ]),
  weights(
    'meta/llama-4-maverick',
    'Llama 4 Maverick',
    1_048_576,
    [
      { ...together('meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8'), quantization: 'fp8' },
      openrouter('meta-llama/llama-4-maverick'),
    ],
    { in: textAndImage, capabilities: { ...open, vision: true } },
  ),
  weights(
    'cohere/command-a',
    'Command A',
    256_000,
    [
      { provider: 'cohere', upstream_model: 'command-a-03-2025', priced_as: ['cohere', 'command-a'] },
      openrouter('cohere/command-a'),
    ],
    { max_output: 8_000 },
  ),
  weights('qwen/qwen3-235b-a22b-2507', 'Qwen3 235B A22B Instruct 2507', 262_144, [
    openrouter('qwen/qwen3-235b-a22b-2507'),
  ]),
  weights(
    'qwen/qwen3-32b',
    'Qwen3 32B',
    131_072,
    [groq('qwen/qwen3-32b', noSchema), openrouter('qwen/qwen3-32b')],
    thinking,
  ),
  weights('qwen/qwen3-coder', 'Qwen3 Coder 480B A35B', 262_144, [openrouter('qwen/qwen3-coder')]),
  {
    ...kimi,
    id: 'moonshot/kimi-k2.5',
    name: 'Kimi K2.5',
    hosts: [moonshot('kimi-k2.5'), fireworks('kimi-k2p5'), openrouter('moonshotai/kimi-k2.5')],
  },
  { ...kimi, id: 'moonshot/kimi-k3', name: 'Kimi K3', hosts: [moonshot('kimi-k3'), fireworks('kimi-k3')] },
  {
    id: 'zai/glm-5.3',
    name: 'GLM-5.3',
    in: textOnly,
    capabilities: { tools: true, reasoning: true, cache: true },
    hosts: [
      { provider: 'zai', upstream_model: 'glm-5.3', priced_as: ['zai', 'GLM-5.3'] },
      openrouter('z-ai/glm-5.3'),
    ],
  },
  weights('zai/glm-4.6', 'GLM-4.6', 200_000, [openrouter('z-ai/glm-4.6')], {
    capabilities: { tools: true, reasoning: true },
  }),
  openaiEmbedding('text-embedding-3-small', 'Text Embedding 3 Small'),
  openaiEmbedding('text-embedding-3-large', 'Text Embedding 3 Large'),
  embedding('google/gemini-embedding-001', 'Gemini Embedding 001', google('gemini-embedding-001'), {
    context_length: 2_048,
  }),
  embedding('google/gemini-embedding-2', 'Gemini Embedding 2', google('gemini-embedding-2'), seesImages),
  embedding(
    'cohere/embed-v4.0',
    'Embed 4',
    { provider: 'cohere-v2', upstream_model: 'embed-v4.0', priced_as: ['cohere', 'embed-v4.0'] },
    seesImages,
  ),
  voyage('voyage-4-large', 'Voyage 4 Large'),
  voyage('voyage-4', 'Voyage 4'),
  voyage('voyage-4-lite', 'Voyage 4 Lite'),
  voyage('voyage-3-large', 'Voyage 3 Large'),
  voyage('voyage-3.5', 'Voyage 3.5'),
  voyage('voyage-3.5-lite', 'Voyage 3.5 Lite'),
  voyage('voyage-code-3', 'Voyage Code 3'),
];
