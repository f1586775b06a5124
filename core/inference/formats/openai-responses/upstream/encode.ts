// Writes a canonical request as the body of a stateless response (docs/compatibility.md).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { parameters, withCap } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules } from '../../../canonical/rules.ts';
import type { CanonicalRequest, Tool, ToolChoice } from '../../../canonical/types.ts';
import { isForeignSearch, runsSearch, WEB_SEARCH } from '../../../canonical/web-search.ts';
import { effortFor, isDefaultTier, takes } from '../../openai-chat/words/fields.ts';
import { searchTool } from '../words/search.ts';
import { encodeInput } from './items.ts';
import { GENERATION, OUTPUT } from './parameters.ts';

/** Path below the provider's base URL. */
export const RESPONSES_PATH = '/responses';

export const ENCRYPTED = 'reasoning.encrypted_content';

/** The request for `target`; what `losses` reported is left out. */
export function encodeRequest(
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): UpstreamRequest {
  const { instructions, items } = encodeInput(request.messages, target);
  const facts = { target, own: request.dialect === 'responses' };
  const asked = withCap(request.generation, options.max_tokens);
  const { include, ...generation } = Object.fromEntries(
    applyRules(parameters, GENERATION, asked, facts).sent,
  );
  const body: JsonObject = {
    model: target.upstream_model,
    input: items,
    ...(instructions === null ? {} : { instructions }),
    ...generation,
    ...tools(request, target),
    ...preferences(request, target),
    store: false,
    include: includes(request, target, include),
  };
  // From the same dialect these are the family's own fields; from others they were losses.
  if (request.dialect === 'responses') addOwn(body, request.ext ?? {});
  if (options.user !== null) body['safety_identifier'] = options.user;
  if (options.cache_key !== null) body['prompt_cache_key'] = options.cache_key;
  if (options.stream) body['stream'] = true;
  return {
    path: RESPONSES_PATH,
    headers: [],
    body: Buffer.from(JSON.stringify({ ...body, ...options.extra })),
  };
}

/** Fields that the canonical form does not name; those inside an object that it does name join it. */
function addOwn(body: JsonObject, { include: _reported, reasoning, text, ...rest }: JsonObject): void {
  Object.assign(body, rest);
  if (isObject(reasoning)) body['reasoning'] = { ...(body['reasoning'] as JsonObject), ...reasoning };
  if (!isObject(text)) return;
  const written = (body['text'] ?? {}) as JsonObject;
  const format = { ...(written['format'] as JsonObject), ...(text['format'] as JsonObject) };
  body['text'] = { ...written, ...text, ...(Object.keys(format).length === 0 ? {} : { format }) };
}

/** Encrypted reasoning is always requested: nothing is stored, so the next turn has no other way to get it. */
function includes(request: CanonicalRequest, target: Target, asked: unknown): string[] {
  const include = new Set<string>(ownIncludes(request));
  if (asksEncrypted(target)) include.add(ENCRYPTED);
  if (typeof asked === 'string') include.add(asked);
  return [...include];
}

function ownIncludes({ dialect, ext }: CanonicalRequest): string[] {
  const listed = dialect === 'responses' ? ext?.['include'] : undefined;
  return Array.isArray(listed) ? listed.filter((name) => typeof name === 'string') : [];
}

/** Whether the endpoint accepts the parameter: OpenAI refuses it for models that do not reason. */
export function asksEncrypted(target: Target): boolean {
  return target.capabilities.reasoning;
}

function tools(request: CanonicalRequest, target: Target): JsonObject {
  const list = (request.tools ?? [])
    .map((tool) => toolOf(tool, request, target))
    .filter((tool) => tool !== null);
  if (list.length === 0) return {};
  const body: JsonObject = { tools: list };
  if (request.tool_choice !== undefined) {
    body['tool_choice'] = choiceOf(request.tool_choice, request.tools ?? []);
  }
  if (request.parallel_tools !== undefined && target.capabilities.parallel_tools) {
    body['parallel_tool_calls'] = request.parallel_tools;
  }
  return body;
}

function toolOf(tool: Tool, { dialect }: CanonicalRequest, target: Target): JsonObject | null {
  if (tool.search !== undefined && isForeignSearch(tool, 'openai_responses')) {
    return runsSearch(target) ? searchTool(tool.search) : null;
  }
  if (tool.kind === 'server') return tool.family === 'openai_responses' ? (tool.payload ?? null) : null;
  const own = dialect === 'responses';
  const body: JsonObject = { type: tool.kind, name: tool.name };
  if (tool.description !== undefined) body['description'] = tool.description;
  if (tool.kind === 'custom') {
    if (tool.format !== undefined) body['format'] = formatOf(tool.format);
    return own ? { ...body, ...tool.ext } : body;
  }
  body['parameters'] = tool.schema ?? { type: 'object', properties: {} };
  // This API is strict by default; all others are not.
  if (tool.strict !== undefined || !own) body['strict'] = tool.strict ?? false;
  return own ? { ...body, ...tool.ext } : body;
}

/** The grammar of a custom tool, which chat wraps in another object. */
function formatOf(format: JsonObject): JsonObject {
  const { grammar, ...rest } = format;
  return isObject(grammar) ? { ...rest, ...grammar } : format;
}

function choiceOf(choice: ToolChoice, list: readonly Tool[]): unknown {
  // A choice may name thousands of tools.
  const tools = new Map(list.map((tool) => [tool.name, tool]));
  const reference = (name: string): JsonObject => {
    const tool = tools.get(name);
    if (tool?.kind === 'server') return { type: tool.payload?.['type'] ?? WEB_SEARCH };
    return { type: tool?.kind ?? 'function', name };
  };
  if (choice.type === 'tool') return reference(choice.name);
  if (choice.names === undefined || choice.type === 'none') return choice.type;
  return { type: 'allowed_tools', mode: choice.type, tools: choice.names.map(reference) };
}

function preferences(request: CanonicalRequest, target: Target): JsonObject {
  const body: JsonObject = {};
  const reasoning = reasoningOf(request, target);
  if (reasoning !== null) body['reasoning'] = reasoning;
  const { output = {} } = request;
  const text = applyRules(outputPreferences, OUTPUT, output, {
    target,
    own: request.dialect === 'responses',
  }).sent;
  if (text.size > 0) {
    body['text'] = Object.fromEntries([...text].map(([path, value]) => [path.replace('text.', ''), value]));
  }
  if (!isDefaultTier(request.service_tier) && takes(target, 'service_tier')) {
    body['service_tier'] = request.service_tier;
  }
  return body;
}

/** A summary is the only reasoning that this API shows, and only when asked. */
function reasoningOf(request: CanonicalRequest, target: Target): JsonObject | null {
  const { reasoning: preferences } = request;
  const { effort } = effortFor(request, target);
  const body: JsonObject = {};
  if (effort !== null) body['effort'] = effort;
  const wanted = preferences !== undefined && target.capabilities.reasoning && effort !== 'none';
  const shown = wanted && preferences.mode !== 'off' && preferences.display !== 'omitted';
  // For its own dialect only what was asked for: there, not asking for a summary is a preference too.
  const asked = request.dialect !== 'responses' || preferences?.display !== undefined;
  if (
    shown &&
    asked &&
    request.svc.reasoning === 'include' &&
    !target.flags.includes('no_reasoning_summary')
  ) {
    body['summary'] = preferences.display === 'full' ? 'detailed' : 'auto';
  }
  return Object.keys(body).length === 0 ? null : body;
}
