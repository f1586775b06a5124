// Reads the body of POST /v1/svc/generate and of questions about such a call. Unknown fields are refused by their
// path.
import { compact, type JsonObject, mapInSteps, ServiceError, type Steps } from '../../../../kernel/index.ts';
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
  refuseUnknown,
  requireArray,
  requireObject,
  requireString,
} from '../../../caller/read.ts';
import { type Headers, readOptions } from '../../../caller/svc.ts';
import { orderToolResults } from '../../../caller/tool-results.ts';
import type {
  CanonicalRequest,
  Generation,
  Message,
  OutputPreferences,
  ReasoningPreferences,
  Tool,
  ToolChoice,
} from '../../../canonical/types.ts';
import { parameterMembers, READINGS } from './parameters.ts';
import { nativeParam, UNKNOWN } from './params.ts';
import { readCache, readContent } from './read-parts.ts';
import type { Wires } from './wires.ts';

const OPTIONS = ['route', 'metadata', 'compat', 'provider_options', 'app', 'session', 'budget'] as const;
const BODY = new Set([
  ...['model', 'messages', 'tools', 'tool_choice', 'parallel_tools', 'generation', 'reasoning', 'output'],
  ...['cache', 'service_tier', 'user', 'stream', ...OPTIONS],
]);
const GENERATION = new Set(Object.keys(parameterMembers));
const MESSAGE = new Set(['role', 'name', 'content']);
const REASONING = new Set(['effort', 'max_tokens', 'mode', 'include']);
const OUTPUT = new Set(['modalities', 'format', 'verbosity', 'audio']);
const FORMAT = new Set(['type', 'name', 'schema', 'strict']);
const CACHE = new Set(['key', 'ttl']);
const TOOL_KEYS = {
  function: new Set(['kind', 'name', 'description', 'schema', 'strict', 'cache']),
  custom: new Set(['kind', 'name', 'description', 'format', 'cache']),
  server: new Set(['kind', 'name', 'family', 'payload', 'cache']),
} as const;
const CHOICE = new Set(['type', 'names']);
const NAMED_CHOICE = new Set(['type', 'name']);

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const MODES = ['off', 'adaptive', 'enabled', 'between_tools'] as const;
export const TTLS = ['5m', '30m', '1h', '24h'] as const;
export const VERBOSITIES = ['low', 'medium', 'high'] as const;

/**
 * Reads a body. @throws ServiceError invalid_request (also for an unknown field) or unsupported_parameter, with the
 * path in `param`.
 */
export function* readNative(value: unknown, headers: Headers, wires: Wires): Steps<CanonicalRequest> {
  const body = requireObject(value, 'body');
  for (const key of Object.keys(body)) {
    if (BODY.has(key)) continue;
    const param = nativeParam(key);
    const instead = param === key ? '' : ` Did you mean '${param}'?`;
    throw new ServiceError('invalid_request', `Unknown field '${key}'.${instead}`, {
      param: key,
      details: UNKNOWN,
    });
  }
  const reasoning = optionalObject(body['reasoning'], 'reasoning') ?? {};
  refuseUnknown(reasoning, REASONING, 'reasoning');
  const included = optionalBoolean(reasoning['include'], 'reasoning.include') ?? true;
  const options: JsonObject = { reasoning: included ? 'include' : 'exclude' };
  for (const name of OPTIONS) if (present(body[name])) options[name] = body[name];
  return {
    model: requireString(body['model'], 'model'),
    messages: yield* readMessages(body['messages'], wires),
    ...compact({
      tools: optionalArray(body['tools'], 'tools')?.map((tool, i) => readTool(tool, `tools[${i}]`, wires)),
      tool_choice: readChoice(body['tool_choice']),
      parallel_tools: optionalBoolean(body['parallel_tools'], 'parallel_tools'),
      reasoning: readReasoning(reasoning),
      output: readOutput(body['output']),
      cache: readCachePreferences(body['cache']),
      service_tier: optionalString(body['service_tier'], 'service_tier'),
      user: optionalString(body['user'], 'user'),
    }),
    generation: readGeneration(body['generation']),
    stream: optionalBoolean(body['stream'], 'stream') ?? false,
    include_usage: true,
    svc: readOptions(options, '', headers),
    dialect: 'native',
    warnings: [],
  };
}

function* readMessages(value: unknown, wires: Wires): Steps<Message[]> {
  const list = requireArray(value, 'messages');
  if (list.length === 0) fail('messages', "'messages' must not be empty.");
  return orderToolResults(yield* mapInSteps(list, (item, i) => readMessage(item, `messages[${i}]`, wires)));
}

function readMessage(value: unknown, param: string, wires: Wires): Message {
  const item = requireObject(value, param);
  refuseUnknown(item, MESSAGE, param);
  const role = optionalChoice(item['role'], `${param}.role`, ROLES);
  if (role === undefined) fail(`${param}.role`, `'${param}.role' is required.`);
  const content = readContent(item['content'], `${param}.content`, role, wires);
  if (content.length === 0 && role !== 'assistant')
    fail(`${param}.content`, `'${param}.content' must not be empty.`);
  return { role, content, ...compact({ name: optionalString(item['name'], `${param}.name`) }) };
}

const KINDS = ['function', 'custom', 'server'] as const;

function readTool(value: unknown, param: string, wires: Wires): Tool {
  const item = requireObject(value, param);
  const kind = optionalChoice(item['kind'], `${param}.kind`, KINDS) ?? 'function';
  refuseUnknown(item, TOOL_KEYS[kind], param);
  const name = requireString(item['name'], `${param}.name`);
  const cache = readCache(item['cache'], `${param}.cache`);
  const description = optionalString(item['description'], `${param}.description`);
  switch (kind) {
    case 'function': {
      const schema = optionalObject(item['schema'], `${param}.schema`);
      const strict = optionalBoolean(item['strict'], `${param}.strict`);
      return { kind, name, ...compact({ description, schema, strict, cache }) };
    }
    case 'custom':
      return {
        kind,
        name,
        ...compact({ description, format: optionalObject(item['format'], `${param}.format`), cache }),
      };
    case 'server': {
      const family = optionalChoice(item['family'], `${param}.family`, wires.families);
      const payload = requireObject(item['payload'], `${param}.payload`);
      // Endpoints list and price a web search under this name, so no other tool may use it.
      if (payload['type'] !== name)
        fail(`${param}.payload.type`, `'${param}.payload.type' must be '${name}'.`);
      if (family === undefined) fail(`${param}.family`, `'${param}.family' is required.`);
      const search = wires.searchTool(payload, `${param}.payload`, family);
      return { kind, name, family, payload, ...compact({ cache, search }) };
    }
  }
}

const CHOICES = ['auto', 'none', 'required', 'tool'] as const;

function readChoice(value: unknown): ToolChoice | undefined {
  const object = optionalObject(value, 'tool_choice');
  if (object === undefined) return undefined;
  const type = optionalChoice(object['type'], 'tool_choice.type', CHOICES);
  if (type === undefined) fail('tool_choice.type', "'tool_choice.type' is required.");
  refuseUnknown(object, type === 'tool' ? NAMED_CHOICE : CHOICE, 'tool_choice');
  if (type === 'tool') return { type, name: requireString(object['name'], 'tool_choice.name') };
  return { type, ...compact({ names: optionalStrings(object['names'], 'tool_choice.names') }) };
}

function readGeneration(value: unknown): Generation {
  const object = optionalObject(value, 'generation');
  if (object === undefined) return {};
  refuseUnknown(object, GENERATION, 'generation');
  return readParameters(READINGS, object, 'generation.');
}

function readReasoning(object: JsonObject): ReasoningPreferences | undefined {
  const effort = optionalChoice(object['effort'], 'reasoning.effort', EFFORTS);
  const mode = optionalChoice(object['mode'], 'reasoning.mode', MODES);
  const max_tokens = optionalNumber(object['max_tokens'], 'reasoning.max_tokens', { min: 0, integer: true });
  const off = mode === 'off' || (mode === undefined && effort === 'none');
  if (off && max_tokens !== undefined && max_tokens > 0) {
    fail('reasoning.max_tokens', "'reasoning.max_tokens' contradicts reasoning that is switched off.");
  }
  if (mode !== undefined && effort !== undefined && (mode === 'off') !== (effort === 'none')) {
    fail('reasoning.effort', "'reasoning.effort' contradicts 'reasoning.mode'.");
  }
  const preferences: ReasoningPreferences = compact({
    mode: off ? ('off' as const) : mode,
    effort,
    max_tokens,
  });
  return Object.keys(preferences).length === 0 ? undefined : preferences;
}

function readOutput(value: unknown): OutputPreferences | undefined {
  const object = optionalObject(value, 'output');
  if (object === undefined) return undefined;
  refuseUnknown(object, OUTPUT, 'output');
  const output: OutputPreferences = compact({
    modalities: optionalStrings(object['modalities'], 'output.modalities'),
    format: readFormat(object['format']),
    verbosity: optionalChoice(object['verbosity'], 'output.verbosity', VERBOSITIES),
    audio: optionalObject(object['audio'], 'output.audio'),
  });
  return Object.keys(output).length === 0 ? undefined : output;
}

const FORMATS = ['text', 'json', 'json_schema'] as const;

function readFormat(value: unknown): OutputPreferences['format'] {
  const object = optionalObject(value, 'output.format');
  if (object === undefined) return undefined;
  refuseUnknown(object, FORMAT, 'output.format');
  const type = optionalChoice(object['type'], 'output.format.type', FORMATS);
  if (type === undefined) fail('output.format.type', "'output.format.type' is required.");
  const schema = optionalObject(object['schema'], 'output.format.schema');
  if (type === 'json_schema' && schema === undefined) {
    fail('output.format.schema', "'output.format.schema' is required for json_schema.");
  }
  return {
    type,
    ...compact({
      name: optionalString(object['name'], 'output.format.name', { max: 64 }),
      schema,
      strict: optionalBoolean(object['strict'], 'output.format.strict'),
    }),
  };
}

function readCachePreferences(value: unknown): CanonicalRequest['cache'] {
  const object = optionalObject(value, 'cache');
  if (object === undefined) return undefined;
  refuseUnknown(object, CACHE, 'cache');
  const key = optionalString(object['key'], 'cache.key');
  const ttl = optionalChoice(object['ttl'], 'cache.ttl', TTLS);
  if (key === undefined && ttl === undefined) return undefined;
  return compact({ key, hint: ttl === undefined ? undefined : { ttl } });
}
