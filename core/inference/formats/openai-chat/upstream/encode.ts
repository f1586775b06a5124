// Writes a canonical request as the body of an OpenAI-type chat call (docs/compatibility.md).
import type { JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { parameters, withCap } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules } from '../../../canonical/rules.ts';
import type { CanonicalRequest, Tool, ToolChoice } from '../../../canonical/types.ts';
import { runsSearch } from '../../../canonical/web-search.ts';
import { effortFor, has, isDefaultTier, reasoningObject, takes, userField } from '../words/fields.ts';
import { searchOptions } from '../words/search.ts';
import { encodeMessages } from './messages.ts';
import { GENERATION, OUTPUT } from './parameters.ts';

/** Path below the provider's base URL. */
export const CHAT_PATH = '/chat/completions';

/** The request for `target`; what `losses` reported is left out. */
export function encodeRequest(
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): UpstreamRequest {
  const body: JsonObject = {
    model: target.upstream_model,
    messages: encodeMessages(request.messages, target),
    ...generation(request, target, options),
    ...tools(request, target),
    ...searchOf(request, target),
    ...preferences(request, target),
    // From the same dialect these are the family's own fields; from others they were losses.
    ...(request.dialect === 'chat' ? request.ext : {}),
  };
  if (takes(target, 'store')) body['store'] = false;
  const user = userField(target);
  if (options.user !== null && user !== null) body[user] = options.user;
  if (options.cache_key !== null && !has(target, 'no_cache_key'))
    body['prompt_cache_key'] = options.cache_key;
  if (options.stream) {
    body['stream'] = true;
    if (!has(target, 'no_stream_options')) body['stream_options'] = { include_usage: true };
  }
  return {
    path: CHAT_PATH,
    headers: [],
    body: Buffer.from(JSON.stringify({ ...body, ...options.extra })),
  };
}

function generation(
  { generation: asked }: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): JsonObject {
  const preferences = withCap(asked, options.max_tokens);
  return Object.fromEntries(applyRules(parameters, GENERATION, preferences, { target }).sent);
}

function tools(request: CanonicalRequest, target: Target): JsonObject {
  const list = (request.tools ?? []).map(toolOf).filter((tool) => tool !== null);
  if (list.length === 0) return {};
  const body: JsonObject = { tools: list };
  if (request.tool_choice !== undefined)
    body['tool_choice'] = choiceOf(request.tool_choice, request.tools ?? []);
  if (request.parallel_tools !== undefined && target.capabilities.parallel_tools) {
    body['parallel_tool_calls'] = request.parallel_tools;
  }
  return body;
}

/** A web search is a member of its own here. */
function searchOf({ tools: list = [] }: CanonicalRequest, target: Target): JsonObject {
  const search = runsSearch(target) ? list.find((tool) => tool.search !== undefined)?.search : undefined;
  return search === undefined ? {} : { web_search_options: searchOptions(search) };
}

function toolOf(tool: Tool): JsonObject | null {
  if (tool.kind === 'server') return tool.family === 'openai_chat' ? (tool.payload ?? null) : null;
  const inner: JsonObject = { name: tool.name };
  if (tool.description !== undefined) inner['description'] = tool.description;
  if (tool.kind === 'custom') {
    if (tool.format !== undefined) inner['format'] = formatOf(tool.format);
    return { type: 'custom', custom: inner };
  }
  if (tool.schema !== undefined) inner['parameters'] = tool.schema;
  if (tool.strict !== undefined) inner['strict'] = tool.strict;
  return { type: 'function', function: inner };
}

/** The grammar of a custom tool: in an object of its own here, beside its type in responses. */
function formatOf(format: JsonObject): JsonObject {
  const { type, ...grammar } = format;
  return type === 'grammar' && format['grammar'] === undefined ? { type, grammar } : format;
}

function choiceOf(choice: ToolChoice, list: readonly Tool[]): unknown {
  // A choice may name thousands of tools.
  const custom = new Set(list.filter((tool) => tool.kind === 'custom').map(({ name }) => name));
  const reference = (name: string): JsonObject => {
    const kind = custom.has(name) ? 'custom' : 'function';
    return { type: kind, [kind]: { name } };
  };
  if (choice.type === 'tool') return reference(choice.name);
  if (choice.names === undefined || choice.type === 'none') return choice.type;
  return {
    type: 'allowed_tools',
    allowed_tools: { mode: choice.type, tools: choice.names.map(reference) },
  };
}

function preferences(request: CanonicalRequest, target: Target): JsonObject {
  const body: JsonObject = {};
  const { output = {} } = request;
  if (has(target, 'reasoning_object')) {
    const reasoning = reasoningObject(request, target);
    if (reasoning !== null) body['reasoning'] = reasoning;
  } else {
    const { effort } = effortFor(request, target);
    if (effort !== null) body['reasoning_effort'] = effort;
  }
  Object.assign(
    body,
    Object.fromEntries(applyRules(outputPreferences, OUTPUT, output, { target, output }).sent),
  );
  if (!isDefaultTier(request.service_tier) && takes(target, 'service_tier')) {
    body['service_tier'] = request.service_tier;
  }
  return body;
}
