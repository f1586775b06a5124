// What the tests of this adapter share.
import type { Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Part } from '../../../canonical/types.ts';

/** A model of Anthropic that can do everything; `change` narrows it. */
export function targetOf(
  change: Partial<Target['capabilities']> = {},
  more: Partial<Pick<Target, 'upstream_model' | 'flags'>> = {},
): Target {
  return {
    endpoint_id: 'ep_1',
    provider: 'bedrock',
    family: 'bedrock_converse',
    upstream_model: 'eu.anthropic.claude-sim-v1:0',
    region: 'eu-central-1',
    capabilities: {
      tools: true,
      parallel_tools: true,
      json_schema: true,
      vision: true,
      audio: true,
      pdf: true,
      reasoning: true,
      cache: true,
      parameters: ['video', 'strict', 'service_tier'],
      betas: [],
      server_tools: [],
      prefill: true,
      reasoning_controls: ['budget', 'off'],
      max_output: 16_384,
      ...change,
    },
    flags: [],
    ...more,
  };
}

/** A request of the chat dialect that says Hi. */
export function requestOf(change: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return {
    model: 'acme/claude',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    generation: {},
    stream: true,
    include_usage: false,
    svc: { route: {}, metadata: {}, compat: 'warn', provider_options: {}, reasoning: 'include' },
    dialect: 'chat',
    warnings: [],
    ...change,
  };
}

/** A request whose one message of `role` holds `content`. */
export function saying(content: Part[], role: 'user' | 'assistant' = 'user'): CanonicalRequest {
  return requestOf({ messages: [{ role, content }] });
}
