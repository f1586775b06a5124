// Reads the body of POST /v1/responses into the canonical request, every field of it.

import { compact, type JsonObject, type Steps } from '../../../../kernel/index.ts';
import { readParameters } from '../../../caller/parameters.ts';
import {
  fail,
  optionalBoolean,
  optionalChoice,
  optionalObject,
  optionalString,
  optionalStrings,
  present,
  requireString,
  restOf,
  stringMap,
  unsupported,
} from '../../../caller/read.ts';
import { readStart } from '../../../caller/start.ts';
import { type Headers, METADATA_LIMITS } from '../../../caller/svc.ts';
import { Namespaces } from '../../../canonical/tools/namespaces.ts';
import type {
  CanonicalRequest,
  Message,
  OutputPreferences,
  ReasoningPreferences,
} from '../../../canonical/types.ts';
import { repeated } from './echo.ts';
import { LOGPROBS, parameterMembers, READINGS } from './parameters.ts';
import { readInput } from './read-items.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import { WORDS } from './words.ts';

/** Fields that this reader or the raw lane handles; any other is sent unchanged, or is a loss. */
const NAMED = new Set([
  ...Object.keys(parameterMembers),
  ...['model', 'input', 'instructions', 'include', 'tools', 'tool_choice', 'parallel_tool_calls'],
  ...['reasoning', 'text', 'truncation', 'service_tier', 'store', 'prompt_cache_key'],
  ...[
    'prompt_cache_retention',
    'prompt_cache_options',
    'user',
    'safety_identifier',
    'metadata',
    'client_metadata',
  ],
  ...['stream', 'stream_options', 'background', 'svc'],
]);

/** Fields that refer to earlier turns or stored objects, and where the items can be sent instead. */
const STATE = ['previous_response_id', 'conversation', 'prompt'] as const;
/**
 * Fields through which compatible servers reach accounts or addresses. On accounts of the pool, callers may not use
 * them.
 */
const ACCOUNTS = [
  'api_key',
  'api_base',
  'base_url',
  'headers',
  'extra_headers',
  'extra_body',
  'organization',
];

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const REASONING = new Set(['effort', 'summary', 'generate_summary']);
const TEXT = new Set(['format', 'verbosity']);
const FORMAT = new Set(['type', 'name', 'schema', 'strict']);

/**
 * Reads a parsed body of responses, wherever it was sent. @throws ServiceError invalid_request or
 * unsupported_parameter with `param`; `details.reason` is `stateless` for what needs a stored conversation.
 */
export function* readResponses(value: unknown, headers: Headers): Steps<CanonicalRequest> {
  const { body, model, stream, svc, warnings } = readStart(value, headers, metadataOf);
  refuseState(body);
  if (optionalBoolean(body['store'], 'store') === true) {
    const message = 'Answers are never stored; send the items of earlier turns with the next one.';
    warnings.push({ code: 'store_ignored', param: 'store', message });
  }
  const include = readInclude(body);
  const spaces = new Namespaces();
  const tools = readTools(body, spaces);
  const options = optionalObject(body['stream_options'], 'stream_options');
  return {
    model,
    ...(yield* readInput(body['input'], readInstructions(body), spaces)),
    ...compact({
      tools,
      tool_choice: readToolChoice(body, spaces),
      namespaces: spaces.names,
      parallel_tools: optionalBoolean(body['parallel_tool_calls'], 'parallel_tool_calls'),
      reasoning: readReasoning(body),
      output: readOutput(body),
      cache: readCache(body),
      service_tier: optionalString(body['service_tier'], 'service_tier'),
      user:
        optionalString(body['user'], 'user') ??
        optionalString(body['safety_identifier'], 'safety_identifier'),
      ext: readExt(body, include.raw),
    }),
    generation: readParameters(READINGS, body),
    stream,
    // Only meaningful when the answer is a chat stream; a response always reports its usage.
    include_usage: optionalBoolean(options?.['include_usage'], 'stream_options.include_usage') ?? false,
    svc,
    dialect: 'responses',
    words: WORDS,
    echo: { members: repeated(body), encrypted_reasoning: include.encrypted_reasoning },
    warnings,
  };
}

function metadataOf(body: JsonObject): Record<string, string> | undefined {
  return stringMap(body['metadata'], 'metadata', METADATA_LIMITS);
}

function refuseState(body: JsonObject): void {
  for (const name of STATE) {
    if (!present(body[name])) continue;
    unsupported(name, `'${name}' needs a stored conversation; send the items themselves in 'input'.`, {
      reason: 'stateless',
    });
  }
  if (optionalBoolean(body['background'], 'background') === true) {
    unsupported('background', 'Answers are not stored to be fetched later; wait for it or stream it.', {
      reason: 'stateless',
    });
  }
  for (const name of ACCOUNTS) {
    if (present(body[name])) unsupported(name, `'${name}' refers to accounts at the provider.`);
  }
}

function readInstructions(body: JsonObject): Message[] {
  const text = optionalString(body['instructions'], 'instructions');
  return text === undefined || text === '' ? [] : [{ role: 'system', content: [{ type: 'text', text }] }];
}

interface Include {
  encrypted_reasoning: boolean;
  /** Members that only the family itself can add to its items. */
  raw: string[];
}

function readInclude(body: JsonObject): Include {
  const include: Include = { encrypted_reasoning: false, raw: [] };
  optionalStrings(body['include'], 'include')?.forEach((name, i) => {
    if (name === 'reasoning.encrypted_content') include.encrypted_reasoning = true;
    else if (name === 'message.input_image.image_url' || /^\w+_call(?:_output)?\./.test(name)) {
      include.raw.push(name);
    } else if (name !== LOGPROBS) unsupported(`include[${i}]`, `'${name}' is not known in 'include'.`);
  });
  return include;
}

function readReasoning(body: JsonObject): ReasoningPreferences | undefined {
  const object = optionalObject(body['reasoning'], 'reasoning');
  if (object === undefined) return undefined;
  const effort = optionalChoice(object['effort'], 'reasoning.effort', EFFORTS);
  const preferences: ReasoningPreferences = effort === undefined ? {} : { effort };
  if (effort === 'none') preferences.mode = 'off';
  for (const name of ['summary', 'generate_summary'] as const) {
    const summary = optionalChoice(object[name], `reasoning.${name}`, [
      'auto',
      'concise',
      'detailed',
      'none',
    ]);
    if (summary !== undefined && summary !== 'none') preferences.display = 'summary';
  }
  return Object.keys(preferences).length === 0 ? undefined : preferences;
}

function readOutput(body: JsonObject): OutputPreferences | undefined {
  const text = optionalObject(body['text'], 'text');
  if (text === undefined) return undefined;
  const output: OutputPreferences = compact({
    format: readFormat(text),
    verbosity: optionalChoice(text['verbosity'], 'text.verbosity', ['low', 'medium', 'high'] as const),
  });
  return Object.keys(output).length === 0 ? undefined : output;
}

function readFormat(text: JsonObject): OutputPreferences['format'] {
  const format = optionalObject(text['format'], 'text.format');
  if (format === undefined) return undefined;
  switch (requireString(format['type'], 'text.format.type')) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema':
      return {
        type: 'json_schema',
        name: requireString(format['name'], 'text.format.name'),
        ...compact({
          schema: optionalObject(format['schema'], 'text.format.schema'),
          strict: optionalBoolean(format['strict'], 'text.format.strict'),
        }),
      };
    default:
      return fail('text.format.type', "'text.format.type' must be one of text, json_object, json_schema.");
  }
}

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

/** Values that the canonical form has no name for, by the field they came in. */
function readExt(body: JsonObject, include: string[]): JsonObject | undefined {
  const ext: JsonObject = { ...restOf(body, NAMED).ext };
  if (include.length > 0) ext['include'] = include;
  if (optionalChoice(body['truncation'], 'truncation', ['auto', 'disabled'] as const) === 'auto') {
    ext['truncation'] = 'auto';
  }
  const reasoning = restOf(optionalObject(body['reasoning'], 'reasoning') ?? {}, REASONING).ext;
  if (reasoning !== undefined) ext['reasoning'] = reasoning;
  const text = optionalObject(body['text'], 'text') ?? {};
  const format = restOf(optionalObject(text['format'], 'text.format') ?? {}, FORMAT).ext;
  const rest = { ...restOf(text, TEXT).ext, ...(format === undefined ? {} : { format }) };
  if (Object.keys(rest).length > 0) ext['text'] = rest;
  return Object.keys(ext).length === 0 ? undefined : ext;
}
