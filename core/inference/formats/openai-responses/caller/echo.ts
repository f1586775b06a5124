// The request members that a `Response` repeats.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { ReplyMeta } from '../../../canonical/types.ts';

/**
 * The members of the request `body` that its answer repeats, as sent. Members that were not sent have OpenAI's
 * default, or null if the model decides. References, not copies.
 */
export function repeated(body: JsonObject): JsonObject {
  const text = body['text'] as JsonObject | null | undefined;
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null, ...(body['reasoning'] as JsonObject | null | undefined) },
    safety_identifier: body['safety_identifier'] ?? null,
    temperature: body['temperature'] ?? null,
    text: { ...text, format: text?.['format'] ?? { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? null,
    truncation: body['truncation'] ?? 'disabled',
    user: body['user'] ?? null,
  };
}

const nothing = JSON.stringify(repeated({})).slice(1, -1);

/** The members as JSON text without braces, for a reply to a request that kept none too. */
export function repeatedText(meta: ReplyMeta): string {
  return meta.echo?.members ?? nothing;
}
