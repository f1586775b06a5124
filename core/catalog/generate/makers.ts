// What the seed catalog offers and who hosts it. Prices and most context lengths come from the price package; this
// table holds what that package does not know: names, largest answers, capabilities. It is entered by hand; what is
// not well known is left out, and then the context is the only bound of an answer.
import type { FileCapabilities, FileModel } from '../file-schema.ts';

/** An endpoint of the table: where it is, and which entry of the price package it costs. */
export interface Host {
  readonly provider: string;
  readonly upstream_model: string;
  /** Absent: its provider's own. */
  readonly family?: string;
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

/** `model` at OpenAI. */
export function openai(model: string, flags?: string[]): Host {
  const capabilities = { parameters: ['max_completion_tokens', 'store'] };
  const host: Host = {
    provider: 'openai',
    upstream_model: model,
    priced_as: ['openai', model],
    capabilities,
  };
  return flags === undefined ? host : { ...host, flags };
}
/** Models of which the price package knows no searches. */
const unsearched: ReadonlySet<string> = new Set(['gpt-4.1-nano']);
/** `model` at OpenAI by its other API, which shows more of its reasoning and runs searches. */
export function openaiResponses(model: string, flags?: string[]): Host {
  const { capabilities: _chat, ...host } = openai(model, flags);
  const wire = { ...host, family: 'openai_responses' };
  return unsearched.has(model) ? wire : { ...wire, capabilities: { server_tools: ['web_search'] } };
}
/** Tools that Anthropic's models know and the caller runs, of which no unit is billed; and the search, which is priced. */
const anthropicTools = ['bash', 'str_replace_based_edit_tool', 'computer', 'memory', 'web_search'];
/** `model` at Anthropic. */
export function anthropic(model: string, flags?: string[]): Host {
  const base = { provider: 'anthropic', upstream_model: model, priced_as: ['anthropic', model] as const };
  const capabilities: FileCapabilities = { betas: ['*'], server_tools: anthropicTools };
  if (flags !== undefined) return { ...base, capabilities, flags };
  return { ...base, capabilities: { ...capabilities, parameters: ['top_k'] } };
}
/** `model` at Google. */
export function google(model: string, more: Partial<Host> = {}): Host {
  return { provider: 'google', upstream_model: model, priced_as: ['google', model], ...more };
}
/** `model` at Mistral. */
export function mistral(model: string): Host {
  return { provider: 'mistral', upstream_model: model, priced_as: ['mistral', model] };
}
// xAI reports reasoning tokens beside completion_tokens, not inside.
function xai(model: string): Host {
  const flags = ['reasoning_outside_completion'];
  return { provider: 'xai', upstream_model: model, priced_as: ['x-ai', model], flags };
}
/** `model` at Groq. */
export function groq(model: string, more: Partial<Host> = {}): Host {
  return { provider: 'groq', upstream_model: model, priced_as: ['groq', model], ...more };
}
/** `model` at Together. */
export function together(model: string): Host {
  const capabilities = { parameters: ['top_k', 'min_p', 'repetition_penalty'] };
  return { provider: 'together', upstream_model: model, priced_as: ['together', model], capabilities };
}
/** `model` at Fireworks. */
export function fireworks(model: string): Host {
  const capabilities = { parameters: ['top_k', 'min_p', 'repetition_penalty'] };
  const upstream_model = `accounts/fireworks/models/${model}`;
  return { provider: 'fireworks', upstream_model, priced_as: ['fireworks', model], capabilities };
}
// OpenRouter picks the host, and not every host of a model keeps a schema.
/** `model` at OpenRouter. */
export function openrouter(model: string): Host {
  const capabilities = { json_schema: false, parameters: ['top_k', 'min_p', 'top_a', 'repetition_penalty'] };
  return { provider: 'openrouter', upstream_model: model, priced_as: ['openrouter', model], capabilities };
}

export const textOnly: Row['in'] = ['text'];
export const textAndImage: Row['in'] = ['text', 'image'];
const openaiAll = { tools: true, json_schema: true, vision: true, pdf: true, cache: true };
const openaiReasoning = { tools: true, json_schema: true, vision: true, reasoning: true, cache: true };
/** The chat wire of OpenAI bills thoughts that it does not show. */
const hiddenEffort = { controls: ['effort' as const], hidden: true };
export const claude = {
  tools: true,
  json_schema: true,
  vision: true,
  pdf: true,
  reasoning: true,
  cache: true,
};
const claudeFormat = 'anthropic-claude-v1' as const;
/** Claude shows a summary of its thoughts and bills them whole. */
const claudeBudget = { controls: ['budget' as const, 'off' as const], hidden: true, format: claudeFormat };
const claudeAdaptive = {
  controls: ['adaptive' as const, 'effort' as const, 'off' as const],
  hidden: true,
  format: claudeFormat,
};
export const claudeAlways = {
  controls: ['adaptive' as const, 'effort' as const],
  hidden: true,
  format: claudeFormat,
};
export const rejectsSampling = ['rejects_sampling'];
export const gemini = {
  tools: true,
  json_schema: true,
  vision: true,
  pdf: true,
  reasoning: true,
  cache: true,
};
/** Gemini shows a summary of its thoughts, bills them whole, and wants their signatures back. */
const geminiThoughts = { hidden: true, format: 'google-gemini-v1' as const };
export const geminiBudget = { ...geminiThoughts, controls: ['budget' as const] };
export const geminiCanRest = { ...geminiThoughts, controls: ['budget' as const, 'off' as const] };
export const geminiLevel = { ...geminiThoughts, controls: ['effort' as const] };
/** Before its third generation a model gives a JSON answer or calls tools, not both. */
const jsonWithoutTools = ['json_without_tools'];
export const open = { tools: true, json_schema: true };

/** From GPT-4o on; a model that the tokenizer package does not know yet is left without one. */
const tokenizerOfGpt = 'o200k_base';
/** A model that only its vendor hosts. */
export function gpt(model: string, name: string, max_output: number | null, more: Partial<Row> = {}): Row {
  const row: Row = {
    id: `openai/${model}`,
    name,
    in: textAndImage,
    tokenizer: tokenizerOfGpt,
    capabilities: openaiReasoning,
    reasoning: hiddenEffort,
    hosts: [openai(model, rejectsSampling), openaiResponses(model, rejectsSampling)],
    ...more,
  };
  return max_output === null ? row : { ...row, max_output };
}
/** A model of OpenAI's that does not reason. */
export function plainGpt(model: string, name: string, max_output: number): Row {
  const more = { capabilities: openaiAll, hosts: [openai(model), openaiResponses(model)] };
  const { reasoning: _, ...row } = gpt(model, name, max_output, more);
  return row;
}
/** `row` without a tokenizer: nobody has said which it has. */
export function uncounted({ tokenizer: _, ...row }: Row): Row {
  return row;
}
/** A model of Anthropic's. */
export function anthropicRow(model: string, name: string, max_output: number, more: Partial<Row> = {}): Row {
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
/** A model of Google's. */
export function geminiRow(
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
export function olderGemini(
  model: string,
  name: string,
  reasoning: Row['reasoning'],
  more: Partial<Row> = {},
): Row {
  const own = { max_output: 65_536, host: { flags: jsonWithoutTools }, ...more };
  return geminiRow(model, name, reasoning ?? geminiBudget, own);
}
/** A model of embeddings whose vectors can be asked for shorter; `context_length` is that of one text. */
export function embedding(id: string, name: string, host: Host, more: Partial<Row> = {}): Row {
  const capabilities = { parameters: ['dimensions'] };
  return { id, name, in: textOnly, out: ['embedding'], capabilities, hosts: [host], ...more };
}
/** Embeds images too. */
export const seesImages: Partial<Row> = {
  in: textAndImage,
  capabilities: { parameters: ['dimensions'], vision: true },
};
/** A model of OpenAI's that makes vectors. */
export function openaiEmbedding(model: string, name: string): Row {
  const host: Host = { provider: 'openai', upstream_model: model, priced_as: ['openai', model] };
  return embedding(`openai/${model}`, name, host, { tokenizer: 'cl100k_base' });
}
/** A model of Voyage's. */
export function voyage(model: string, name: string): Row {
  const host: Host = { provider: 'voyage', upstream_model: model, priced_as: ['voyageai', model] };
  return embedding(`voyage/${model}`, name, host, { context_length: 32_000 });
}
/** A model of xAI's. */
export function grok(model: string, name: string): Row {
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
export function weights(
  id: string,
  name: string,
  context_length: number,
  hosts: Host[],
  more: Partial<Row> = {},
): Row {
  return { id, name, context_length, in: textOnly, capabilities: open, hosts, ...more };
}

export const prefilled = { capabilities: { ...claude, prefill: true }, reasoning: claudeBudget };
export const canRest = { reasoning: { controls: ['effort' as const, 'off' as const], hidden: true } };
export const thinking = { capabilities: { ...open, reasoning: true } };
export const effort = { ...thinking, reasoning: { controls: ['effort' as const] } };
export const noSchema = { capabilities: { json_schema: false } };
export const kimi = {
  in: textAndImage,
  capabilities: { tools: true, vision: true, reasoning: true, cache: true },
};
// Moonshot wants its reasoning back between tool calls.
const keepsReasoning = ['reasoning_content_in'];

/** `model` at Moonshot. */
export function moonshot(model: string): Host {
  const priced_as = ['moonshotai', model] as const;
  return { provider: 'moonshot', upstream_model: model, priced_as, flags: keepsReasoning };
}
/** `model` at Cerebras. */
export function cerebras(model: string): Host {
  return { provider: 'cerebras', upstream_model: model, priced_as: ['cerebras', model] };
}
