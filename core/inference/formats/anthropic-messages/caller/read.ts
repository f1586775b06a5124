// Reads `POST /v1/messages` into the canonical form.

import {
  eachInSteps,
  isObject,
  type JsonObject,
  ServiceError,
  type Steps,
} from '../../../../kernel/index.ts';
import { readParameters } from '../../../caller/parameters.ts';
import {
  fail,
  optionalChoice,
  optionalObject,
  optionalString,
  present,
  requireArray,
  requireObject,
  unsupported,
} from '../../../caller/read.ts';
import { readStart } from '../../../caller/start.ts';
import type { Headers } from '../../../caller/svc.ts';
import { orderToolResults } from '../../../caller/tool-results.ts';
import type { CanonicalRequest, Message, Part, SvcOptions, Warning } from '../../../canonical/types.ts';
import { checkToolResults } from './order.ts';
import { parameterMembers, READINGS } from './parameters.ts';
import { type BlockReading, extOf, readCacheControl, readContent, requireOwnKey } from './read-blocks.ts';
import { readEdits } from './read-edits.ts';
import { readOutput, readReasoning, readToolChoice, readTools } from './read-tools.ts';
import { WORDS } from './words.ts';

/** Members that are read into named fields; all others go to `ext`. */
const NAMED = [
  ...Object.keys(parameterMembers),
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'output_format'],
  ...['metadata', 'service_tier', 'speed', 'inference_geo', 'stream', 'svc', 'cache_control'],
];

/** Headers that refer to state in an account; useful only with the caller's own provider key. */
const ACCOUNT_HEADERS = ['anthropic-user-profile-id', 'anthropic-workspace-id'];

function readSystem(value: unknown, reading: BlockReading): Message[] {
  if (!present(value)) return [];
  const content = readContent(value, 'system', reading);
  const wrong = content.findIndex((part) => part.type !== 'text');
  if (wrong >= 0) fail(`system[${wrong}].type`, "'system' takes text blocks only.");
  return content.length === 0 ? [] : [{ role: 'system', content }];
}

function isResult(part: Part): boolean {
  return part.type === 'tool_result';
}

// Results get a message of their own before the rest of the user's turn, where every family wants them.
function readMessage(value: unknown, param: string, reading: BlockReading): Message[] {
  const message = requireObject(value, param);
  const role = optionalChoice(message['role'], `${param}.role`, ['user', 'assistant', 'system'] as const);
  if (role === undefined) fail(`${param}.role`, `'${param}.role' is required.`);
  const given = role === 'system' && !present(message['content']) ? [] : message['content'];
  const content = readContent(given, `${param}.content`, reading);
  const ext = extOf(message, ['role', 'content']);
  if (role !== 'user' || !content.some(isResult)) return [{ role, content, ...ext }];
  const rest = content.filter((part) => !isResult(part));
  const results: Message = { role: 'tool', content: content.filter(isResult), ...ext };
  return rest.length === 0 ? [results] : [results, { role: 'user', content: rest }];
}

/** Messages, with the path of each. */
interface Placed {
  messages: Message[];
  paths: string[];
}

// What the model says after a call belongs to the same turn, which the results end.
function* readTurns(list: readonly unknown[], reading: BlockReading): Steps<Placed> {
  const placed: Placed = { messages: [], paths: [] };
  let calling: Message | null = null;
  yield* eachInSteps(list, (item, i) => {
    const path = `messages[${i}]`;
    for (const message of readMessage(item, path, reading)) {
      const speaks = message.role === 'assistant';
      if (calling !== null && speaks) {
        for (const part of message.content) calling.content.push(part);
        continue;
      }
      calling = speaks && message.content.some(({ type }) => type === 'tool_call') ? message : null;
      placed.messages.push(message);
      placed.paths.push(path);
    }
  });
  return placed;
}

// Results get the names of their calls, because some families require them, and signatures get to the calls they
// belong to.
function linkCalls(messages: readonly Message[], reading: BlockReading): void {
  const names = new Map<string, string>();
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type === 'tool_call') {
        names.set(part.id, part.name);
        const signed = reading.signatures.get(part.id);
        if (signed !== undefined) Object.assign(part, signed);
      } else if (part.type === 'tool_result') {
        const name = names.get(part.tool_call_id);
        if (name !== undefined) part.name = name;
      }
    }
  }
}

function* readMessages(body: JsonObject, reading: BlockReading): Steps<Placed> {
  const list = requireArray(body['messages'], 'messages');
  if (list.length === 0) fail('messages', "'messages' must have at least one message.");
  const system = readSystem(body['system'], reading);
  const { messages, paths } = yield* readTurns(list, reading);
  linkCalls(messages, reading);
  yield;
  const before = system.map(() => 'system');
  // A thread keeps its earlier turns at the provider, so results cannot be matched with their calls here.
  if (present(body['thread'])) return { messages: [...system, ...messages], paths: [...before, ...paths] };
  checkToolResults(list);
  yield;
  const order: number[] = [];
  const ordered = orderToolResults(messages, (at) => paths[at] as string, order);
  return {
    messages: [...system, ...ordered],
    paths: [...before, ...order.map((at) => paths[at] as string)],
  };
}

function checkAccountState(body: JsonObject, reading: BlockReading): void {
  if (present(body['thread']) && !reading.own_key) {
    // The newest tool runners resend the whole history by themselves when they read these details.
    throw new ServiceError('unsupported_parameter', "'thread' is not served here; send the whole history.", {
      param: 'thread',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    });
  }
  const container = body['container'];
  if (typeof container === 'string') requireOwnKey(reading, 'container', 'A container');
  if (isObject(container) && present(container['id'])) requireOwnKey(reading, 'container.id', 'A container');
  for (const name of ['billing_policy', 'fallback_credit_token']) {
    if (present(body[name])) requireOwnKey(reading, name, `'${name}'`);
  }
}

function readHeaders(
  headers: Headers,
  svc: SvcOptions,
  warnings: Warning[],
): NonNullable<CanonicalRequest['anthropic']> {
  const version = headers['anthropic-version'];
  if (version !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(version)) {
    fail('anthropic-version', "Header 'anthropic-version' must be a date such as 2023-06-01.");
  }
  const betas = (headers['anthropic-beta'] ?? '').split(',').map((beta) => beta.trim());
  const account: Record<string, string> = {};
  for (const name of ACCOUNT_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    const message = `Header '${name}' has a meaning only with your own provider key.`;
    if (svc.route.byok === 'only') account[name] = value;
    else if (svc.compat === 'strict') unsupported(name, message);
    else warnings.push({ code: 'beta_ignored', param: name, message });
  }
  return {
    betas: [...new Set(betas.filter((beta) => beta !== ''))],
    ...(version === undefined ? {} : { version }),
    ...(Object.keys(account).length > 0 ? { headers: account } : {}),
  };
}

// The region is combined with the caller's route: if several preferences of regions are given, all of them apply.
function readGeo(body: JsonObject, svc: SvcOptions): void {
  const geo = optionalString(body['inference_geo'], 'inference_geo');
  if (geo === undefined || geo === 'global') return;
  if (!/^[a-z]{2}(?:-[a-z0-9-]{1,30})?$/.test(geo)) fail('inference_geo', `Region '${geo}' is not known.`);
  const required = svc.route.require?.regions;
  const regions = required === undefined ? [geo] : required.filter((region) => region === geo);
  if (regions.length === 0) fail('inference_geo', `Region '${geo}' is not among svc.route.require.regions.`);
  svc.route = { ...svc.route, require: { ...svc.route.require, regions } };
}

function readTier(body: JsonObject): { service_tier?: string } {
  const speed = optionalChoice(body['speed'], 'speed', ['standard', 'fast'] as const);
  const tier = optionalString(body['service_tier'], 'service_tier');
  if (speed === 'fast') return { service_tier: 'fast' };
  if (tier === undefined) return {};
  return { service_tier: tier === 'standard_only' ? 'default' : tier };
}

/**
 * Reads a parsed messages body. @throws ServiceError invalid_request, unsupported_parameter with `param`; for
 * `thread` with the details that clients read.
 */
export function* readMessagesRequest(value: unknown, headers: Headers): Steps<CanonicalRequest> {
  const { body, model, stream, svc, warnings } = readStart(value, headers);
  const reading: BlockReading = { own_key: svc.route.byok === 'only', breakpoints: 0, signatures: new Map() };
  const generation = readParameters(READINGS, body);
  checkAccountState(body, reading);
  const top = readCacheControl(body['cache_control'], 'cache_control', reading);
  const tools = readTools(body, reading);
  const { messages, paths } = yield* readMessages(body, reading);
  const config = optionalObject(body['output_config'], 'output_config') ?? {};
  const metadata = optionalObject(body['metadata'], 'metadata');
  const user = optionalString(metadata?.['user_id'], 'metadata.user_id');
  const { ext } = extOf(body, NAMED);
  const inner = extOf(config, ['effort', 'format']).ext;
  readGeo(body, svc);
  return {
    model,
    messages,
    paths,
    ...tools,
    ...readToolChoice(body),
    generation,
    ...readReasoning(body, config),
    ...readOutput(body, config),
    ...(top.cache === undefined ? {} : { cache: { hint: top.cache } }),
    ...readTier(body),
    ...(user === undefined ? {} : { user }),
    stream,
    include_usage: true,
    svc,
    dialect: 'messages',
    words: WORDS,
    ...(ext === undefined && inner === undefined
      ? {}
      : { ext: { ...ext, ...(inner === undefined ? {} : { output_config: inner }) } }),
    ...readEdits(body),
    anthropic: readHeaders(headers, svc, warnings),
    warnings,
  };
}
