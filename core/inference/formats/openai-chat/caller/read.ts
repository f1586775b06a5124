// Reads the body of POST /v1/chat/completions into the canonical request, every field of it.
import { compact, type JsonObject, type Steps } from '../../../../kernel/index.ts';
import { readParameters } from '../../../caller/parameters.ts';
import {
  fail,
  optionalArray,
  optionalBoolean,
  optionalChoice,
  optionalNumber,
  optionalObject,
  optionalString,
  optionalStrings,
  present,
  requireObject,
  requireString,
  stringMap,
  unsupported,
} from '../../../caller/read.ts';
import { readStart } from '../../../caller/start.ts';
import { type Headers, METADATA_LIMITS } from '../../../caller/svc.ts';
import type {
  CanonicalRequest,
  Effort,
  OutputPreferences,
  ReasoningPreferences,
} from '../../../canonical/types.ts';
import { readMessages } from './messages.ts';
import { parameterMembers, READINGS } from './parameters.ts';
import { readToolChoice, readTools } from './tools.ts';

/** Fields that this reader or the raw lane handles; any other is sent unchanged, or is a loss. */
const NAMED = new Set([
  ...Object.keys(parameterMembers),
  ...['model', 'messages', 'functions', 'function_call', 'verbosity', 'tools', 'tool_choice'],
  ...['parallel_tool_calls', 'response_format', 'reasoning_effort', 'reasoning', 'thinking', 'modalities'],
  ...['audio', 'service_tier', 'prompt_cache_key', 'user', 'safety_identifier', 'metadata', 'store'],
  ...['stream', 'stream_options', 'svc'],
]);

/**
 * Fields through which compatible servers reach state, accounts or addresses. On accounts of the pool, callers may
 * not use them.
 */
const STATE = new Set([
  ...['previous_response_id', 'conversation', 'background', 'prompt', 'container', 'thread', 'thread_id'],
  ...[
    'api_key',
    'api_base',
    'base_url',
    'api_version',
    'headers',
    'extra_headers',
    'extra_body',
    'organization',
  ],
]);

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const THINKING = ['enabled', 'disabled', 'adaptive'] as const;
export const VERBOSITIES = ['low', 'medium', 'high'] as const;

/** @throws ServiceError invalid_request or unsupported_parameter with `param` */
export function* readChat(value: unknown, headers: Headers): Steps<CanonicalRequest> {
  const start = readStart(value, headers, metadataOf);
  const { body, model, stream, svc, warnings } = start;
  refuseState(body);
  const { messages, legacy } = yield* readMessages(body['messages']);
  const legacy_functions = legacy || present(body['functions']) || present(body['function_call']);
  if (excludesReasoning(body)) svc.reasoning = 'exclude';
  const streamOptions = optionalObject(body['stream_options'], 'stream_options');
  if (optionalBoolean(body['store'], 'store') === true) {
    warnings.push({
      code: 'store_ignored',
      param: 'store',
      message: 'Answers are never stored at the provider.',
    });
  }
  const request: CanonicalRequest = {
    model,
    messages,
    ...compact({
      tools: readTools(body),
      tool_choice: readToolChoice(body),
      parallel_tools: parallelOf(body, legacy_functions),
      reasoning: readReasoning(body),
      output: readOutput(body),
      cache: readCache(body),
      service_tier: optionalString(body['service_tier'], 'service_tier'),
      user: userOf(body),
      ext: readExt(body),
    }),
    generation: readParameters(READINGS, body),
    stream,
    include_usage: optionalBoolean(streamOptions?.['include_usage'], 'stream_options.include_usage') ?? false,
    svc,
    dialect: 'chat',
    warnings,
  };
  if (legacy_functions) request.legacy_functions = true;
  return request;
}

function metadataOf(body: JsonObject): Record<string, string> | undefined {
  return stringMap(body['metadata'], 'metadata', METADATA_LIMITS);
}

function refuseState(body: JsonObject): void {
  for (const name in body) {
    if (!STATE.has(name) || !present(body[name])) continue;
    unsupported(name, `'${name}' refers to state or accounts at the provider.`, { reason: 'stateless' });
  }
}

/** The older function form allows one call at a time. */
function parallelOf(body: JsonObject, legacy: boolean): boolean | undefined {
  const preferences = optionalBoolean(body['parallel_tool_calls'], 'parallel_tool_calls');
  return preferences ?? (legacy ? false : undefined);
}

/** The caller's end user, under either name. @throws ServiceError invalid_request */
export function userOf(body: JsonObject): string | undefined {
  const user = optionalString(body['user'], 'user');
  const safety = optionalString(body['safety_identifier'], 'safety_identifier');
  return user ?? safety;
}

/** The three ways to ask for reasoning must agree; the first one present decides what the others leave open. */
function readReasoning(body: JsonObject): ReasoningPreferences | undefined {
  if (!present(body['reasoning_effort']) && !present(body['reasoning']) && !present(body['thinking'])) {
    return undefined;
  }
  const given: [string, ReasoningPreferences][] = [];
  const effort = optionalChoice(body['reasoning_effort'], 'reasoning_effort', EFFORTS);
  if (effort !== undefined) given.push(['reasoning_effort', effortPreferences(effort)]);
  const reasoning = optionalObject(body['reasoning'], 'reasoning');
  if (reasoning !== undefined) given.push(['reasoning', objectPreferences(reasoning)]);
  const thinking = optionalObject(body['thinking'], 'thinking');
  if (thinking !== undefined) given.push(['thinking', thinkingPreferences(thinking)]);
  let merged: ReasoningPreferences | undefined;
  for (const [param, preferences] of given) {
    if (merged !== undefined && conflicts(merged, preferences)) {
      fail(param, `'${param}' contradicts another preference about reasoning in this request.`);
    }
    merged = { ...preferences, ...merged };
  }
  return merged === undefined || Object.keys(merged).length === 0 ? undefined : merged;
}

function conflicts(a: ReasoningPreferences, b: ReasoningPreferences): boolean {
  const off = (preferences: ReasoningPreferences): boolean => preferences.mode === 'off';
  const on = (preferences: ReasoningPreferences): boolean =>
    (preferences.mode !== undefined && !off(preferences)) ||
    (preferences.effort !== undefined && !off(preferences)) ||
    preferences.max_tokens !== undefined;
  if ((off(a) && on(b)) || (off(b) && on(a))) return true;
  const differ = <T>(x: T | undefined, y: T | undefined): boolean =>
    x !== undefined && y !== undefined && x !== y;
  return differ(a.effort, b.effort) || differ(a.max_tokens, b.max_tokens);
}

function effortPreferences(effort: Effort): ReasoningPreferences {
  return effort === 'none' ? { mode: 'off', effort } : { effort };
}

function objectPreferences(object: JsonObject): ReasoningPreferences {
  const effort = optionalChoice(object['effort'], 'reasoning.effort', EFFORTS);
  const enabled = optionalBoolean(object['enabled'], 'reasoning.enabled');
  const max_tokens = optionalNumber(object['max_tokens'], 'reasoning.max_tokens', { min: 0, integer: true });
  const preferences: ReasoningPreferences = effort === undefined ? {} : effortPreferences(effort);
  if (enabled !== undefined) {
    const mode = enabled ? 'enabled' : 'off';
    if (conflicts(preferences, { mode }))
      fail('reasoning.enabled', "'reasoning.enabled' contradicts 'reasoning.effort'.");
    preferences.mode = mode;
  }
  if (max_tokens !== undefined) preferences.max_tokens = max_tokens;
  if (present(object['summary'])) preferences.display = 'summary';
  return preferences;
}

function thinkingPreferences(object: JsonObject): ReasoningPreferences {
  const type = optionalChoice(object['type'], 'thinking.type', THINKING);
  const budget = optionalNumber(object['budget_tokens'], 'thinking.budget_tokens', { min: 0, integer: true });
  const preferences: ReasoningPreferences = {};
  if (type !== undefined) preferences.mode = type === 'disabled' ? 'off' : type;
  if (budget !== undefined && preferences.mode !== 'off') preferences.max_tokens = budget;
  return preferences;
}

function excludesReasoning(body: JsonObject): boolean {
  const reasoning = optionalObject(body['reasoning'], 'reasoning');
  return optionalBoolean(reasoning?.['exclude'], 'reasoning.exclude') ?? false;
}

function readOutput(body: JsonObject): OutputPreferences | undefined {
  const output: OutputPreferences = compact({
    modalities: optionalStrings(body['modalities'], 'modalities'),
    format: readFormat(body),
    verbosity: optionalChoice(body['verbosity'], 'verbosity', VERBOSITIES),
    audio: optionalObject(body['audio'], 'audio'),
  });
  return Object.keys(output).length === 0 ? undefined : output;
}

function readFormat(body: JsonObject): OutputPreferences['format'] {
  const format = optionalObject(body['response_format'], 'response_format');
  if (format === undefined) return undefined;
  switch (requireString(format['type'], 'response_format.type')) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const path = 'response_format.json_schema';
      const schema = requireObject(format['json_schema'], path);
      return {
        type: 'json_schema',
        name: requireString(schema['name'], `${path}.name`),
        ...compact({
          schema: optionalObject(schema['schema'], `${path}.schema`),
          strict: optionalBoolean(schema['strict'], `${path}.strict`),
        }),
      };
    }
    default:
      return undefined;
  }
}

const KNOWN_FORMATS = new Set<unknown>(['text', 'json_object', 'json_schema']);

function readCache(body: JsonObject): CanonicalRequest['cache'] {
  const key = optionalString(body['prompt_cache_key'], 'prompt_cache_key');
  const retention = optionalString(body['prompt_cache_retention'], 'prompt_cache_retention');
  const options = optionalObject(body['prompt_cache_options'], 'prompt_cache_options');
  const cache: NonNullable<CanonicalRequest['cache']> = {};
  if (key !== undefined) cache.key = key;
  if (retention === '24h') cache.hint = { ttl: '24h' };
  else if (retention !== undefined || options !== undefined) {
    cache.hint = options?.['ttl'] === '30m' ? { ttl: '30m' } : {};
  }
  return Object.keys(cache).length === 0 ? undefined : cache;
}

function readExt(body: JsonObject): JsonObject | undefined {
  const ext: JsonObject = {};
  let any = false;
  for (const name in body) {
    if (NAMED.has(name) || !present(body[name])) continue;
    ext[name] = body[name];
    any = true;
  }
  const format = optionalObject(body['response_format'], 'response_format');
  if (format !== undefined && !KNOWN_FORMATS.has(format['type'])) {
    ext['response_format'] = format;
    any = true;
  }
  // Modalities other than text are checked when an endpoint is chosen; their form is the provider's concern.
  optionalArray(body['modalities'], 'modalities');
  return any ? ext : undefined;
}
