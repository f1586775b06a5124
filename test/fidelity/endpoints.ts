// The two endpoints of each family that the matrix is about: an ordinary one, and one that lists everything optional.
import type { Target } from '../../core/inference/canonical/contract.ts';
import type { GenerationFamily } from './types.ts';

const ordinary: Target['capabilities'] = {
  tools: true,
  parallel_tools: true,
  json_schema: true,
  vision: true,
  audio: true,
  pdf: true,
  reasoning: true,
  cache: true,
  parameters: [],
  betas: [],
  server_tools: [],
  prefill: false,
  reasoning_controls: ['effort', 'off'],
  max_output: 32_000,
};

const MODELS: Readonly<Record<GenerationFamily | 'sandbox', string>> = {
  openai_chat: 'fast-1',
  openai_responses: 'fast-1',
  anthropic_messages: 'claude-sim-1',
  gemini: 'gemini-3-sim',
  bedrock_converse: 'eu.anthropic.claude-sim-v1:0',
  sandbox: 'echo',
};

/** What endpoints may list beyond the ordinary, by family. */
export const LISTED: Readonly<Record<GenerationFamily | 'sandbox', readonly string[]>> = {
  openai_chat: [
    ...['top_k', 'min_p', 'top_a', 'repetition_penalty', 'video_url', 'modalities', 'service_tier'],
    ...['prompt_cache_breakpoint', 'reasoning_content_in', 'max_completion_tokens', 'store'],
  ],
  openai_responses: [
    ...['stop', 'top_k', 'min_p', 'top_a', 'repetition_penalty', 'seed', 'frequency_penalty'],
    ...['presence_penalty', 'logit_bias', 'service_tier', 'prompt_cache_breakpoint'],
  ],
  anthropic_messages: ['system_role', 'service_tier'],
  gemini: ['modalities', 'function_response_parts'],
  bedrock_converse: ['video', 'strict', 'service_tier', 'system_role', 'top_k'],
  sandbox: [],
};

/** The ordinary endpoint of `family`; with `listed` the one that lists everything optional, prefill among it. */
export function endpoint(family: GenerationFamily | 'sandbox', listed = false): Target {
  const capabilities = {
    ...ordinary,
    // Models of Anthropic think by a budget unless they are recent.
    ...(family === 'anthropic_messages' || family === 'bedrock_converse'
      ? { reasoning_controls: ['budget', 'off'] as const, audio: false }
      : {}),
    ...(listed ? { parameters: LISTED[family], prefill: true, server_tools: ['*'] } : {}),
  };
  return {
    endpoint_id: 'ep_matrix',
    provider: 'acme',
    family,
    upstream_model: MODELS[family],
    region: 'eu-west',
    capabilities,
    flags: [],
  };
}
