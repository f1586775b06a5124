// Which wire names an endpoint accepts, according to its capabilities and flags.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { budgetToEffort } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest, DialectName, Effort } from '../../../canonical/types.ts';
import { runsSearch } from '../../../canonical/web-search.ts';

/** Whether `target` lists `parameter` among those it accepts in addition to the common ones. */
export function takes(target: Target, parameter: string): boolean {
  return target.capabilities.parameters.includes(parameter);
}

/**
 * Members that make the provider run and bill something of its own → the feature that an endpoint must list for it.
 */
export const paidMembers: readonly (readonly [member: string, feature: string])[] = [
  ['web_search_options', 'web_search'],
  ['moderation', 'moderation'],
];

/** Whether `target` lists the paid `feature`; an unlisted feature is never bought because a caller asks for it. */
export function hasPaid(target: Target, feature: string): boolean {
  const { server_tools } = target.capabilities;
  return server_tools.includes('*') || server_tools.includes(feature);
}

/** Web searches that an answer of `target` to `request` is billed for: its models make one per answer. */
export function searchesSold({ tools }: Pick<CanonicalRequest, 'tools'>, target: Target): number {
  return runsSearch(target) && tools?.some(({ search }) => search !== undefined) === true ? 1 : 0;
}

/**
 * Flags of an endpoint that change what is sent to it or how its counts are read, with the meaning of each; presets
 * of the catalog consist of them.
 */
export const FLAGS = {
  max_tokens_only: 'the output cap is always called `max_tokens`',
  no_developer_role: 'role `developer` is sent as `system`',
  no_stream_options: '`stream_options` is not sent; the server reports usage in every stream without it',
  no_message_names: '`name` of a message is left out',
  no_reasoning_in:
    'reasoning in the history is left out, even where the client only sends back what it received',
  reasoning_content_in: 'reasoning in the history is sent as `reasoning_content`',
  reasoning_in: 'reasoning in the history is sent as `reasoning`',
  reasoning_object: 'the reasoning preference is sent as `reasoning: {effort}` or `{max_tokens}`',
  user_field: 'the hash of the end user is sent as `user`',
  no_user_field: 'no field for the end user is sent',
  no_cache_key: '`prompt_cache_key` is not sent',
  random_seed: '`seed` is sent as `random_seed`',
  tool_id_9: 'ids of tool calls are nine letters or digits',
  reasoning_outside_completion:
    '`completion_tokens` does not include the reasoning tokens, which are reported beside it',
  cached_outside_prompt: '`prompt_tokens` does not include the cached tokens, which are reported beside it',
  write_outside_prompt:
    '`prompt_tokens` does not include the tokens written to a cache, which are reported beside it',
  usage_of_one_choice:
    'with `n` above 1 the server reports the usage of one answer only, so the gateway counts the text of all of them',
  rejects_sampling: 'the model refuses `temperature`, `top_p` and penalties',
  completions_path:
    'the server has `/completions` too, and calls of `/v1/completions` are passed on to it unchanged',
} as const;

/** Whether the endpoint has `flag`. */
export function has(target: Target, flag: keyof typeof FLAGS): boolean {
  return target.flags.includes(flag);
}

/** Whether callers of `dialect` get this endpoint's own wire format, so that their bytes are sent unchanged. */
export function speaks(target: Target, dialect: DialectName): boolean {
  return dialect === 'chat' || (dialect === 'completions' && has(target, 'completions_path'));
}

/**
 * Name of the output cap: the one the endpoint lists, otherwise the one the caller used, otherwise the older name.
 */
export function capName(target: Target, written?: string): 'max_tokens' | 'max_completion_tokens' {
  if (has(target, 'max_tokens_only')) return 'max_tokens';
  if (takes(target, 'max_completion_tokens')) return 'max_completion_tokens';
  if (takes(target, 'max_tokens')) return 'max_tokens';
  return written === 'max_completion_tokens' ? written : 'max_tokens';
}

/** Whether `tier` is the default one. */
export function isDefaultTier(tier: string | undefined): boolean {
  return tier === undefined || tier === 'auto' || tier === 'default';
}

/** Whether the endpoint refuses sampling parameters (reasoning models). */
export function rejectsSampling(target: Target): boolean {
  return target.flags.includes('rejects_sampling');
}

/**
 * The `reasoning_effort` for the request's reasoning preferences, or null to leave it out; `lost` names what they become where
 * it cannot be met.
 */
export function effortFor(
  request: CanonicalRequest,
  target: Target,
): { effort: Effort | null; lost: 'reasoning_dropped' | 'reasoning_not_disabled' | null } {
  const preferences = request.reasoning;
  if (preferences === undefined) return { effort: null, lost: null };
  const { reasoning, reasoning_controls: controls, max_output } = target.capabilities;
  const off = preferences.mode === 'off' || preferences.effort === 'none';
  if (!reasoning) return { effort: null, lost: off ? null : 'reasoning_dropped' };
  if (off) {
    if (controls.includes('off')) return { effort: 'none', lost: null };
    return { effort: controls.includes('effort') ? 'minimal' : null, lost: 'reasoning_not_disabled' };
  }
  if (!controls.includes('effort'))
    return { effort: null, lost: hasStrength(request) ? 'reasoning_dropped' : null };
  if (preferences.effort !== undefined) return { effort: preferences.effort, lost: null };
  if (preferences.max_tokens !== undefined) {
    return {
      effort: budgetToEffort(preferences.max_tokens, request.generation.max_tokens ?? max_output),
      lost: null,
    };
  }
  return { effort: preferences.mode === 'enabled' ? 'medium' : null, lost: null };
}

function hasStrength(request: CanonicalRequest): boolean {
  return request.reasoning?.effort !== undefined || request.reasoning?.max_tokens !== undefined;
}

/** The member in which the hash of the end user is sent; null when there is none. */
export function userField(target: Target): 'user' | 'safety_identifier' | null {
  if (has(target, 'no_user_field')) return null;
  return has(target, 'user_field') ? 'user' : 'safety_identifier';
}

/** The `reasoning` object of endpoints that take one, or null to leave it out. */
export function reasoningObject(request: CanonicalRequest, target: Target): JsonObject | null {
  const preferences = request.reasoning;
  if (preferences?.max_tokens !== undefined && target.capabilities.reasoning)
    return { max_tokens: preferences.max_tokens };
  const { effort } = effortFor(request, target);
  if (effort === null) return null;
  return effort === 'none' ? { enabled: false } : { effort };
}
